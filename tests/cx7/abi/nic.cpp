// SPDX-License-Identifier: Apache-2.0
#include "cx7/abi/nic.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace marrow::cx7 {

namespace {
// Where the parts of the queues stand in Nic::memory.
constexpr std::size_t kCqBuffer = 0x0000;
constexpr std::size_t kQpBuffer = 0x10000;
constexpr std::size_t kCqDbrec = 0x40000;
constexpr std::size_t kQpDbrec = 0x40040;
}  // namespace

std::optional<DevicePage> TestPages::allocate() {
  if (left == 0) return std::nullopt;
  for (std::size_t i = 1; i < pages_.size(); ++i) {
    const std::uint64_t offset = i * 4096;
    if (taken.contains(offset)) continue;
    --left;
    taken.insert(offset);
    pages_[i] = std::make_unique<Page>();
    return DevicePage{offset, pages_[i]->bytes.data()};
  }
  return std::nullopt;
}

void TestPages::release(const DevicePage& page) {
  ++left;
  taken.erase(page.file_offset);
}

std::byte* TestPages::registers_at(std::uint64_t file_offset) const {
  return pages_[file_offset / 4096]->bytes.data();
}

Memory::Memory(std::size_t bytes) : bytes_(bytes) {
  base_ = static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
Memory::~Memory() {
  ::munmap(base_, bytes_);
}

int invoke_write(File& file, std::uint32_t command, const WriteParts& parts) {
  Call call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
  call.in(UVERBS_ATTR_WRITE_CMD, std::uint64_t{command});
  if (!parts.core_in.empty()) call.in_bytes(UVERBS_ATTR_CORE_IN, parts.core_in.data(), parts.core_in.size());
  if (!parts.core_out.empty()) call.out_bytes(UVERBS_ATTR_CORE_OUT, parts.core_out.data(), parts.core_out.size());
  if (!parts.own_in.empty()) call.in_bytes(UVERBS_ATTR_UHW_IN, parts.own_in.data(), parts.own_in.size());
  if (!parts.own_out.empty()) call.out_bytes(UVERBS_ATTR_UHW_OUT, parts.own_out.data(), parts.own_out.size());
  return call(file);
}

Nic::Nic(Unopened, std::uint8_t device)
    : engine(std::make_unique<Engine>("test-" + std::to_string(::getpid()), Checking::kStrict)),
      file(std::make_unique<File>(*engine, device, pages)) {}

Nic::Nic(std::uint8_t device) : Nic(Unopened{}, device) {
  EXPECT_EQ(get_context(), 0);
  const auto uar = alloc_uar();
  EXPECT_EQ(uar.result, 0);
  uar_handle = uar.handle;
  uar_number = uar.number;
  uar_offset = std::uint64_t{uar.number} * 4096;
}

std::unique_ptr<Nic> Nic::unopened() {
  return std::unique_ptr<Nic>(new Nic(Unopened{}, 0));
}

int Nic::get_context(std::uint32_t flags) {
  mlx5_ib_alloc_ucontext_req_v2 req{};
  req.flags = flags;
  req.max_cqe_version = 1;
  req.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
  mlx5_ib_alloc_ucontext_resp resp{};
  return Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT)
      .in(UVERBS_ATTR_UHW_IN, req)
      .out(UVERBS_ATTR_UHW_OUT, resp)(*file);
}

Made Nic::alloc_pd() {
  const std::uint64_t in = 0;  // ib_uverbs_alloc_pd: the pointer that the ioctl form does not use
  std::uint32_t handle = 0;
  mlx5_ib_alloc_pd_resp own{};
  const int result =
      invoke_write(*file, IB_USER_VERBS_CMD_ALLOC_PD,
                   {.core_in = bytes_of(in), .core_out = room_of(handle), .own_in = {}, .own_out = room_of(own)});
  return {result, handle, own.pdn};
}

Made Nic::reg_mr(const MrRequest& request) {
  ib_uverbs_reg_mr in{};
  in.start = request.start;
  in.length = request.bytes;
  in.hca_va = request.iova != 0 ? request.iova : request.start;
  in.pd_handle = request.pd;
  in.access_flags = request.access;
  ib_uverbs_reg_mr_resp out{};
  const int result = invoke_write(*file, IB_USER_VERBS_CMD_REG_MR,
                                  {.core_in = {reinterpret_cast<const std::byte*>(&in), sizeof in},
                                   .core_out = {reinterpret_cast<std::byte*>(&out), sizeof out},
                                   .own_in = {},
                                   .own_out = {}});
  return {result, out.mr_handle, out.rkey};
}

Made Nic::alloc_uar(unsigned type) {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t page = 0;
  Call call(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
  call.handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0)
      .in(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, std::uint64_t{type})
      .out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, offset)
      .out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, length)
      .out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, page);
  const int result = call(*file);
  if (result == 0) {
    EXPECT_EQ(length, 4096u);
    EXPECT_EQ(offset, std::uint64_t{page} * 4096);
  }
  return {result, call.handle_of(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE), page};
}

CqRequest Nic::good_cq() {
  CqRequest request;
  request.own.buf_addr = memory.address(kCqBuffer);
  request.own.db_addr = memory.address(kCqDbrec);
  request.own.cqe_size = 64;
  request.own.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
  request.own.uar_page_index = static_cast<std::uint16_t>(uar_number);
  return request;
}

