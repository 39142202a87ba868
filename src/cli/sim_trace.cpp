// SPDX-License-Identifier: Apache-2.0
// See sim_trace.h. A queue pair is a thread of its process. On it packets are slices, joined by arrows from where they
// were sent to where they arrived; a WQE is an asynchronous span from its doorbell until it is retired, and inside that
// another from its first packet on. Facts: the format [prm: "Trace Event Format", Google].
#include "cli/sim_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "cli/trace_names.h"

namespace marrow::cli {
namespace {

using cx7::TraceEvent;
using Kind = TraceEvent::Kind;

struct Event {
  const cx7::BoardProcess* process = nullptr;
  TraceEvent what;
};

/// A WQE that was fetched and is not retired.
struct Wqe {
  std::uint64_t id = 0;
  std::uint16_t index = 0;
  std::uint32_t first_psn = 0;
  std::string_view name;
  bool in_flight = false;
};

struct Doorbell {
  std::uint16_t end = 0;  // it announced the WQEs before this index
  std::uint64_t time_ns = 0;
};

struct Queue {
  std::deque<Doorbell> doorbells;
  std::deque<Wqe> wqes;
};

/// A place in the trace: when, and on which thread.
struct Place {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = 0;
  std::uint32_t thread = 0;
};

class Writer {
 public:
  explicit Writer(std::uint64_t begin) : begin_(begin) {}

  void add(const Event& event);
  /// What nobody ended, ends where the trace does.
  void finish(std::uint64_t end);
  [[nodiscard]] std::string text(std::uint64_t lost) const;

 private:
  void put(char phase, std::string_view name, const Place& place, std::string_view more);
  void span(char phase, std::string_view name, const Place& place, const Wqe& wqe);
  void packet(const Place& place, const TraceEvent& event);
  void on_fetch(Queue& queue, const Place& place, const TraceEvent& event);
  void on_sent(Queue& queue, const Place& place, const TraceEvent& event);
  void on_received(const Place& place, const TraceEvent& event);
  void on_retired(Queue& queue, const Place& place, const TraceEvent& event);
  void introduce(const Event& event, const Place& place);

