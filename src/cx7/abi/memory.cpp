// SPDX-License-Identifier: Apache-2.0
// Protection domains, memory regions and memory windows.
// Facts: what registration refuses and how [abi, as the kernel's ib_uverbs_reg_mr and ib_umem_get do]. Nothing is
// pinned: memory that goes away later is found out by the device's guarded loads and stores.
#include "cx7/hca/memory.h"

#include <fcntl.h>

#include "cx7/abi/schema_table.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

constexpr std::uint64_t kPageMask = 4095;
constexpr std::uint32_t kNeedsLocalWrite = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
constexpr std::uint32_t kModelled = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
                                    IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
                                    IB_UVERBS_ACCESS_MW_BIND;
constexpr std::uint32_t kNotModelled = IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_HUGETLB;
static_assert(std::uint32_t{kRelaxedOrdering} == IB_UVERBS_ACCESS_RELAXED_ORDERING);
static_assert(std::uint32_t{kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kWindowBind} == kModelled);

// What a re-registration changes [abi: ib_mr_rereg flags, which no uapi header names].
constexpr std::uint32_t kChangeRange = 1u << 0;
constexpr std::uint32_t kChangePd = 1u << 1;
constexpr std::uint32_t kChangeAccess = 1u << 2;

constexpr std::uint8_t kWindowType1 = 1;
constexpr std::uint8_t kWindowType2 = 2;

void take_range(Context& context, const ib_uverbs_rereg_mr& req, Mkey& mkey) {
  require((req.start & kPageMask) == (req.hca_va & kPageMask), EINVAL);
  require(req.hca_va + req.length >= req.hca_va, EINVAL);
  mkey.host = check_registrable(context.client.engine, req.start, req.length);
  mkey.iova = req.hca_va;
  mkey.bytes = req.length;
}

/// All of the address space, but for the page that nobody can map.
bool is_implicit(const ib_uverbs_reg_mr& req) {
  return req.start == 0 && req.length == UINT64_MAX;
}

// Nothing is looked at now: pages are there, or not, when bytes move.
void take_on_demand(const ib_uverbs_reg_mr& req, Mkey& mkey) {
  mkey.on_demand = true;
  if (is_implicit(req)) {
    require(req.hca_va == 0, EINVAL);
    mkey.iova = kPageMask + 1;
    mkey.bytes = UINT64_MAX - kPageMask;
  } else {
    require(req.length != 0 && req.start + req.length > req.start, EINVAL);
  }
  const auto start = is_implicit(req) ? mkey.iova : req.start;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): so the ABI carries it
  mkey.host = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(start));
}

}  // namespace

// Bits of the optional range (relaxed ordering) may be ignored: that is what makes them optional.
std::uint32_t check_access(std::uint32_t flags, OnDemand on_demand) {
  if (on_demand == OnDemand::kRefused && (flags & IB_UVERBS_ACCESS_ON_DEMAND) != 0) refuse(EOPNOTSUPP);
  flags &= ~std::uint32_t{IB_UVERBS_ACCESS_ON_DEMAND};
  if ((flags & kNotModelled) != 0) {
    util::log::once("abi.access", "uverbs: access flags {:#x} are not modelled", flags & kNotModelled);
    refuse(EOPNOTSUPP);
  }
  require((flags & ~(kModelled | IB_UVERBS_ACCESS_OPTIONAL_RANGE)) == 0, EINVAL);
  require((flags & kNeedsLocalWrite) == 0 || (flags & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0, EINVAL);
  return flags & (kModelled | kRelaxedOrdering);
}

std::byte* check_memory(std::uint64_t start, std::uint64_t bytes) {
  require(bytes != 0 && start + bytes > start, EINVAL);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): so the ABI carries it
  auto* const at = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(start));
  require(dma::is_mapped(at, bytes), EFAULT);
  return at;
}

std::byte* check_registrable(Engine& engine, std::uint64_t start, std::uint64_t bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): so the ABI carries it
  auto* const at = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(start));
  GpuEngine* const gpu = engine.gpu();
  return gpu != nullptr && bytes != 0 && gpu->is_gpu_memory(at, bytes) ? at : check_memory(start, bytes);
}

void alloc_pd(Context& context, Request& request) {
  const auto handle = context.next_handle();
  auto pd = std::make_unique<PdObject>(context.client);
  request.out(UVERBS_ATTR_CORE_OUT, std::uint32_t{handle});  // ib_uverbs_alloc_pd_resp: one word
  request.out(UVERBS_ATTR_UHW_OUT, mlx5_ib_alloc_pd_resp{.pdn = pd->pd().pdn});
  context.add(handle, std::move(pd));
}

void destroy_pd(Context& context, Request& request) {
  context.remove(request.handle(UVERBS_ATTR_DESTROY_PD_HANDLE), ObjectKind::kPd);
}

void query_pd(Context& context, Request& request) {
  const auto& pd = context.find<PdObject>(request.handle(MLX5_IB_ATTR_QUERY_PD_HANDLE)).pd();
  request.out(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd.pdn);
}

