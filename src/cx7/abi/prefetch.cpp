// SPDX-License-Identifier: Apache-2.0
// ADVISE_MR: pages of on-demand regions that are wanted soon.
// Facts: advices, flag and attributes [abi]; which errno for what [abi, as the kernel's mlx5_ib_advise_mr_prefetch
// does].
#include <cstring>

#include "cx7/abi/schema_table.h"
#include "cx7/hca/memory.h"

namespace marrow::cx7::abi {
namespace {

constexpr std::uint64_t kPageMask = 4095;

/// An on-demand region of the domain that holds all of the range; ENOENT or EINVAL when it is none, as the kernel says.
const Mkey& find_region(const Context& context, std::uint32_t pdn, const ib_uverbs_sge& sge) {
  const Mkey* const mkey = context.client.device.mkeys.find(sge.lkey >> 8);
  require(mkey != nullptr && mkey->key == sge.lkey && mkey->kind == Mkey::Kind::kRegion, ENOENT);
  require(mkey->on_demand && mkey->pdn == pdn, EINVAL);
  require(sge.addr >= mkey->iova && sge.length <= mkey->bytes && sge.addr - mkey->iova <= mkey->bytes - sge.length,
          EFAULT);
  return *mkey;
}

// A touch of each page, as a message would touch it; an atomic that adds nothing leaves the bytes to their owner.
void populate(const Mkey& mkey, const ib_uverbs_sge& sge, bool write) {
  std::byte* const at = mkey.host + (sge.addr - mkey.iova);
  std::byte* page = at - (reinterpret_cast<std::uintptr_t>(at) & kPageMask);
  for (; page < at + sge.length; page += kPageMask + 1) {
    std::uint32_t word = 0;
    std::uint64_t old = 0;
    require(write ? dma::fetch_add64(page, 0, old) : dma::load32(page, word), EFAULT);
  }
}

}  // namespace

// Without the flush flag the answer may come before the pages are there, and a range that goes wrong is nobody's error.
void advise_mr(Context& context, Request& request) {
  const auto advice = request.number(UVERBS_ATTR_ADVISE_MR_ADVICE);
  const auto flags = request.number32(UVERBS_ATTR_ADVISE_MR_FLAGS);
  require(advice <= IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, EOPNOTSUPP);
  require((flags & ~static_cast<std::uint32_t>(IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) == 0, EINVAL);
  const auto list = request.buffer(UVERBS_ATTR_ADVISE_MR_SGE_LIST);
  require(!list.empty() && list.size() % sizeof(ib_uverbs_sge) == 0, EINVAL);
  const auto& pd = context.find<PdObject>(request.handle(UVERBS_ATTR_ADVISE_MR_PD_HANDLE)).pd();
  const bool write = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  for (std::size_t at = 0; at < list.size(); at += sizeof(ib_uverbs_sge)) {
    ib_uverbs_sge sge{};
    std::memcpy(&sge, list.data() + at, sizeof sge);
    const Mkey& mkey = find_region(context, pd.pdn, sge);
    require(!write || (mkey.access & kLocalWrite) != 0, EPERM);
    if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) continue;
    if ((flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH) != 0) populate(mkey, sge, write);
  }
}

}  // namespace marrow::cx7::abi
