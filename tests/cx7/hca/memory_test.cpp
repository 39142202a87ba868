// SPDX-License-Identifier: Apache-2.0
// Guarded access: memory that is gone is a status, here and end to end.
#include "cx7/hca/memory.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

std::byte* map_page() {
  return static_cast<std::byte*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

struct UnmappedPage {
  UnmappedPage() { munmap(at, 4096); }
  std::byte* at = map_page();
};

TEST(Memory, EveryAccessToAnUnmappedPageIsFalse) {
  dma::install_fault_handler();
  const UnmappedPage gone;
  std::byte here[1024] = {};
  std::uint32_t word = 0;
  std::uint64_t old = 0;
  for (const std::size_t bytes : {1u, 7u, 8u, 64u, 511u, 512u, 1024u}) {
    EXPECT_FALSE(dma::copy(gone.at, here, bytes)) << bytes;
    EXPECT_FALSE(dma::copy(here, gone.at, bytes)) << bytes;
  }
  EXPECT_FALSE(dma::load32(gone.at, word));
  EXPECT_FALSE(dma::store32(gone.at, 1));
  EXPECT_FALSE(dma::fetch_add64(gone.at, 1, old));
  EXPECT_FALSE(dma::compare_swap64(gone.at, 0, 1, old));
  EXPECT_FALSE(dma::is_mapped(gone.at, 1));
}

TEST(Memory, CopiesEveryLengthExactly) {
  std::vector<std::byte> from(2100);
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<std::byte>(k * 31 + 7);
  for (std::size_t bytes = 0; bytes < 2000; ++bytes) {
    std::vector<std::byte> to(bytes + 2, std::byte{0xee});
    ASSERT_TRUE(dma::copy(to.data() + 1, from.data() + 3, bytes));
    ASSERT_EQ(std::memcmp(to.data() + 1, from.data() + 3, bytes), 0) << bytes;
    ASSERT_EQ(to.front(), std::byte{0xee});
    ASSERT_EQ(to.back(), std::byte{0xee});
  }
}

TEST(Memory, ReadOnlyPageRefusesTheWrite) {
  dma::install_fault_handler();
  std::byte* const page = map_page();
  mprotect(page, 4096, PROT_READ);
  const std::byte here[8] = {};
  EXPECT_FALSE(dma::copy(page, here, 8));
  munmap(page, 4096);
}

std::byte* volatile page_to_mend = nullptr;

// A fault outside the guarded functions still belongs to the application's handler: this one maps the page, and the
// store goes through.
TEST(Memory, OtherFaultsGoToTheApplication) {
  dma::install_fault_handler();
  struct sigaction mine {};
  struct sigaction before {};
  mine.sa_handler = [](int) {
    mmap(page_to_mend, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  };
  ASSERT_EQ(dma::replace_application_action(SIGSEGV, &mine, &before), 0);
  const UnmappedPage gone;
  page_to_mend = gone.at;
  *reinterpret_cast<volatile std::byte*>(gone.at) = std::byte{1};
  EXPECT_EQ(*gone.at, std::byte{1});
  dma::replace_application_action(SIGSEGV, &before, nullptr);
  munmap(gone.at, 4096);
}

TEST(Memory, WriteFromUnmappedMemoryIsALocalProtectionError) {
  TwoSides nic;
  const UnmappedPage gone;
  nic.a.mkey->host = gone.at;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kLocalProtection);
}

TEST(Memory, WriteToUnmappedMemoryIsARemoteOperationError) {
  TwoSides nic;
  const UnmappedPage gone;
  nic.b.mkey->host = gone.at;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRemoteOperation);
}

TEST(Memory, QueuesThatAreGoneDoNotCrashTheDevice) {
  TwoSides nic;
  const UnmappedPage gone;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.qp->config.sq.base = gone.at;
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kLocalProtection);
  nic.b.scq->entries = gone.at;
  nic.b.put(wire::nop_wqe(nic.b.next()));
  nic.b.announce();
  nic.run();
  EXPECT_TRUE(nic.b.scq->dead);
}

}  // namespace
}  // namespace marrow::cx7::test
