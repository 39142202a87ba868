// SPDX-License-Identifier: Apache-2.0
// GET_CONTEXT and the queries: what libmlx5 decides by, and that replies fit older and newer libraries.
#include <endian.h>
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

struct ContextCall {
  mlx5_ib_alloc_ucontext_req_v2 req{};
  mlx5_ib_alloc_ucontext_resp resp{};
  std::uint32_t vectors = 0;
  std::uint64_t core = 0;
  ContextCall() {
    req.flags = MLX5_IB_ALLOC_UCTX_DEVX;
    req.max_cqe_version = 1;
    req.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
  }
  int operator()(Nic& nic) {
    return Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT)
        .out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, vectors)
        .out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, core)
        .in(UVERBS_ATTR_UHW_IN, req)
        .out(UVERBS_ATTR_UHW_OUT, resp)(*nic.file);
  }
};

TEST(GetContext, RefusesWhatItDoesNotKnow) {
  struct Row {
    const char* what;
    void (*spoil)(mlx5_ib_alloc_ucontext_req_v2&);
    int expected;
  };
  const Row rows[] = {
      {"unknown flag", [](auto& r) { r.flags = 0x10; }, -EINVAL},
      {"comp_mask", [](auto& r) { r.comp_mask = 1; }, -EOPNOTSUPP},
      {"reserved0", [](auto& r) { r.reserved0 = 1; }, -EOPNOTSUPP},
      {"reserved1", [](auto& r) { r.reserved1 = 1; }, -EOPNOTSUPP},
      {"reserved2", [](auto& r) { r.reserved2 = 1; }, -EOPNOTSUPP},
      {"library without dynamic UARs", [](auto& r) { r.lib_caps = 1; }, -EOPNOTSUPP},
      {"library without CQE version 1", [](auto& r) { r.max_cqe_version = 0; }, -EOPNOTSUPP},
  };
  for (const auto& row : rows) {
    const auto nic = Nic::unopened();
    ContextCall call;
    row.spoil(call.req);
    EXPECT_EQ(call(*nic), row.expected) << row.what;
  }
}

TEST(GetContext, ComesFirstAndOnce) {
  const auto nic = Nic::unopened();
  EXPECT_EQ(nic->alloc_pd().result, -EINVAL);
  EXPECT_EQ(nic->async_events(), -EINVAL);
  EXPECT_EQ(nic->get_context(), 0);
  EXPECT_EQ(nic->get_context(), -EINVAL);
  EXPECT_EQ(nic->alloc_pd().result, 0);
}

// tot_bfregs 0 is what selects dynamic UARs in libmlx5; CQE version 1 the user index in CQEs.
TEST(GetContext, SelectsDynamicUarsAndCqeVersionOne) {
  const auto nic = Nic::unopened();
  ContextCall call;
  ASSERT_EQ(call(*nic), 0);
  EXPECT_EQ(call.resp.tot_bfregs, 0u);
  EXPECT_EQ(call.resp.bf_reg_size, 512u);
  EXPECT_EQ(call.resp.cqe_version, 1);
  EXPECT_EQ(call.resp.log_uar_size, 12u);
  EXPECT_EQ(call.resp.num_uars_per_page, 1u);
  EXPECT_EQ(call.resp.eth_min_inline, MLX5_USER_INLINE_MODE_NONE);
  EXPECT_EQ(call.resp.response_length, sizeof call.resp);
  EXPECT_EQ(call.resp.comp_mask, 0u);
  EXPECT_EQ(call.vectors, 1u);
  EXPECT_EQ(call.core, std::uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
}

// rdma-core 44 has 104 bytes of driver room, rdma-core 50 has 112.
TEST(QueryDevice, FitsOlderAndNewerLibraries) {
  Nic nic;
  for (const std::size_t own_bytes : {std::size_t{104}, std::size_t{112}, sizeof(mlx5_ib_query_device_resp) + 32}) {
    const ib_uverbs_ex_query_device in{};
    ib_uverbs_ex_query_device_resp out{};
    std::vector<std::byte> own(own_bytes, std::byte{0xaa});
    ASSERT_EQ(invoke_write(*nic.file, IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
                           {.core_in = bytes_of(in), .core_out = room_of(out), .own_in = {}, .own_out = own}),
              0);
    EXPECT_EQ(out.response_length, sizeof out);
    EXPECT_EQ(be64toh(out.base.node_guid), device_facts(0).node_guid);
    EXPECT_EQ(out.base.vendor_part_id, 0x1021u);
    mlx5_ib_query_device_resp seen{};
    std::memcpy(&seen, own.data(), std::min(own.size(), sizeof seen));
    EXPECT_EQ(seen.response_length, std::min(own_bytes, sizeof seen));
    EXPECT_EQ(own.back(), std::byte{0}) << "the rest of the room must be zero";
  }
}

// Nothing is promised that is not there.
TEST(QueryDevice, PromisesNothingUnmodelled) {
  Nic nic;
  const std::uint64_t in = 0;
  ib_uverbs_query_device_resp out{};
  ASSERT_EQ(invoke_write(*nic.file, IB_USER_VERBS_CMD_QUERY_DEVICE,
                         {.core_in = bytes_of(in), .core_out = room_of(out), .own_in = {}, .own_out = {}}),
            0);
  EXPECT_EQ(out.max_mcast_grp, 0u);
  EXPECT_EQ(out.max_raw_ethy_qp, 0u);
  EXPECT_EQ(out.phys_port_cnt, 1);
}

ib_uverbs_query_port_resp port_of(Nic& nic, std::uint64_t port, int expected = 0) {
  ib_uverbs_query_port_resp resp{};
  EXPECT_EQ(Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT)
                .in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port)
                .out(UVERBS_ATTR_QUERY_PORT_RESP, resp)(*nic.file),
            expected);
  return resp;
}