void reg_mr(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_reg_mr>(UVERBS_ATTR_CORE_IN);
  require((req.start & kPageMask) == (req.hca_va & kPageMask), EINVAL);
  const auto access = check_access(req.access_flags, OnDemand::kAllowed);
  auto& pd = context.find<PdObject>(req.pd_handle).pd();
  Mkey mkey{.pdn = pd.pdn, .access = access, .iova = req.hca_va, .bytes = req.length};
  require(req.hca_va + req.length >= req.hca_va, EINVAL);
  if ((req.access_flags & IB_UVERBS_ACCESS_ON_DEMAND) != 0) {
    take_on_demand(req, mkey);
  } else {
    mkey.host = check_registrable(context.client.engine, req.start, req.length);
  }
  const auto handle = context.next_handle();
  auto mr = std::make_unique<MrObject>(context.client, pd, mkey);
  ib_uverbs_reg_mr_resp resp{};
  resp.mr_handle = handle;
  resp.lkey = resp.rkey = mr->key();
  request.out(UVERBS_ATTR_CORE_OUT, resp);
  context.add(handle, std::move(mr));
}

void rereg_mr(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_rereg_mr>(UVERBS_ATTR_CORE_IN);
  require(req.flags != 0, EINVAL);
  require((req.flags & ~(kChangeRange | kChangePd | kChangeAccess)) == 0, EOPNOTSUPP);
  auto& object = context.find<MrObject>(req.mr_handle);
  auto mkey = object.mkey();
  require(!mkey.on_demand, EOPNOTSUPP);
  Pd* pd = &object.pd();
  if ((req.flags & kChangeAccess) != 0) mkey.access = check_access(req.access_flags);
  if ((req.flags & kChangePd) != 0) pd = &context.find<PdObject>(req.pd_handle).pd();
  if ((req.flags & kChangeRange) != 0) take_range(context, req, mkey);
  mkey.pdn = pd->pdn;
  object.change(*pd, mkey);
  request.out(UVERBS_ATTR_CORE_OUT, ib_uverbs_rereg_mr_resp{.lkey = object.key(), .rkey = object.key()});
}

// A DMA-BUF cannot be mapped here: its bytes are found by the address that the application itself uses for them. So the
// I/O address must be that address, which is how GPU libraries register theirs, and it must be a GPU's.
void reg_dmabuf_mr(Context& context, Request& request) {
  const auto iova = request.number(UVERBS_ATTR_REG_DMABUF_MR_IOVA);
  const auto bytes = request.number(UVERBS_ATTR_REG_DMABUF_MR_LENGTH);
  const auto offset = request.number(UVERBS_ATTR_REG_DMABUF_MR_OFFSET);
  const auto access = check_access(request.number32(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS));
  require(bytes != 0 && iova + bytes > iova && offset + bytes > offset, EINVAL);
  require((offset & kPageMask) == (iova & kPageMask), EINVAL);
  require(::fcntl(static_cast<int>(request.number32(UVERBS_ATTR_REG_DMABUF_MR_FD)), F_GETFD) >= 0, EBADF);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): so the ABI carries it
  auto* const at = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(iova));
  GpuEngine* const gpu = context.client.engine.gpu();
  if (gpu == nullptr || !gpu->is_gpu_memory(at, bytes)) {
    util::log::once("abi.dmabuf", "uverbs: a DMA-BUF MR whose I/O address {:#x} is no GPU's memory is not modelled",
                    iova);
    refuse(EOPNOTSUPP);
  }
  auto& pd = context.find<PdObject>(request.handle(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE)).pd();
  const Mkey mkey{.pdn = pd.pdn, .access = access, .iova = iova, .bytes = bytes, .host = at};
  const auto handle = context.next_handle();
  auto mr = std::make_unique<MrObject>(context.client, pd, mkey);
  request.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr->key());
  request.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr->key());
  request.set_handle(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, handle);
  context.add(handle, std::move(mr));
}

void destroy_mr(Context& context, Request& request) {
  context.remove(request.handle(UVERBS_ATTR_DESTROY_MR_HANDLE), ObjectKind::kMr);
}

void query_mr(Context& context, Request& request) {
  const auto& mkey = context.find<MrObject>(request.handle(UVERBS_ATTR_QUERY_MR_HANDLE)).mkey();
  request.out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, mkey.key);
  request.out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, mkey.key);
  request.out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mkey.bytes);
  request.out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, mkey.iova);
}

void alloc_mw(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_alloc_mw>(UVERBS_ATTR_CORE_IN);
  const auto own = request.in<mlx5_ib_alloc_mw>(UVERBS_ATTR_UHW_IN);
  require(own.comp_mask == 0 && own.reserved1 == 0 && own.reserved2 == 0, EOPNOTSUPP);
  require(req.mw_type == kWindowType1 || req.mw_type == kWindowType2, EINVAL);
  auto& pd = context.find<PdObject>(req.pd_handle).pd();
  const auto handle = context.next_handle();
  auto mw = std::make_unique<MwObject>(context.client, pd);
  ib_uverbs_alloc_mw_resp resp{};
  resp.mw_handle = handle;
  resp.rkey = mw->key();
  request.out(UVERBS_ATTR_CORE_OUT, resp);
  context.add(handle, std::move(mw));
}

void destroy_mw(Context& context, Request& request) {
  context.remove(request.handle(UVERBS_ATTR_DESTROY_MW_HANDLE), ObjectKind::kMw);
}

}  // namespace marrow::cx7::abi
