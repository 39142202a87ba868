// SPDX-License-Identifier: Apache-2.0
// Protection domains and memory regions: what registration refuses, and what keeps a domain alive.
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

TEST(RegMr, RefusesWhatTheKernelRefuses) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  const auto good = nic.memory.address();
  struct Row {
    const char* what;
    MrRequest request;
    int expected;
  };
  const Row rows[] = {
      {"no such PD", {.pd = 0x999, .start = good, .bytes = 4096}, -ENOENT},
      {"empty", {.pd = pd.handle, .start = good, .bytes = 0}, -EINVAL},
      {"wraps around", {.pd = pd.handle, .start = UINT64_MAX - 4095, .bytes = 8192}, -EINVAL},
      {"not mapped", {.pd = pd.handle, .start = kUnmapped, .bytes = 4096}, -EFAULT},
      {"end not mapped",
       {.pd = pd.handle, .start = nic.memory.address(nic.memory.bytes() - 4096), .bytes = 64ull << 30},
       -EFAULT},
      {"iova with another page offset", {.pd = pd.handle, .start = good, .bytes = 64, .iova = good + 8}, -EINVAL},
      {"remote write without local write",
       {.pd = pd.handle, .start = good, .bytes = 64, .access = IB_UVERBS_ACCESS_REMOTE_WRITE},
       -EINVAL},
      {"remote atomic without local write",
       {.pd = pd.handle, .start = good, .bytes = 64, .access = IB_UVERBS_ACCESS_REMOTE_ATOMIC},
       -EINVAL},
      {"unknown access bit", {.pd = pd.handle, .start = good, .bytes = 64, .access = 1u << 12}, -EINVAL},
      {"unknown access bit above the optional range",
       {.pd = pd.handle, .start = good, .bytes = 64, .access = 1u << 31},
       -EINVAL},
      {"zero based", {.pd = pd.handle, .start = good, .bytes = 64, .access = IB_UVERBS_ACCESS_ZERO_BASED}, -EOPNOTSUPP},
      {"on demand, and empty", {.pd = pd.handle, .bytes = 0, .access = IB_UVERBS_ACCESS_ON_DEMAND}, -EINVAL},
      {"all of the address space, but not on demand", {.pd = pd.handle, .bytes = UINT64_MAX}, -EFAULT},
      {"all of it at another address",
       {.pd = pd.handle, .bytes = UINT64_MAX, .iova = 4096, .access = IB_UVERBS_ACCESS_ON_DEMAND},
       -EINVAL},
  };
  for (const auto& row : rows) EXPECT_EQ(nic.reg_mr(row.request).result, row.expected) << row.what;
  EXPECT_EQ(nic.engine->device(0).mkeys.count(), 0u) << "a refusal leaves nothing behind";
  EXPECT_EQ(nic.destroy_pd(pd.handle), 0) << "nor does it hold the domain";
}

int query_mr(Nic& nic, std::uint32_t handle, std::uint32_t& key, std::uint64_t& length) {
  std::uint32_t lkey = 0;
  return Call(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR)
      .handle(UVERBS_ATTR_QUERY_MR_HANDLE, handle)
      .out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, lkey)
      .out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, key)
      .out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, length)(*nic.file);
}

// What ibv_import_pd() and ibv_import_mr() ask in a process that got the descriptor.
TEST(Import, ASecondUserOfTheFileFindsDomainAndRegionByHandle) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  const auto mr = nic.reg_mr({.pd = pd.handle, .start = nic.memory.address(), .bytes = 8192});
  std::uint32_t key = 0;
  std::uint64_t length = 0;
  EXPECT_EQ(query_mr(nic, pd.handle, key, length), -EINVAL) << "a domain";
  EXPECT_EQ(query_mr(nic, 0x999, key, length), -ENOENT);
  ASSERT_EQ(query_mr(nic, mr.handle, key, length), 0);
  EXPECT_EQ(key, mr.number);
  EXPECT_EQ(length, 8192u);
  std::uint32_t pdn = 0;
  ASSERT_EQ(Call(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY)
                .handle(MLX5_IB_ATTR_QUERY_PD_HANDLE, pd.handle)
                .out(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pdn)(*nic.file),
            0);
  EXPECT_EQ(pdn, pd.number);
  mlx5_ib_alloc_ucontext_resp own{};
  std::uint32_t vectors = 0;
  ASSERT_EQ(Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT)
                .out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, vectors)
                .out(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, own)(*nic.file),
            0);
  EXPECT_EQ(vectors, 1u);
  EXPECT_EQ(own.response_length, sizeof own);
  EXPECT_EQ(own.cqe_version, 1u);
}

TEST(Import, AFileWithoutAContextHasNoneToImport) {
  const auto nic = Nic::unopened();
  std::uint32_t vectors = 0;
  EXPECT_EQ(Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT)
                .out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, vectors)(*nic->file),
            -EINVAL);
}

