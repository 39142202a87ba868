// SPDX-License-Identifier: Apache-2.0
// DEVX: firmware mailboxes straight from the application. The kernel's part is small and is all here: which call may
// carry which command, whose object it is about, and the umem-valid bits, which it sets itself.
// Facts: EREMOTEIO with the reply copied back when firmware refused; EINVAL when the call does not fit [abi].
#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/mkc.h"
#include "cx7/fw/rmpc.h"

namespace marrow::cx7::abi {
namespace {

namespace prm = wire::prm;
using Buffer = std::vector<std::byte>;

constexpr std::uint32_t kFirstListMode = 2;  // access modes of keys that show other keys

// A command that nobody knows goes to the firmware, whose BAD_OPCODE says more than an errno.
void check_role(const Buffer& in, fw::Role role) {
  const auto* const command = fw::find_command(fw::opcode_of(in));
  require(command == nullptr || command->role == role, EINVAL);
}

void set_umem_valid(Buffer& in) {
  if (in.size() < prm::create_qp::kInBytes) return;
  const auto opcode = static_cast<prm::Command>(fw::opcode_of(in));
  if (opcode == prm::Command::kCreateCq) {
    prm::set(in.data(), prm::create_cq::umem_valid, 1);
    prm::set(in.data() + prm::create_cq::kContext, prm::cqc::dbr_umem_valid, 1);
  } else if (opcode == prm::Command::kCreateQp) {
    prm::set(in.data(), prm::create_qp::wq_umem_valid, 1);
    prm::set(in.data() + prm::create_qp::kContext, prm::qpc::dbr_umem_valid, 1);
  } else if (opcode == prm::Command::kCreateMkey) {
    const auto mode = prm::get(in.data() + fw::create_mkey_at::kContext, fw::mkc::access_mode);
    if (mode < kFirstListMode) prm::set(in.data(), fw::create_mkey_at::umem_valid, 1);
  } else if (opcode == fw::kCreateRmp) {
    prm::set(in.data() + fw::create_rmp_at::kContext, fw::rmpc::wq_umem_valid, 1);
    prm::set(in.data() + fw::create_rmp_at::kContext, fw::rmpc::dbr_umem_valid, 1);
  }
}

/// Runs the command; throws EREMOTEIO after copying the refusal back.
Buffer execute(Context& context, Request& request, const Buffer& in, std::uint16_t out_id) {
  Buffer out(request.bytes_of(out_id));
  const auto reply = fw::execute(context.client, in, out);
  if (!reply.ok()) {
    request.out_bytes(out_id, out);
    refuse(EREMOTEIO);
  }
  return out;
}

Buffer fetch(Context& context, const Request& request, std::uint16_t in_id) {
  require(context.devx, EINVAL);
  return request.buffer(in_id);
}

/// How firmware knows what a handle stands for: an object of DEVX, or a QP or CQ of the verbs.
DevxObject::Name target_of(const Object& object) {
  switch (object.kind()) {
    case ObjectKind::kQp:
      return {fw::Subject::kQp, static_cast<const QpObject&>(object).qp().config.qpn};
    case ObjectKind::kCq:
      return {fw::Subject::kCq, static_cast<const CqObject&>(object).cq().cqn};
    case ObjectKind::kDevx:
      return static_cast<const DevxObject&>(object).name();
    default:
      refuse(EINVAL);
  }
}

// A mailbox sent through a handle must be about that handle's object.
void check_target(const Object& object, const Buffer& in) {
  const auto* const command = fw::find_command(fw::opcode_of(in));
  if (command == nullptr) return;
  const auto target = target_of(object);
  require(target.subject == command->subject && prm::get(in.data(), prm::destroy::object) == target.number, EINVAL);
}

struct HandleCall {
  fw::Role role{};
  std::uint16_t handle_id = 0;
  std::uint16_t in_id = 0;
  std::uint16_t out_id = 0;
};

void through_handle(Context& context, Request& request, const HandleCall& call) {
  const auto in = fetch(context, request, call.in_id);
  check_role(in, call.role);
  check_target(context.find(request.handle(call.handle_id), ObjectKind::kAny), in);
  request.out_bytes(call.out_id, execute(context, request, in, call.out_id));
}

}  // namespace

void devx_other(Context& context, Request& request) {
  const auto in = fetch(context, request, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN);
  check_role(in, fw::Role::kGeneral);
  request.out_bytes(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, execute(context, request, in, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT));
}

void devx_query_eqn(Context&, Request& request) {
  require(request.number(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC) < kCompletionVectors, EINVAL);
  request.out(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, kEqn);
}

void devx_obj_create(Context& context, Request& request) {
  auto in = fetch(context, request, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
  check_role(in, fw::Role::kCreate);
  set_umem_valid(in);
  const auto handle = context.next_handle();
  const auto out = execute(context, request, in, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
  const DevxObject::Name name{fw::find_command(fw::opcode_of(in))->subject, prm::get(out.data(), prm::out::object)};
  auto object = std::make_unique<DevxObject>(context.client, name);
  request.out_bytes(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out);
  request.set_handle(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, handle);
  context.add(handle, std::move(object));
}

void devx_obj_destroy(Context& context, Request& request) {
  const auto handle = request.handle(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
  context.find<DevxObject>(handle).destroy();
  context.remove(handle, ObjectKind::kDevx);
}

void devx_obj_modify(Context& context, Request& request) {
  through_handle(context, request,
                 {.role = fw::Role::kModify,
                  .handle_id = MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
                  .in_id = MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
                  .out_id = MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT});
}

void devx_obj_query(Context& context, Request& request) {
  through_handle(context, request,
                 {.role = fw::Role::kQuery,
                  .handle_id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE,
                  .in_id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
                  .out_id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT});
}

// A page size of 4 KiB always fits; a caller who allows only larger ones asks for what a real kernel might not find.
void devx_umem_reg(Context& context, Request& request) {
  require(context.devx, EINVAL);
  static_cast<void>(check_access(request.number32(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS)));
  const auto address = request.number(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
  const auto bytes = request.number(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
  const auto page_sizes = request.number(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, UINT64_MAX);
  require((page_sizes & ~std::uint64_t{kUarPageBytes - 1}) != 0, EINVAL);
  std::byte* const base = check_registrable(context.client.engine, address, bytes);
  const auto handle = context.next_handle();
  auto umem = std::make_unique<UmemObject>(context.client, base, bytes);
  request.out(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, umem->id());
  request.set_handle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, handle);
  context.add(handle, std::move(umem));
}

void devx_umem_dereg(Context& context, Request& request) {
  context.remove(request.handle(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE), ObjectKind::kUmem);
}

}  // namespace marrow::cx7::abi
