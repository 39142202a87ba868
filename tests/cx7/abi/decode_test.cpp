// SPDX-License-Identifier: Apache-2.0
// The generic decoder: what is not as the schema says is refused, with the kernel's errno.
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"
#include "cx7/abi/schema_table.h"

namespace marrow::cx7 {
namespace {

ib_uverbs_ioctl_hdr empty_header() {
  ib_uverbs_ioctl_hdr header{};
  header.length = sizeof header;
  header.driver_id = RDMA_DRIVER_MLX5;
  header.object_id = UVERBS_OBJECT_DEVICE;
  header.method_id = UVERBS_METHOD_QUERY_PORT;
  return header;
}

// A header that lies about itself, or comes from another driver, gets no further.
TEST(Decode, RefusesABadHeader) {
  Nic nic;
  struct Row {
    const char* what;
    void (*spoil)(ib_uverbs_ioctl_hdr&);
    int expected;
  };
  const Row rows[] = {
      {"length too short", [](auto& h) { h.length = 8; }, -EINVAL},
      {"length and attributes disagree", [](auto& h) { h.num_attrs = 3; }, -EINVAL},
      {"longer than a page", [](auto& h) { h.num_attrs = 300, h.length = sizeof h + 300 * 16; }, -EINVAL},
      {"reserved1", [](auto& h) { h.reserved1 = 1; }, -EPROTONOSUPPORT},
      {"reserved2", [](auto& h) { h.reserved2 = 1; }, -EPROTONOSUPPORT},
      {"another driver", [](auto& h) { h.driver_id = RDMA_DRIVER_MLX4; }, -EINVAL},
      {"unknown object", [](auto& h) { h.object_id = 0x0fff; }, -EPROTONOSUPPORT},
      {"unknown method", [](auto& h) { h.method_id = 0x99; }, -EPROTONOSUPPORT},
      {"no attributes", [](auto&) {}, -EINVAL},
  };
  for (const auto& row : rows) {
    auto header = empty_header();
    row.spoil(header);
    EXPECT_EQ(nic.file->ioctl(&header), row.expected) << row.what;
  }
}

// Addresses the application cannot reach are EFAULT, never a crash.
TEST(Decode, RefusesUnreachableMemory) {
  Nic nic;
  EXPECT_EQ(nic.file->ioctl(reinterpret_cast<ib_uverbs_ioctl_hdr*>(kUnmapped)), -EFAULT);
  EXPECT_EQ(nic.file->ioctl(nullptr), -EFAULT);

  const std::uint64_t port = 1;
  EXPECT_EQ(Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT)
                .in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port)
                .out_bytes(UVERBS_ATTR_QUERY_PORT_RESP, reinterpret_cast<void*>(kUnmapped), 48)(*nic.file),
            -EFAULT);
  EXPECT_EQ(Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE)
                .in(UVERBS_ATTR_WRITE_CMD, std::uint64_t{IB_USER_VERBS_CMD_REG_MR})
                .in_bytes(UVERBS_ATTR_CORE_IN, reinterpret_cast<void*>(kUnmapped), sizeof(ib_uverbs_reg_mr))
                .out_bytes(UVERBS_ATTR_CORE_OUT, nic.memory.at(), sizeof(ib_uverbs_reg_mr_resp))(*nic.file),
            -EFAULT);
}

struct QueryPort {
  std::uint64_t port = 1;
  ib_uverbs_query_port_resp resp{};
};