/// Lengths and addresses that are well formed; what is refused is what a row changes.
int reg_dmabuf_mr(Nic& nic, std::uint32_t pd, std::uint64_t bytes, std::uint64_t offset, int fd) {
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
  Call call(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
  call.handle(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0)
      .handle(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd)
      .in(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset)
      .in(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, bytes)
      .in(UVERBS_ATTR_REG_DMABUF_MR_IOVA, nic.memory.address())
      .in(UVERBS_ATTR_REG_DMABUF_MR_FD, fd)
      .in(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, std::uint32_t{IB_UVERBS_ACCESS_LOCAL_WRITE})
      .out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, lkey)
      .out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, rkey);
  return call(*nic.file);
}

TEST(RegDmabufMr, RefusesWhatIsNoMemoryOfAGpu) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  EXPECT_EQ(reg_dmabuf_mr(nic, pd.handle, 0, 0, 0), -EINVAL) << "empty";
  EXPECT_EQ(reg_dmabuf_mr(nic, pd.handle, 4096, 8, 0), -EINVAL) << "another page offset than its I/O address";
  EXPECT_EQ(reg_dmabuf_mr(nic, pd.handle, 4096, 0, 9999), -EBADF) << "no such descriptor";
  EXPECT_EQ(reg_dmabuf_mr(nic, pd.handle, 4096, 0, 0), -EOPNOTSUPP) << "host memory";
  EXPECT_EQ(nic.engine->device(0).mkeys.count(), 0u);
}

TEST(RegMr, MakesAKeyThatTheDeviceKnows) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  const auto start = nic.memory.address(4096);
  const auto iova = start + (1ull << 40);
  const auto mr = nic.reg_mr(
      {.pd = pd.handle,
       .start = start,
       .bytes = 100,
       .iova = iova,
       .access = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_RELAXED_ORDERING});
  ASSERT_EQ(mr.result, 0);
  const Mkey* const key = nic.engine->device(0).mkeys.find(mr.number >> 8);
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->key, mr.number);
  EXPECT_EQ(key->pdn, pd.number);
  EXPECT_EQ(key->iova, iova);
  EXPECT_EQ(key->bytes, 100u);
  EXPECT_EQ(key->host, nic.memory.at(4096));
  EXPECT_EQ(key->access, std::uint32_t{kLocalWrite | kRemoteWrite | kRelaxedOrdering});
}

TEST(Pd, CannotGoWhileARegionIsThere) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  const auto mr = nic.reg_mr({.pd = pd.handle, .start = nic.memory.address(), .bytes = 4096});
  ASSERT_EQ(mr.result, 0);
  EXPECT_EQ(nic.destroy_pd(pd.handle), -EBUSY);
  EXPECT_EQ(nic.destroy_mr(mr.handle), 0);
  EXPECT_EQ(nic.engine->device(0).mkeys.find(mr.number >> 8), nullptr);
  EXPECT_EQ(nic.destroy_pd(pd.handle), 0);
}

// A key that was given back fits nothing for as long as can be.
TEST(RegMr, DoesNotGiveTheSameKeyAgainAtOnce) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  const MrRequest request{.pd = pd.handle, .start = nic.memory.address(), .bytes = 4096};
  const auto first = nic.reg_mr(request);
  ASSERT_EQ(nic.destroy_mr(first.handle), 0);
  EXPECT_NE(nic.reg_mr(request).number, first.number);
}

int rereg_mr(Nic& nic, const ib_uverbs_rereg_mr& request) {
  ib_uverbs_rereg_mr_resp resp{};
  return invoke_write(*nic.file, IB_USER_VERBS_CMD_REREG_MR,
                      {.core_in = {reinterpret_cast<const std::byte*>(&request), sizeof request},
                       .core_out = {reinterpret_cast<std::byte*>(&resp), sizeof resp},
                       .own_in = {},
                       .own_out = {}});
}

TEST(ReregMr, ChangesWhatItsFlagsSayOrNothing) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  const auto other = nic.alloc_pd();
  const auto mr = nic.reg_mr({.pd = pd.handle, .start = nic.memory.address(), .bytes = 4096});
  const auto key = [&] { return *nic.engine->device(0).mkeys.find(mr.number >> 8); };
  ib_uverbs_rereg_mr r{};
  r.mr_handle = mr.handle;
  r.start = r.hca_va = nic.memory.address(8192);
  r.length = 100;
  r.pd_handle = other.handle;
  r.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_READ;
  EXPECT_EQ(rereg_mr(nic, r), -EINVAL) << "no flag";
  r.flags = 1u << 5;
  EXPECT_EQ(rereg_mr(nic, r), -EOPNOTSUPP);
  r.flags = 1;
  r.start = r.hca_va = kUnmapped;
  EXPECT_EQ(rereg_mr(nic, r), -EFAULT);
  r.flags = 4;
  r.access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE;
  EXPECT_EQ(rereg_mr(nic, r), -EINVAL) << "remote write without local write";
  EXPECT_EQ(key().host, nic.memory.at()) << "as it was";

  r.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_READ;
  EXPECT_EQ(rereg_mr(nic, r), 0);
  EXPECT_EQ(key().access, std::uint32_t{kLocalWrite | kRemoteRead});
  EXPECT_EQ(key().bytes, 4096u);
  r.flags = 3;
  r.start = r.hca_va = nic.memory.address(8192);
  EXPECT_EQ(rereg_mr(nic, r), 0);
  EXPECT_EQ(key().host, nic.memory.at(8192));
  EXPECT_EQ(key().pdn, other.number);
  EXPECT_EQ(nic.destroy_pd(pd.handle), 0) << "the region has left it";
  EXPECT_EQ(nic.destroy_pd(other.handle), -EBUSY);
}

