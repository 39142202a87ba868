// SPDX-License-Identifier: Apache-2.0
// CREATE_CQ, DESTROY_CQ, QUERY_CQ.
// Facts: CQ context fields, status and state codes [prm]. The entries' initial bytes are the application's business.
#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/queue_memory.h"
#include "cx7/hca/memory.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
namespace cqc = wire::prm::cqc;
using prm::get;
using prm::set;

constexpr std::uint32_t kStatusOverflow = 0x9;
constexpr std::uint32_t kStateFired = 0xa;

QueuePlace place_of(const std::byte* in, std::uint32_t log_entries, std::uint32_t entry_bytes) {
  const std::byte* const context = in + prm::create_cq::kContext;
  return {.umem_valid = get(in, prm::create_cq::umem_valid) == 1,
          .dbrec_umem_valid = get(context, cqc::dbr_umem_valid) == 1,
          .umems = {get(in, prm::create_cq::umem_id), get(context, cqc::dbr_umem_id)},
          .offset = get(in, prm::create_cq::umem_offset),
          .bytes = std::uint64_t{entry_bytes} << log_entries,
          .dbrec_offset = get(context, cqc::dbr_addr)};
}

Reply check_context(const Client& client, const std::byte* context) {
  if (get(context, cqc::log_size) > kLogMaxCqEntries)
    return refuse(CommandStatus::kExceedLimit, "log_cq_size too large");
  if (get(context, cqc::cqe_size) > 1) return refuse(CommandStatus::kBadParameter, "cqe_sz not modelled");
  if (get(context, cqc::eqn) != kEqn) return refuse(CommandStatus::kBadResource, "no such EQ");
  if (!client.uars.contains(get(context, cqc::uar_page))) {
    return refuse(CommandStatus::kBadResource, "no such UAR page in this context");
  }
  return {};
}

std::uint32_t consumer_index(const Cq& cq) {
  std::uint32_t word = 0;
  if (cq.dbrec == nullptr || !dma::load32(&cq.dbrec->consumer, word)) return 0;
  return wire::swap_bytes(word) & 0xffffff;
}

}  // namespace

Reply create_cq(Client& client, const std::byte* in, std::byte* out) {
  const std::byte* const context = in + prm::create_cq::kContext;
  if (const auto reply = check_context(client, context); !reply.ok()) return reply;
  Cq cq;
  cq.log_entries = get(context, cqc::log_size);
  cq.entry_bytes = 64u << get(context, cqc::cqe_size);
  cq.collapsed = get(context, cqc::collapsed) == 1;
  cq.overrun_ignore = get(context, cqc::overrun_ignore) == 1;
  cq.uar_page = get(context, cqc::uar_page);
  const auto place = place_of(in, cq.log_entries, cq.entry_bytes);
  QueueAddresses at;
  if (const auto reply = locate(client, place, at); !reply.ok()) return reply;
  cq.entries = at.ring;
  cq.dbrec = reinterpret_cast<wire::CqDbrec*>(at.dbrec);
  cq.cqn = client.device.cqs.next_number();
  if (cq.cqn == 0) return refuse(CommandStatus::kExceedLimit, "no CQ left");
  const auto cqn = client.engine.add_cq(client.device, cq).cqn;
  client.cqs.emplace(cqn, place.umems);
  client.use(place.umems, +1);
  set(out, prm::out::object, cqn);
  return {};
}

Reply destroy_cq(Client& client, const std::byte* in, std::byte*) {
  Cq* const cq = client.find_cq(get(in, prm::destroy::object));
  if (cq == nullptr) return refuse(CommandStatus::kBadResource, "no such CQ in this context");
  if (cq->users != 0) return refuse(CommandStatus::kResourceBusy, "CQ has QPs");
  client.use(client.cqs.at(cq->cqn), -1);
  client.cqs.erase(cq->cqn);
  client.engine.remove_cq(client.device, *cq);
  return {};
}

Reply query_cq(Client& client, const std::byte* in, std::byte* out) {
  const Cq* const cq = client.find_cq(get(in, prm::query_cq::cqn));
  if (cq == nullptr) return refuse(CommandStatus::kBadResource, "no such CQ in this context");
  std::byte* const context = out + prm::query_cq::kContext;
  set(context, cqc::status, cq->dead ? kStatusOverflow : 0);
  set(context, cqc::state, kStateFired);
  set(context, cqc::cqe_size, cq->entry_bytes == 128 ? 1 : 0);
  set(context, cqc::collapsed, cq->collapsed ? 1 : 0);
  set(context, cqc::overrun_ignore, cq->overrun_ignore ? 1 : 0);
  set(context, cqc::log_size, cq->log_entries);
  set(context, cqc::uar_page, cq->uar_page);
  set(context, cqc::eqn, kEqn);
  set(context, cqc::consumer_counter, consumer_index(*cq));
  set(context, cqc::producer_counter, static_cast<std::uint32_t>(cq->pi & 0xffffff));
  return {};
}

}  // namespace marrow::cx7::fw