  using PacketKey = std::tuple<std::uint8_t, std::uint32_t, std::uint32_t, std::uint8_t>;  // device, QPN, PSN, opcode
  std::uint64_t begin_;
  std::uint64_t last_id_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Queue> queues_;  // by process and thread
  std::map<PacketKey, Place> sent_;                                  // and not yet arrived
  std::vector<std::string> lines_;
};

Place place_of(const Event& event) {
  return {event.what.time_ns, event.process->pid.load(std::memory_order_relaxed),
          std::uint32_t{event.what.device} << 24 | event.what.qpn};
}

void Writer::put(char phase, std::string_view name, const Place& place, std::string_view more) {
  const std::uint64_t since = place.time_ns - std::min(begin_, place.time_ns);
  lines_.push_back(fmt::format(R"({{"ph":"{}","name":"{}","ts":{}.{:03},"pid":{},"tid":{}{}}})", phase, name,
                               since / 1000, since % 1000, place.pid, place.thread, more));
}

void Writer::span(char phase, std::string_view name, const Place& place, const Wqe& wqe) {
  put(phase, name, place,
      fmt::format(R"(,"cat":"wqe","id":"{}.{}","args":{{"index":{}}})", place.pid, wqe.id, wqe.index));
}

void Writer::introduce(const Event& event, const Place& place) {
  if (queues_.contains({place.pid, place.thread})) return;
  std::string command(event.process->command.data(),
                      ::strnlen(event.process->command.data(), event.process->command.size()));
  const auto quoted = nlohmann::json(fmt::format("{} {}", command, place.pid))
                          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  put('M', "process_name", place, fmt::format(R"(,"args":{{"name":{}}})", quoted));
  put('M', "thread_name", place,
      fmt::format(R"(,"args":{{"name":"mlx5_sim{} QP {:#08x}"}})", event.what.device, event.what.qpn));
}

void Writer::add(const Event& event) {
  const Place place = place_of(event);
  introduce(event, place);
  Queue& queue = queues_[{place.pid, place.thread}];
  const TraceEvent& what = event.what;
  switch (what.kind) {
    case Kind::kDoorbell:
      queue.doorbells.push_back({static_cast<std::uint16_t>(what.b), what.time_ns});
      return put('i', "doorbell", place, fmt::format(R"(,"s":"t","args":{{"index":{},"dbrec":{}}})", what.b, what.c));
    case Kind::kFetch:
      return on_fetch(queue, place, what);
    case Kind::kPacketSent:
      return on_sent(queue, place, what);
    case Kind::kAckSent:
      return packet(place, what);
    case Kind::kPacketReceived:
      return on_received(place, what);
    case Kind::kRetired:
      return on_retired(queue, place, what);
    case Kind::kCqe:
      return put('i', "CQE", place,
                 fmt::format(R"(,"s":"t","args":{{"cqn":{},"wqe":{},"syndrome":{}}})", what.a, what.b, what.c & 0xff));
    case Kind::kRemoteWrite:
      return put('i', "written", place,
                 fmt::format(R"(,"s":"t","args":{{"address":"{:#x}","bytes":{}}})", what.b, what.c));
    case Kind::kAckReceived:
      return;  // it arrived as a packet
  }
}

/// A slice of one nanosecond: the least that an arrow can begin or end in.
void Writer::packet(const Place& place, const TraceEvent& event) {
  put('X', packet_name(event.opcode), place,
      fmt::format(R"(,"dur":0.001,"cat":"packet","args":{{"psn":{},"to":"{:#x}"}})", event.b, event.a));
  if (event.kind != Kind::kPacketReceived) sent_[{event.peer, event.a, event.b, event.opcode}] = place;
}

void Writer::on_fetch(Queue& queue, const Place& place, const TraceEvent& event) {
  const auto index = static_cast<std::uint16_t>(event.b);
  const auto is_past = [index](const Doorbell& d) { return static_cast<std::int16_t>(d.end - index) <= 0; };
  while (!queue.doorbells.empty() && is_past(queue.doorbells.front())) queue.doorbells.pop_front();
  queue.wqes.push_back({.id = ++last_id_,
                        .index = index,
                        .first_psn = static_cast<std::uint32_t>(event.c >> 32),
                        .name = wqe_name(static_cast<std::uint8_t>(event.c >> 8))});
  Place begin = place;
  if (!queue.doorbells.empty()) begin.time_ns = queue.doorbells.front().time_ns;
  span('b', queue.wqes.back().name, begin, queue.wqes.back());
  span('n', "fetch", place, queue.wqes.back());
}

void Writer::on_sent(Queue& queue, const Place& place, const TraceEvent& event) {
  packet(place, event);
  const auto psn = static_cast<std::uint32_t>(event.b);
  const auto began = [psn](const Wqe& wqe) { return cx7::psn_distance(psn, wqe.first_psn) >= 0; };
  const auto wqe = std::find_if(queue.wqes.rbegin(), queue.wqes.rend(), began);
  if (wqe == queue.wqes.rend() || wqe->in_flight) return;
  wqe->in_flight = true;
  span('b', "in flight", place, *wqe);
}

void Writer::on_received(const Place& place, const TraceEvent& event) {
  packet(place, event);
  const auto from = sent_.find({event.device, event.qpn, event.b, event.opcode});
  if (from == sent_.end()) return;
  const std::uint64_t id = ++last_id_;
  put('s', "packet", from->second, fmt::format(R"(,"cat":"packet","id":{})", id));
  put('f', "packet", place, fmt::format(R"(,"bp":"e","cat":"packet","id":{})", id));
  sent_.erase(from);
}

void Writer::on_retired(Queue& queue, const Place& place, const TraceEvent& event) {
  const auto index = static_cast<std::uint16_t>(event.b);
  const auto wqe = std::ranges::find(queue.wqes, index, &Wqe::index);
  if (wqe == queue.wqes.end()) return;  // its beginning is not kept any more
  if (wqe->in_flight) span('e', "in flight", place, *wqe);
  span('e', wqe->name, place, *wqe);
  queue.wqes.erase(wqe);
}

void Writer::finish(std::uint64_t end) {
  for (const auto& [name, queue] : queues_) {
    const Place place{end, name.first, name.second};
    for (const Wqe& wqe : queue.wqes) {
      if (wqe.in_flight) span('e', "in flight", place, wqe);
      span('e', wqe.name, place, wqe);
    }
  }
}

std::string Writer::text(std::uint64_t lost) const {
  return fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"nic":"cx7-sim, a software NIC: these times are not a NIC's",)"
      R"("events_not_kept":{}}},"traceEvents":[)"
      "\n{}\n]}}\n",
      lost, fmt::join(lines_, ",\n"));
}

}  // namespace

std::string trace_json(const SimBoard& board) {
  std::vector<Event> events;
  std::uint64_t lost = 0;
  for (const auto* process : board.processes()) {
    const auto kept = board.events(*process);
    lost += process->trace.count.load() - std::min<std::uint64_t>(process->trace.count.load(), kept.size());
    for (const TraceEvent& event : kept) events.push_back({process, event});
  }
  std::ranges::stable_sort(events, {}, [](const Event& event) { return event.what.time_ns; });
  Writer writer(events.empty() ? 0 : events.front().what.time_ns);
  for (const Event& event : events) writer.add(event);
  if (!events.empty()) writer.finish(events.back().what.time_ns);
  return writer.text(lost);
}

}  // namespace marrow::cli