Made alloc_mw(Nic& nic, std::uint32_t pd, std::uint8_t type) {
  ib_uverbs_alloc_mw in{};
  in.pd_handle = pd;
  in.mw_type = type;
  ib_uverbs_alloc_mw_resp out{};
  const int result = invoke_write(*nic.file, IB_USER_VERBS_CMD_ALLOC_MW,
                                  {.core_in = {reinterpret_cast<const std::byte*>(&in), sizeof in},
                                   .core_out = {reinterpret_cast<std::byte*>(&out), sizeof out},
                                   .own_in = {},
                                   .own_out = {}});
  return {result, out.mw_handle, out.rkey};
}

TEST(AllocMw, MakesAWindowThatShowsNothing) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  EXPECT_EQ(alloc_mw(nic, pd.handle, 0).result, -EINVAL);
  EXPECT_EQ(alloc_mw(nic, pd.handle, 3).result, -EINVAL);
  EXPECT_EQ(alloc_mw(nic, 0x999, 1).result, -ENOENT);
  for (const std::uint8_t type : {std::uint8_t{1}, std::uint8_t{2}}) {
    const auto mw = alloc_mw(nic, pd.handle, type);
    ASSERT_EQ(mw.result, 0);
    const Mkey* const key = nic.engine->device(0).mkeys.find(mw.number >> 8);
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(key->kind, Mkey::Kind::kWindow);
    EXPECT_EQ(key->host, nullptr);
    EXPECT_EQ(nic.destroy_pd(pd.handle), -EBUSY);
    EXPECT_EQ(nic.destroy(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, UVERBS_ATTR_DESTROY_MW_HANDLE, mw.handle), 0);
  }
  EXPECT_TRUE(nic.engine->device(0).windows.empty());
  EXPECT_EQ(nic.destroy_pd(pd.handle), 0);
}

int create_ah(Nic& nic, std::uint32_t pd, const ib_uverbs_ah_attr& attr, mlx5_ib_create_ah_resp& own) {
  ib_uverbs_create_ah in{};
  in.pd_handle = pd;
  in.attr = attr;
  std::uint32_t handle = 0;
  return invoke_write(*nic.file, IB_USER_VERBS_CMD_CREATE_AH,
                      {.core_in = {reinterpret_cast<const std::byte*>(&in), sizeof in},
                       .core_out = room_of(handle),
                       .own_in = {},
                       .own_out = room_of(own)});
}

// On RoCE an address handle is how a library learns the peer's MAC.
TEST(CreateAh, ResolvesTheMacOfAGid) {
  override_link_layer(LinkLayer::kEthernet);
  Nic nic;
  const auto pd = nic.alloc_pd();
  ib_uverbs_ah_attr attr{};
  mlx5_ib_create_ah_resp own{};
  attr.port_num = 1;
  EXPECT_EQ(create_ah(nic, pd.handle, attr, own), -EINVAL) << "RoCE needs a GID";
  attr.is_global = 1;
  EXPECT_EQ(create_ah(nic, pd.handle, attr, own), -EHOSTUNREACH) << "nobody has the all-zero GID";
  std::memcpy(attr.grh.dgid, gid_table(1)[3].gid.data(), 16);
  attr.grh.sgid_index = 9;
  EXPECT_EQ(create_ah(nic, pd.handle, attr, own), -EINVAL) << "empty source GID";
  attr.grh.sgid_index = 3;
  attr.port_num = 2;
  EXPECT_EQ(create_ah(nic, pd.handle, attr, own), -EINVAL) << "no port 2";
  attr.port_num = 1;
  EXPECT_EQ(create_ah(nic, 0x999, attr, own), -ENOENT) << "no such PD";
  ASSERT_EQ(create_ah(nic, pd.handle, attr, own), 0);
  EXPECT_EQ(std::memcmp(own.dmac, device_facts(1).mac.data(), 6), 0);
  EXPECT_EQ(nic.destroy_pd(pd.handle), -EBUSY);
  override_link_layer(LinkLayer::kInfiniBand);
}

TEST(Uar, PagesRunOutAndComeBack) {
  Nic nic;
  nic.pages.left = 1;
  EXPECT_EQ(nic.alloc_uar(7).result, -EOPNOTSUPP);
  const auto last = nic.alloc_uar(MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
  ASSERT_EQ(last.result, 0);
  EXPECT_EQ(nic.alloc_uar().result, -ENOMEM);
  EXPECT_EQ(nic.destroy_uar(last.handle), 0);
  EXPECT_EQ(nic.alloc_uar().result, 0);
}

}  // namespace
}  // namespace marrow::cx7
