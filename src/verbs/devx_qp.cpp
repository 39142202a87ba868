// SPDX-License-Identifier: Apache-2.0
// See devx_qp.h.
#include "verbs/devx_qp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <span>
#include <vector>

#include "marrow/wire/dc.h"
#include "util/error.h"
#include "util/ring.h"
#include "verbs/devx.h"
#include "verbs/mailboxes.h"
#include "verbs/path.h"

namespace marrow::verbs {
namespace {

constexpr std::uint32_t kMostWqeWqebbs = 4;   // of one WQE of ours
constexpr std::uint32_t kFewestReceives = 4;  // so that the SQ behind them begins on a WQEBB

[[noreturn]] void refuse_option(const Context& context, const std::string& sentence) {
  throw util::Error(fmt::format("{}: {}", context.name(), sentence), util::ErrorKind::kUsage);
}

std::uint32_t most_receives(const Capabilities& limits) {
  return std::min(1u << limits.log_max_sq_wqebbs, wire::kMaxSqWqebbs);  // one limit for all rings of a QP
}

DevxQpOptions checked(const Context& context, DevxQpOptions options) {
  const Capabilities& limits = context.capabilities();
  const std::uint32_t most_wqebbs = std::min(1u << limits.log_max_sq_wqebbs, wire::kMaxSqWqebbs);
  if (!util::is_pow2(options.sq_wqebbs) || options.sq_wqebbs > most_wqebbs) {
    refuse_option(context,
                  fmt::format("an SQ of {} WQEBBs is not a power of two up to {}", options.sq_wqebbs, most_wqebbs));
  }
  if (options.cqes == 0) options.cqes = options.sq_wqebbs;
  const std::uint64_t most_cqes = std::uint64_t{1} << limits.log_max_cqes;
  if (!util::is_pow2(options.cqes) || options.cqes > most_cqes) {
    refuse_option(context, fmt::format("a CQ of {} entries is not a power of two up to {}", options.cqes, most_cqes));
  }
  if (options.cq_layout == gda::CqLayout::kRing && options.cqes < options.sq_wqebbs) {
    refuse_option(context, fmt::format("a CQ of {} entries is too small for an SQ of {} WQEBBs", options.cqes,
                                       options.sq_wqebbs));
  }
  const std::uint32_t receives = options.receives;
  if (receives != 0 && (!util::is_pow2(receives) || receives < kFewestReceives || receives > most_receives(limits))) {
    refuse_option(context, fmt::format("an RQ of {} receives is not a power of two from {} to {}", receives,
                                       kFewestReceives, most_receives(limits)));
  }
  if (receives != 0 && options.service == prm::ServiceType::kDci) refuse_option(context, "a DCI has no RQ");
  if (options.service == prm::ServiceType::kDci && !limits.dc) refuse_option(context, "the device has no DC transport");
  if (options.overrun == CqOverrun::kIgnore && !limits.cq_overrun_ignore) {
    refuse_option(context, "the device cannot ignore CQ overruns");
  }
  return options;
}

std::uint32_t event_queue(const Context& context) {
  std::uint32_t eqn = 0;
  const int error = mlx5dv_devx_query_eqn(context.get(), 0, &eqn);
  if (error != 0) throw util::system_error(fmt::format("ask {} for its event queue", context.name()), errno);
  return eqn;
}

std::uint32_t log2_of(std::uint32_t power) {
  return static_cast<std::uint32_t>(std::countr_zero(power));
}

}  // namespace

std::string describe(const QpSnapshot& snapshot) {
  return fmt::format("{}, peer QP {:#x}, next PSN {:#x}, SQ executed up to {}, announced up to {}",
                     state_name(snapshot.state), snapshot.remote_qpn, snapshot.next_send_psn,
                     snapshot.hw_sq_wqebb_counter, snapshot.sw_sq_wqebb_counter);
}

// The buffers come zeroed. The CQ must be full of invalid entries before the device can write the first.
DevxQp::DevxQp(const Context& context, const Pd& pd, const Options& options)
    : context_(&context),
      pd_(&pd),
      options_(checked(context, options)),
      sq_memory_(take(options_.memory.sq, rq_bytes() + std::size_t{options_.sq_wqebbs} * wire::kWqebbBytes)),
      cq_memory_(take(options_.memory.cq, std::size_t{options_.cqes} * wire::kCqeBytes)),
      record_memory_(take(options_.memory.dbrec, sizeof(Records))),
      counter_memory_(take(options_.memory.counters, sizeof(Counters))),
      sq_umem_(context, *sq_memory_),
      cq_umem_(context, *cq_memory_),
      record_umem_(context, *record_memory_),
      uar_(context, options_.uar) {
  const Counters counters;
  counter_memory_->write(0, std::as_bytes(std::span(&counters, 1)));
  cq_memory_->fill(std::byte{wire::kFreshCqeByte});
  create_cq();
  if (options_.receives != 0) create_receive_cq();
  create_qp();
  address_ = make_address(context, qpn_);
}

void DevxQp::create_cq() {
  const auto in = verbs::create_cq({.log_cqes = log2_of(options_.cqes),
                                    .uar_page = uar_.page(),
                                    .eqn = event_queue(*context_),
                                    .umem_id = cq_umem_.id(),
                                    .dbrec_umem_id = record_umem_.id(),
                                    .dbrec_offset = offsetof(Records, cq),
                                    .collapsed = options_.cq_layout == gda::CqLayout::kCollapsed,
                                    .overrun_ignore = options_.overrun == CqOverrun::kIgnore});
  Mailbox<prm::create_cq::kOutBytes> out;
  cq_ = create_object(context_->get(), in.bytes, out.bytes);
  cqn_ = out.get(prm::out::object);
}

// All that an immediate needs of a receive WQE is that there is one: each is an empty list.
void DevxQp::create_receive_cq() {
  const std::vector<wire::DataSegment> empty(options_.receives,
                                             wire::DataSegment{.lkey = wire::be32(wire::kInvalidLkey)});
  sq_memory_->write(0, std::as_bytes(std::span(empty)));
  receive_cq_memory_ = take(options_.memory.cq, std::size_t{options_.receives} * wire::kCqeBytes);
  receive_cq_memory_->fill(std::byte{wire::kFreshCqeByte});
  receive_cq_umem_.emplace(*context_, *receive_cq_memory_);
  const auto in = verbs::create_cq({.log_cqes = log2_of(options_.receives),
                                    .uar_page = uar_.page(),
                                    .eqn = event_queue(*context_),
                                    .umem_id = receive_cq_umem_->id(),
                                    .dbrec_umem_id = record_umem_.id(),
                                    .dbrec_offset = offsetof(Records, receive_cq),
                                    .overrun_ignore = true});
  Mailbox<prm::create_cq::kOutBytes> out;
  receive_cq_ = create_object(context_->get(), in.bytes, out.bytes);
  receive_cqn_ = out.get(prm::out::object);
}

void DevxQp::create_qp() {
  const auto in = verbs::create_qp({.service = options_.service,
                                    .pdn = pd_->number(),
                                    .log_sq_wqebbs = log2_of(options_.sq_wqebbs),
                                    .uar_page = uar_.page(),
                                    .cqn = cqn_,
                                    .umem_id = sq_umem_.id(),
                                    .dbrec_umem_id = record_umem_.id(),
                                    .dbrec_offset = offsetof(Records, qp),
                                    .timestamp_format = context_->capabilities().timestamp_format,
                                    .user_index = options_.user_index,
                                    .rq = {.any = options_.receives != 0,
                                           .log_wqes = options_.receives != 0 ? log2_of(options_.receives) : 0,
                                           .cqn = receive_cqn_}});
  Mailbox<prm::create_qp::kOutBytes> out;
  qp_ = create_object(context_->get(), in.bytes, out.bytes);
  qpn_ = out.get(prm::out::object);
}

gda::Qp DevxQp::handle() const {
  const Capabilities& limits = context_->capabilities();
  const auto most_bytes = is_dci() ? limits.max_send_wqe_bytes_dc : limits.max_send_wqe_bytes;
  const std::uint32_t wqe_wqebbs = std::min<std::uint32_t>(most_bytes / wire::kWqebbBytes, kMostWqeWqebbs);
  gda::Qp qp;
  qp.sq = sq_memory_->data() + rq_bytes();
  qp.sq_wqebbs = options_.sq_wqebbs;
  qp.qpn = qpn_;
  qp.dbrec_send =
      reinterpret_cast<wire::be32*>(record_memory_->data() + offsetof(Records, qp) + offsetof(wire::QpDbrec, send));
  qp.doorbell = uar_.doorbell();
  qp.cq = cq_memory_->data();
  qp.cq_consumer =
      reinterpret_cast<wire::be32*>(record_memory_->data() + offsetof(Records, cq) + offsetof(wire::CqDbrec, consumer));
  qp.counters = reinterpret_cast<gda::QpCounters*>(counter_memory_->data());
  qp.timeout_ns = static_cast<std::uint64_t>(options_.timeout.count());
  qp.max_inline_bytes = wire::max_inline_write(std::max(1u, std::min(wqe_wqebbs, options_.sq_wqebbs)));
  if (is_dci()) qp.max_inline_bytes -= std::min<std::uint32_t>(qp.max_inline_bytes, sizeof(wire::AddressVector));
  qp.log_cqes = static_cast<std::uint8_t>(log2_of(options_.cqes));
  qp.cq_layout = options_.cq_layout;
  qp.doorbell_mapping = uar_.mapping();
  return qp;
}

gda::ReceiveRing DevxQp::receive_ring() const {
  gda::ReceiveRing ring;
  if (options_.receives == 0) return ring;
  ring.cq = receive_cq_memory_->data();
  ring.dbrec_recv =
      reinterpret_cast<wire::be32*>(record_memory_->data() + offsetof(Records, qp) + offsetof(wire::QpDbrec, receive));
  ring.counters = reinterpret_cast<gda::ReceiveCounters*>(counter_memory_->data() + sizeof(gda::QpCounters));
  ring.wqes = options_.receives;
  ring.timeout_ns = static_cast<std::uint64_t>(options_.timeout.count());
  return ring;
}

std::string DevxQp::describe_memory() const {
  struct Part {
    const char* name;
    const Memory& memory;
    const Umem& umem;
  };
  const std::array parts{Part{"SQ", *sq_memory_, sq_umem_}, Part{"CQ", *cq_memory_, cq_umem_},
                         Part{"dbrec", *record_memory_, record_umem_}};
  std::string text;
  std::string last;
  for (const auto& part : parts) {
    const auto where = fmt::format("in {} by {}", part.memory.kind(), verbs::name_of(part.umem.registration()));
    if (!last.empty() && where != last) text += " " + last;
    if (!text.empty()) text += ", ";
    text += part.name;
    last = where;
  }
  return text + " " + last;
}

void DevxQp::modify(std::span<const std::byte> in) {
  Mailbox<prm::modify_qp::kOutBytes> out;
  modify_object(qp_.get(), in, out.bytes);
}

void DevxQp::start() {
  if (!is_dci()) refuse_option(*context_, "start() is for a DCI; an RC queue is connected");
  const Port& port = context_->port();
  const auto log_reads = std::min(context_->capabilities().log_max_reads_issued_dc, address_.log_reads);
  const DciParameters dci{.qpn = qpn_,
                          .port = port.number,
                          .key = options_.dc_key,
                          .link = port.link,
                          .mtu = port.mtu,
                          .log_reads = log_reads,
                          .psn = address_.psn,
                          .behaviour = options_.behaviour};
  for (const ModifyMailbox& in : {dci_rst2init(dci), dci_init2rtr(dci), dci_rtr2rts(dci)}) modify(in.bytes);
}

void DevxQp::connect(const Address& peer) {
  if (is_dci()) refuse_option(*context_, "a DCI is not connected; start() it");
  const Connection connection = resolve(*context_, *pd_, address_, peer, options_.behaviour);
  const Access access{.atomics = context_->capabilities().atomic};
  for (const ModifyMailbox& in : {rst2init(qpn_, connection.port, access), init2rtr(connection), rtr2rts(connection)}) {
    modify(in.bytes);
  }
}

void DevxQp::to_error() {
  modify(qp_to_error(qpn_).bytes);
}

QpSnapshot DevxQp::query() const {
  const auto in = query_qp(qpn_);
  Mailbox<prm::query_qp::kOutBytes> out;
  query_object(qp_.get(), in.bytes, out.bytes);
  const auto get = [&](prm::Field field) { return out.get(prm::query_qp::kContext, field); };
  return {.state = static_cast<prm::QpState>(get(prm::qpc::state)),
          .remote_qpn = get(prm::qpc::remote_qpn),
          .next_send_psn = get(prm::qpc::next_send_psn),
          .hw_sq_wqebb_counter = static_cast<std::uint16_t>(get(prm::qpc::hw_sq_wqebb_counter)),
          .sw_sq_wqebb_counter = static_cast<std::uint16_t>(get(prm::qpc::sw_sq_wqebb_counter))};
}

}  // namespace marrow::verbs
