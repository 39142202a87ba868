// SPDX-License-Identifier: Apache-2.0
// CREATE_RMP, DESTROY_RMP, QUERY_RMP: a receive memory pool is the shared receive queue of a DEVX caller. QPs and DCTs
// name it where they name an SRQ.
// Facts: context fields and states [prm]; that a WQE begins with a segment that names its successor, in a cyclic queue
// too unless it is basic [obs: UCX].
#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/path.h"
#include "cx7/fw/queue_memory.h"
#include "cx7/fw/rmpc.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
using prm::get;
using prm::set;

enum class WqType : std::uint8_t { kLinkedList = 0, kCyclic = 1 };
enum class State : std::uint8_t { kReset = 0, kReady = 1, kError = 3 };

Reply check_context(const Client& client, const std::byte* context) {
  if (!client.pds.contains(get(context, rmpc::pd))) {
    return refuse(CommandStatus::kBadResource, "no such PD in this context");
  }
  if (static_cast<State>(get(context, rmpc::state)) != State::kReady) {
    return refuse(CommandStatus::kBadParameter, "state: only ready (1) is modelled");
  }
  const auto type = get(context, rmpc::wq_type);
  if (type > static_cast<std::uint32_t>(WqType::kCyclic)) {
    return refuse(CommandStatus::kBadParameter, "wq_type: striding queues are not modelled");
  }
  const bool cyclic = static_cast<WqType>(type) == WqType::kCyclic;
  if (get(context, rmpc::basic_cyclic) == 1 && !cyclic) {
    return refuse(CommandStatus::kBadParameter, "basic_cyclic_rcv_wqe: the queue is not cyclic");
  }
  if (get(context, rmpc::log_size) > kLogMaxRqEntries) return refuse(CommandStatus::kExceedLimit, "log_wq_sz");
  const auto stride = 1u << get(context, rmpc::log_stride);
  if (stride < kMinSrqSlotBytes || stride > kMaxRecvWqeBytes) {
    return refuse(CommandStatus::kExceedLimit, "log_wq_stride");
  }
  return {};
}

QueuePlace place_of(const std::byte* context) {
  return {.umem_valid = get(context, rmpc::wq_umem_valid) == 1,
          .dbrec_umem_valid = get(context, rmpc::dbr_umem_valid) == 1,
          .umems = {get(context, rmpc::wq_umem_id), get(context, rmpc::dbr_umem_id)},
          .offset = get(context, rmpc::wq_umem_offset),
          .bytes = std::uint64_t{1} << (get(context, rmpc::log_size) + get(context, rmpc::log_stride)),
          .dbrec_offset = get(context, rmpc::dbr_addr)};
}

Srq* find_rmp(const Client& client, const std::byte* in) {
  const auto rmpn = get(in, prm::destroy::object);
  return client.rmps.contains(rmpn) ? client.device.srqs.find(rmpn) : nullptr;
}

constexpr std::string_view kNoRmp = "no such RMP in this context";

}  // namespace

Reply create_rmp(Client& client, const std::byte* in, std::byte* out) {
  const std::byte* const context = in + create_rmp_at::kContext;
  if (const auto reply = check_context(client, context); !reply.ok()) return reply;
  const auto place = place_of(context);
  QueueAddresses at;
  if (const auto reply = locate(client, place, at); !reply.ok()) return reply;
  Srq srq;
  srq.srqn = client.device.srqs.next_number();
  if (srq.srqn == 0) return refuse(CommandStatus::kExceedLimit, "no RMP left");
  srq.pdn = get(context, rmpc::pd);
  srq.base = at.ring;
  srq.entries = 1u << get(context, rmpc::log_size);
  srq.stride_bytes = 1u << get(context, rmpc::log_stride);
  srq.cyclic = static_cast<WqType>(get(context, rmpc::wq_type)) == WqType::kCyclic;
  if (get(context, rmpc::basic_cyclic) == 1) srq.header_bytes = 0;
  srq.dbrec = reinterpret_cast<wire::be32*>(at.dbrec);
  client.engine.add_srq(client.device, srq);
  client.srqs.insert(srq.srqn);
  client.rmps.emplace(srq.srqn, place.umems);
  client.use(place.umems, +1);
  set(out, prm::out::object, srq.srqn);
  return {};
}

Reply destroy_rmp(Client& client, const std::byte* in, std::byte*) {
  Srq* const srq = find_rmp(client, in);
  if (srq == nullptr) return refuse(CommandStatus::kBadResource, kNoRmp);
  if (srq->users != 0) return refuse(CommandStatus::kResourceBusy, "RMP has QPs");
  client.use(client.rmps.at(srq->srqn), -1);
  client.rmps.erase(srq->srqn);
  client.srqs.erase(srq->srqn);
  client.engine.remove_srq(client.device, *srq);
  return {};
}

Reply query_rmp(Client& client, const std::byte* in, std::byte* out) {
  const Srq* const srq = find_rmp(client, in);
  if (srq == nullptr) return refuse(CommandStatus::kBadResource, kNoRmp);
  std::byte* const context = out + create_rmp_at::kContext;
  set(context, rmpc::state, static_cast<std::uint32_t>(srq->dead ? State::kError : State::kReady));
  set(context, rmpc::basic_cyclic, srq->header_bytes == 0 ? 1 : 0);
  set(context, rmpc::wq_type, static_cast<std::uint32_t>(srq->cyclic ? WqType::kCyclic : WqType::kLinkedList));
  set(context, rmpc::pd, srq->pdn);
  set(context, rmpc::log_stride, log2_of(srq->stride_bytes));
  set(context, rmpc::log_size, log2_of(srq->entries));
  set(context, rmpc::hw_counter, srq->taken);
  return {};
}

}  // namespace marrow::cx7::fw