int gid_of(Nic& nic, std::uint32_t index, ib_uverbs_gid_entry& entry, std::uint32_t port = 1) {
  const std::uint32_t flags = 0;
  return Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY)
      .in(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port)
      .in(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index)
      .in(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, flags)
      .out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry)(*nic.file);
}

class Port : public testing::TestWithParam<LinkLayer> {
 protected:
  void SetUp() override { override_link_layer(GetParam()); }
  void TearDown() override { override_link_layer(LinkLayer::kInfiniBand); }
};

TEST_P(Port, HasOneNumber) {
  Nic nic;
  port_of(nic, 0, -EINVAL);
  port_of(nic, 2, -EINVAL);
  EXPECT_EQ(port_of(nic, 1).state, 4);
}

TEST_P(Port, LidsAndLinkLayersBelongTogether) {
  for (const std::uint8_t device : {std::uint8_t{0}, std::uint8_t{1}}) {
    Nic nic(device);
    const auto port = port_of(nic, 1);
    const bool ethernet = GetParam() == LinkLayer::kEthernet;
    EXPECT_EQ(port.link_layer, ethernet ? 2 : 1);
    EXPECT_EQ(port.lid, ethernet ? 0 : device + 1);
    EXPECT_EQ(port.gid_tbl_len, kGidTableLength);
  }
}

// An empty slot is ENODATA, a slot that is not there EINVAL: libibverbs tells them apart.
TEST_P(Port, GidSlotsAreFilledEmptyOrAbsent) {
  Nic nic;
  const auto filled = static_cast<std::uint32_t>(gid_table(0).size());
  ib_uverbs_gid_entry entry{};
  for (std::uint32_t i = 0; i < filled; ++i) {
    ASSERT_EQ(gid_of(nic, i, entry), 0);
    EXPECT_EQ(std::memcmp(entry.gid, gid_table(0)[i].gid.data(), 16), 0);
    EXPECT_EQ(entry.gid_type, static_cast<std::uint32_t>(gid_table(0)[i].type));
  }
  EXPECT_EQ(gid_of(nic, filled, entry), -ENODATA);
  EXPECT_EQ(gid_of(nic, kGidTableLength - 1, entry), -ENODATA);
  EXPECT_EQ(gid_of(nic, kGidTableLength, entry), -EINVAL);
  EXPECT_EQ(gid_of(nic, 0, entry, /*port=*/2), -EINVAL);
}

TEST_P(Port, GidTableListsTheFilledSlots) {
  Nic nic;
  std::array<ib_uverbs_gid_entry, kGidTableLength> entries{};
  std::uint64_t count = 0;
  const auto ask = [&](std::uint64_t entry_bytes, std::uint64_t flags, std::size_t room) {
    return Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE)
        .in(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, entry_bytes)
        .in(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, flags)
        .out_bytes(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries.data(), room)
        .out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, count)(*nic.file);
  };
  EXPECT_EQ(ask(0, 0, sizeof entries), -EINVAL);
  EXPECT_EQ(ask(sizeof entries[0], 1, sizeof entries), -EINVAL);
  EXPECT_EQ(ask(sizeof entries[0], 0, 8), -EINVAL);
  ASSERT_EQ(ask(sizeof entries[0], 0, sizeof entries), 0);
  ASSERT_EQ(count, gid_table(0).size());
  EXPECT_EQ(entries[count - 1].gid_index, count - 1);
}

INSTANTIATE_TEST_SUITE_P(LinkLayers, Port, testing::Values(LinkLayer::kInfiniBand, LinkLayer::kEthernet));

// perftest's usual -x 3: an IPv4-mapped GID of RoCE v2.
TEST(PortFacts, RoceGidThreeIsIpv4MappedVersionTwo) {
  override_link_layer(LinkLayer::kEthernet);
  const auto gid = gid_table(1)[3];
  override_link_layer(LinkLayer::kInfiniBand);
  EXPECT_EQ(gid.type, GidType::kRoceV2);
  EXPECT_EQ(gid.gid, (Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 18, 0, 2}));
}

}  // namespace
}  // namespace marrow::cx7
