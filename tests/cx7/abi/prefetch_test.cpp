// SPDX-License-Identifier: Apache-2.0
// On-demand regions and the advice that fetches their pages.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

constexpr std::uint32_t kOnDemand = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_ON_DEMAND;
constexpr std::size_t kBytes = 8 * 4096;

/// Address space that the test maps and unmaps.
class Pages {
 public:
  explicit Pages(int protection)
      : at_(::mmap(nullptr, kBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Pages() { ::munmap(at_, kBytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(at_); }
  [[nodiscard]] std::size_t resident() const {
    std::array<unsigned char, kBytes / 4096> pages{};
    EXPECT_EQ(::mincore(at_, kBytes, pages.data()), 0);
    return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](auto page) { return page & 1; }));
  }

 private:
  void* at_;
};

class Prefetch : public testing::Test {
 protected:
  struct Advice {
    std::uint32_t pd = 0;
    std::uint32_t advice = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
    std::uint32_t flags = IB_UVERBS_ADVISE_MR_FLAG_FLUSH;
    ib_uverbs_sge sge{};
  };
  int advise(const Advice& a) {
    return Call(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR)
        .handle(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, a.pd)
        .in(UVERBS_ATTR_ADVISE_MR_ADVICE, a.advice)
        .in(UVERBS_ATTR_ADVISE_MR_FLAGS, a.flags)
        .in_bytes(UVERBS_ATTR_ADVISE_MR_SGE_LIST, &a.sge, sizeof a.sge)(*nic_.file);
  }
  Advice good(const Pages& pages) {
    pd_ = nic_.alloc_pd();
    const auto mr = nic_.reg_mr(
        {.pd = pd_.handle, .start = pages.address(), .bytes = kBytes, .iova = pages.address(), .access = kOnDemand});
    EXPECT_EQ(mr.result, 0);
    return {.pd = pd_.handle, .sge = {.addr = pages.address(), .length = kBytes, .lkey = mr.number}};
  }

  Nic nic_;
  Made pd_;
};

TEST_F(Prefetch, Refusals) {
  const Pages pages(PROT_READ | PROT_WRITE);
  const auto whole = good(pages);
  const auto other_pd = nic_.alloc_pd();
  const auto pinned = nic_.reg_mr({.pd = pd_.handle, .start = nic_.memory.address(), .bytes = 4096});
  struct Row {
    const char* what;
    Advice advice;
    int expected;
  };
  auto unknown_advice = whole, unknown_flag = whole, no_key = whole, of_pinned = whole, too_long = whole, early = whole,
       foreign = whole, no_pd = whole;
  unknown_advice.advice = 3;
  unknown_flag.flags = 2;
  no_key.sge.lkey ^= 1;
  of_pinned.sge.lkey = pinned.number;
  too_long.sge.length += 1;
  early.sge.addr -= 1;
  foreign.pd = other_pd.handle;
  no_pd.pd = 0x999;
  const Row rows[] = {{"another advice", unknown_advice, -EOPNOTSUPP},
                      {"another flag", unknown_flag, -EINVAL},
                      {"a key that nobody has", no_key, -ENOENT},
                      {"a pinned region", of_pinned, -EINVAL},
                      {"past its end", too_long, -EFAULT},
                      {"before its start", early, -EFAULT},
                      {"another domain", foreign, -EINVAL},
                      {"no domain", no_pd, -ENOENT}};
  for (const auto& row : rows) EXPECT_EQ(advise(row.advice), row.expected) << row.what;
  EXPECT_EQ(pages.resident(), 0u) << "a refusal fetches nothing";
}

TEST_F(Prefetch, OfPagesThatCannotBeWrittenFailsOnlyWhereItIsWaitedFor) {
  const Pages pages(PROT_READ);
  auto advice = good(pages);
  EXPECT_EQ(advise(advice), -EFAULT);
  advice.flags = 0;
  EXPECT_EQ(advise(advice), 0);
  advice.flags = IB_UVERBS_ADVISE_MR_FLAG_FLUSH;
  advice.advice = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH;
  EXPECT_EQ(advise(advice), 0) << "to read";
}

TEST_F(Prefetch, FetchesEachPageOfTheRange) {
  const Pages pages(PROT_READ | PROT_WRITE);
  auto advice = good(pages);
  advice.sge.addr += 4096 + 100;
  advice.sge.length = 4096;
  advice.advice = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
  EXPECT_EQ(advise(advice), 0);
  EXPECT_EQ(pages.resident(), 0u);
  advice.advice = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  EXPECT_EQ(advise(advice), 0);
  EXPECT_EQ(pages.resident(), 2u);
}

TEST_F(Prefetch, AnImplicitRegionIsAllOfTheAddressSpace) {
  const Pages pages(PROT_READ | PROT_WRITE);
  const auto pd = nic_.alloc_pd();
  const auto mr = nic_.reg_mr({.pd = pd.handle, .bytes = UINT64_MAX, .access = kOnDemand});
  ASSERT_EQ(mr.result, 0);
  const Mkey* const mkey = nic_.engine->device(0).mkeys.find(mr.number >> 8);
  ASSERT_NE(mkey, nullptr);
  EXPECT_FALSE(is_told(*mkey));
  EXPECT_EQ(advise({.pd = pd.handle, .sge = {.addr = pages.address(), .length = kBytes, .lkey = mr.number}}), 0);
  EXPECT_EQ(pages.resident(), kBytes / 4096);
  EXPECT_EQ(advise({.pd = pd.handle, .sge = {.addr = 8, .length = 8, .lkey = mr.number}}), -EFAULT) << "page 0";
}

}  // namespace
}  // namespace marrow::cx7