// Each attribute is checked by itself: known, once, long enough, reserved bits zero.
TEST(Decode, RefusesABadAttribute) {
  Nic nic;
  QueryPort q;
  const auto base = [&q] {
    return Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT)
        .in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, q.port)
        .out(UVERBS_ATTR_QUERY_PORT_RESP, q.resp);
  };
  const std::uint32_t extra = 0;
  EXPECT_EQ(base().in(0x77, extra)(*nic.file), -EPROTONOSUPPORT) << "unknown and mandatory";
  EXPECT_EQ(base().in(0x77, extra).optional()(*nic.file), 0) << "unknown and optional: may be ignored";
  EXPECT_EQ(base().in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, q.port)(*nic.file), -EINVAL) << "twice";
  EXPECT_EQ(base().reserved(1)(*nic.file), -EINVAL) << "reserved bits";
  EXPECT_EQ(Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT)
                .in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, q.port)
                .out_bytes(UVERBS_ATTR_QUERY_PORT_RESP, &q.resp, 8)(*nic.file),
            -EINVAL)
      << "too little room";
  EXPECT_EQ(Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT).in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, q.port)(*nic.file),
            -EINVAL)
      << "mandatory attribute missing";
  EXPECT_EQ(Call(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY).in(UVERBS_ATTR_DESTROY_PD_HANDLE, q.port)(*nic.file),
            -EINVAL)
      << "a handle has no length";
}

// A reply longer than ours is filled with zeros, one that is shorter gets its part; both are marked as written.
TEST(Decode, AnswersAsMuchAsIsAskedFor) {
  Nic nic;
  const std::uint64_t port = 1;
  std::array<std::uint8_t, 64> room;
  room.fill(0xaa);
  Call call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
  call.in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port).out(UVERBS_ATTR_QUERY_PORT_RESP, room);
  ASSERT_EQ(call(*nic.file), 0);
  EXPECT_THAT(std::span(room).subspan(sizeof(ib_uverbs_query_port_resp)), testing::Each(0));
  EXPECT_TRUE(call.attr(UVERBS_ATTR_QUERY_PORT_RESP).flags & UVERBS_ATTR_F_VALID_OUTPUT);
}

// A handle of another kind, and one that nobody has, are told apart as the kernel does.
TEST(Decode, ChecksTheKindOfAHandle) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  EXPECT_EQ(nic.destroy_mr(pd.handle), -EINVAL);
  EXPECT_EQ(nic.destroy_mr(0x7777), -ENOENT);
  EXPECT_EQ(nic.destroy_pd(pd.handle), 0);
  EXPECT_EQ(nic.destroy_pd(pd.handle), -ENOENT);
}

// libibverbs asks with an empty QUERY_DEVICE whether write commands may travel by ioctl: ENOSPC means yes.
TEST(Decode, AnswersTheProbeForWriteCommands) {
  const auto nic = Nic::unopened();
  EXPECT_EQ(invoke_write(*nic->file, IB_USER_VERBS_CMD_QUERY_DEVICE, {}), -ENOSPC);
}

// What is not modelled must not send libibverbs to write(2): EOPNOTSUPP, not EPROTONOSUPPORT.
TEST(Decode, RefusesWriteCommandsThatAreNotModelled) {
  Nic nic;
  for (const auto command : {IB_USER_VERBS_CMD_CREATE_SRQ, IB_USER_VERBS_CMD_ATTACH_MCAST,
                             IB_USER_VERBS_CMD_DETACH_MCAST, IB_USER_VERBS_CMD_OPEN_QP}) {
    EXPECT_EQ(invoke_write(*nic.file, command, {}), -EOPNOTSUPP) << command;
  }
  EXPECT_EQ(invoke_write(*nic.file, 0x4000, {}), -EOPNOTSUPP);
}

// Methods of the kernel that are not modelled are unknown here.
TEST(Decode, RefusesMethodsThatAreNotModelled) {
  Nic nic;
  const unsigned rows[][2] = {{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC},
                              {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE},
                              {MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC},
                              {MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC}};
  for (const auto& row : rows) {
    EXPECT_EQ(Call(row[0], row[1])(*nic.file), -EPROTONOSUPPORT) << row[0] << "/" << row[1];
  }
}

// The table names each method once, and each attribute of a method once.
TEST(Decode, TheSchemaIsUnambiguous) {
  std::set<std::pair<int, int>> methods;
  for (const auto& method : abi::table::kMethods) {
    EXPECT_TRUE(methods.emplace(method.object, method.method).second) << method.name;
    std::set<int> ids;
    for (const auto& attr : method.attrs) EXPECT_TRUE(ids.insert(attr.id).second) << method.name << ": " << attr.name;
  }
}

}  // namespace
}  // namespace marrow::cx7