Made Nic::create_cq(const CqRequest& request) {
  const std::uint64_t user_handle = 0xc0c0;
  std::uint32_t cqe = 0;
  mlx5_ib_create_cq_resp own{};
  Call call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
  call.handle(UVERBS_ATTR_CREATE_CQ_HANDLE, 0)
      .in(UVERBS_ATTR_CREATE_CQ_CQE, request.cqe)
      .in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, user_handle)
      .in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, request.vector)
      .out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe)
      .in(UVERBS_ATTR_UHW_IN, request.own)
      .out(UVERBS_ATTR_UHW_OUT, own);
  if (request.flags != 0) call.in(UVERBS_ATTR_CREATE_CQ_FLAGS, request.flags);
  if (request.channel >= 0) call.fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, request.channel);
  const int result = call(*file);
  if (result == 0) {
    EXPECT_EQ((cqe + 1) & cqe, 0u) << "the reply must be a power of two less one";
    EXPECT_GE(cqe, request.cqe);
  }
  return {result, call.handle_of(UVERBS_ATTR_CREATE_CQ_HANDLE), own.cqn};
}

QpRequest Nic::good_qp() {
  QpRequest request;
  request.pd = alloc_pd().handle;
  request.send_cq = request.recv_cq = create_cq(good_cq()).handle;
  request.own.buf_addr = memory.address(kQpBuffer);
  request.own.db_addr = memory.address(kQpDbrec);
  request.own.sq_wqe_count = 64;
  request.own.rq_wqe_count = 16;
  request.own.rq_wqe_shift = 4;
  request.own.flags = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_UAR_PAGE_INDEX;
  request.own.uidx = 0x1234;
  request.own.bfreg_index = uar_number;
  return request;
}

Made Nic::create_qp(const QpRequest& request) {
  const std::uint64_t user_handle = 0x4040;
  ib_uverbs_qp_cap cap{};
  std::uint32_t qpn = 0;
  mlx5_ib_create_qp_resp own{};
  Call call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
  call.handle(UVERBS_ATTR_CREATE_QP_HANDLE, 0)
      .handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE, request.pd)
      .handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, request.send_cq)
      .handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, request.recv_cq)
      .in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, user_handle)
      .in(UVERBS_ATTR_CREATE_QP_CAP, request.cap)
      .in(UVERBS_ATTR_CREATE_QP_TYPE, std::uint64_t{request.type})
      .out(UVERBS_ATTR_CREATE_QP_RESP_CAP, cap)
      .out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qpn)
      .in(UVERBS_ATTR_UHW_IN, request.own)
      .out(UVERBS_ATTR_UHW_OUT, own);
  if (request.flags != 0) call.in(UVERBS_ATTR_CREATE_QP_FLAGS, request.flags);
  if (request.srq != 0) call.handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, request.srq);
  const int result = call(*file);
  return {result, call.handle_of(UVERBS_ATTR_CREATE_QP_HANDLE), qpn};
}

int Nic::destroy(unsigned object, unsigned method, unsigned attr, std::uint32_t handle) {
  return Call(object, method).handle(attr, handle)(*file);
}

int Nic::destroy_pd(std::uint32_t handle) {
  return destroy(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, UVERBS_ATTR_DESTROY_PD_HANDLE, handle);
}

int Nic::destroy_mr(std::uint32_t handle) {
  return destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, handle);
}

int Nic::destroy_uar(std::uint32_t handle) {
  return destroy(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle);
}

int Nic::destroy_cq(std::uint32_t handle, ib_uverbs_destroy_cq_resp* reported) {
  ib_uverbs_destroy_cq_resp resp{};
  const int result = Call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY)
                         .handle(UVERBS_ATTR_DESTROY_CQ_HANDLE, handle)
                         .out(UVERBS_ATTR_DESTROY_CQ_RESP, resp)(*file);
  if (reported != nullptr) *reported = resp;
  return result;
}

int Nic::destroy_qp(std::uint32_t handle) {
  ib_uverbs_destroy_qp_resp resp{};
  return Call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY)
      .handle(UVERBS_ATTR_DESTROY_QP_HANDLE, handle)
      .out(UVERBS_ATTR_DESTROY_QP_RESP, resp)(*file);
}

int Nic::comp_channel() {
  const std::uint64_t in = 0;
  ib_uverbs_create_comp_channel_resp out{};
  const int result = invoke_write(*file, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
                                  {.core_in = bytes_of(in), .core_out = room_of(out), .own_in = {}, .own_out = {}});
  return result == 0 ? static_cast<int>(out.fd) : result;
}

int Nic::async_events() {
  Call call(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
  call.fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
  const int result = call(*file);
  return result == 0 ? static_cast<int>(call.attr(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE).data_s64) : result;
}

int Nic::modify(const ib_uverbs_modify_qp& request) {
  return invoke_write(*file, IB_USER_VERBS_CMD_MODIFY_QP,
                      {.core_in = bytes_of(request), .core_out = {}, .own_in = {}, .own_out = {}});
}

ib_uverbs_query_qp_resp Nic::query(std::uint32_t qp, int& result) {
  ib_uverbs_query_qp in{};
  in.qp_handle = qp;
  ib_uverbs_query_qp_resp out{};
  result = invoke_write(*file, IB_USER_VERBS_CMD_QUERY_QP,
                        {.core_in = {reinterpret_cast<const std::byte*>(&in), sizeof in},
                         .core_out = {reinterpret_cast<std::byte*>(&out), sizeof out},
                         .own_in = {},
                         .own_out = {}});
  return out;
}

}  // namespace marrow::cx7
