// SPDX-License-Identifier: Apache-2.0
// See litmus.h, and docs/ordering-litmus.md for what is counted. Before anything is counted, one lap of the ring is
// posted with system scope, so that whatever the NIC reads too early is an older WQE of ours and no empty memory.
#include "experiments/ordering_litmus/litmus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "experiments/ordering_litmus/litmus_slots.h"
#include "experiments/ordering_litmus/lookout.h"
#include "marrow/gda/dump.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

constexpr std::size_t kSlotsAt = verbs::Memory::kAlign;  // behind what every bench has in its buffers
constexpr std::uint64_t kLoopPuts = 65536;               // a loop; as many slots
constexpr std::uint64_t kBatchedMore = 10;               // a batched race has so many times the puts
constexpr std::uint64_t kAwaitedShare = 8;               // the awaited loop has one submit for so many puts of the race
constexpr std::uint32_t kSources = 256;                  // two laps of the SQ
constexpr const char* kOfNicStale = "strict_stale_wqe_index";
constexpr const char* kOfNicLateRecord = "strict_doorbell_ahead_of_dbrec";

struct Totals {
  std::uint64_t puts = 0;
  std::uint64_t stale = 0;
  Sightings lookout;
  std::uint64_t late_records = 0;
  WrongSlots wrong;
  std::uint64_t cqes = 0;
  std::uint64_t early = 0;

  [[nodiscard]] std::uint64_t wrong_payloads() const { return wrong.old + wrong.torn; }
  [[nodiscard]] bool clean() const { return stale + lookout.stale + wrong_payloads() + early == 0; }
};

/// The recipes that promise that nothing is ever seen: system scope anywhere; on a host lane all but the control.
bool promises(const LitmusRow& row, const Context& context) {
  const bool system = row.policy == gda::SystemFence::name || row.policy == gda::SystemReleaseStore::name;
  return system || (context.gpu == nullptr && row.policy != gda::NoOrder::name);
}

class Litmus {
 public:
  Litmus(const Context& context, const LitmusRow& row, const LitmusSetting& setting)
      : context_(context), row_(row), setting_(setting) {}

  /// Not counted.
  void fill_the_ring() {
    (void)loop("sys-fence", {.awaits = true, .puts = setting_.qp.sq_wqebbs});
    totals_ = {};
    issue_ns_.clear();
  }
  void race(std::uint64_t puts) { all_loops({.awaits = false, .puts = puts}); }
  void await(std::uint64_t puts) { all_loops({.awaits = true, .puts = puts}); }

  [[nodiscard]] const Totals& totals() const { return totals_; }
  /// Why the queue took no more puts; empty if it took them all.
  [[nodiscard]] const std::string& ended_by() const { return ended_by_; }
  [[nodiscard]] std::span<const double> issue_ns() const { return issue_ns_; }

 private:
  struct Loop {
    bool awaits = false;
    std::uint64_t puts = 0;
  };

  void all_loops(const Loop& all) {
    for (std::uint64_t left = all.puts - all.puts % row_.batch;
         left > 0 && ended_by_.empty() && !context_.stopping();) {
      const auto puts = std::min(left, kLoopPuts);
      if (loop(row_.policy, {all.awaits, puts}) < puts) return;
      left -= puts;
    }
  }

  [[nodiscard]] std::uint64_t counted_by_nic(const char* name) const {
    return context_.nic_count ? context_.nic_count(name) : 0;
  }

  /// \returns puts done.
  std::uint64_t loop(std::string_view ordering, const Loop& loop) {
    const auto stale = counted_by_nic(kOfNicStale);
    const auto late = counted_by_nic(kOfNicLateRecord);
    const auto job = job_of(loop);
    std::optional<Lookout> lookout;
    if (setting_.lookout) lookout.emplace(setting_.bench.a().queue.handle());
    auto pass = setting_.lane(ordering, job);
    if (lookout) add(lookout->stop());
    const auto& report = pass.report;
    const auto stale_now = counted_by_nic(kOfNicStale) - stale;
    totals_.stale += stale_now;
    totals_.late_records += counted_by_nic(kOfNicLateRecord) - late;
    totals_.puts += report.puts;
    totals_.cqes += report.cqes;
    totals_.early += report.early;
    issue_ns_.insert(issue_ns_.end(), pass.issue_ns.begin(), pass.issue_ns.end());
    next_ += report.puts;
    if (report.result.ok()) {
      check(job, report.puts);
    } else {
      end(report, stale_now);
    }
    return report.puts;
  }

  /// A stale WQE may name another queue or an opcode of long ago, and then it ends the queue. From a recipe that
  /// promises nothing that is an answer, and what was posted behind it was not executed: its payloads are not counted.
  void end(const LitmusReport& report, std::uint64_t stale_now) {
    if (stale_now == 0 || promises(row_, context_)) fail(report);
    ended_by_ = gda::format_result(report.result);
  }

  void add(const Sightings& seen) {
    totals_.lookout.looked_at += seen.looked_at;
    totals_.lookout.stale += seen.stale;
  }

  [[nodiscard]] LitmusJob job_of(const Loop& loop) const {
    const auto& bench = setting_.bench;
    return {.qp = setting_.qp,
            .to = bench.b().remote() + kSlotsAt,
            .far = bench.b().data() + kSlotsAt,
            .from = bench.a().local() + kSourceAt,
            .sources = kSources,
            .bytes = row_.bytes,
            .batch = row_.batch,
            .awaits = loop.awaits,
            .first = next_,
            .puts = loop.puts};
  }

  [[noreturn]] void fail(const LitmusReport& report) const {
    throw util::Error(fmt::format("after {} puts, {} of them stale, one did not complete: {}\n{}", totals_.puts,
                                  totals_.stale, gda::format_result(report.result), gda::format_dump(report.dump)));
  }

  /// Once more a little later where something is missing: an acknowledged put may still be on its way to memory.
  void check(const LitmusJob& job, std::uint64_t puts) {
    std::vector<std::uint64_t> words(puts * job.bytes / 8);
    WrongSlots wrong;
    for (const auto pause : {std::chrono::milliseconds(0), std::chrono::milliseconds(20)}) {
      std::this_thread::sleep_for(pause);
      setting_.bench.b().memory->read(kSlotsAt, std::as_writable_bytes(std::span(words)));
      wrong = wrong_slots(words, job.bytes / 8, job.first);
      if (wrong.old + wrong.torn == 0) break;
    }
    totals_.wrong.old += wrong.old;
    totals_.wrong.torn += wrong.torn;
  }

  const Context& context_;
  const LitmusRow& row_;
  const LitmusSetting& setting_;
  Totals totals_;
  std::vector<double> issue_ns_;
  std::uint64_t next_ = 0;  // number of the next put
  std::string ended_by_;
};

/// How often something was seen, of so many tries; or, where it never was, how often it may happen all the same: with
/// 95 % confidence at most 3 / tries. The tries stand where samples stand: the number rests on them.
struct Seen {
  const char* name;
  std::uint64_t count;
  std::uint64_t tries;
};
void add_seen(measure::Record& record, const Seen& seen, measure::Kind kind) {
  constexpr std::uint64_t kRuleOfThree = 3;
  constexpr double kMillion = 1e6;
  if (seen.tries == 0) return;
  const auto counted = seen.count > 0 ? seen.count : kRuleOfThree;
  const std::array rate{static_cast<double>(counted) / static_cast<double>(seen.tries) * kMillion};
  auto summary = measure::summarise(rate);
  summary.n = seen.tries;
  const std::string name = seen.count > 0 ? seen.name : fmt::format("{}, at most", seen.name);
  record.metrics.push_back({name, "per million", kind, summary, {}});
}

std::string sentence_of(const LitmusRow& row, const Totals& totals) {
  const auto lookout = totals.lookout.looked_at == 0
                           ? std::string()
                           : fmt::format(" (the lookout: {} of {})", totals.lookout.stale, totals.lookout.looked_at);
  return fmt::format(
      "{} queues={} doorbell={} beside={} payload={} batch={}: {} of {} WQEs stale{}, {} payloads wrong ({} torn), {} "
      "of {} CQEs early",
      row.policy, row.queues_on_host ? "host" : "gpu", row.by_word ? "word" : "register",
      row.crowded ? "stores" : "nothing", row.pointer ? "pointer" : "inline", row.batch, totals.stale, totals.puts,
      lookout, totals.wrong_payloads(), totals.wrong.torn, totals.early, totals.cqes);
}

void tell(const Context& context, const LitmusRow& row, const Totals& totals, measure::Record& record) {
  const auto kind = context.nic_kind;
  if (context.nic_count) add_seen(record, {"stale WQEs", totals.stale, totals.puts}, kind);
  add_seen(record, {"stale WQEs, lookout", totals.lookout.stale, totals.lookout.looked_at}, kind);
  if (totals.late_records > 0) add_seen(record, {"late records", totals.late_records, totals.puts}, kind);
  add_seen(record, {"wrong payloads", totals.wrong_payloads(), totals.puts}, kind);
  add_seen(record, {"early CQEs", totals.early, totals.cqes}, kind);
  const auto sentence = sentence_of(row, totals);
  if (promises(row, context)) {
    record.expectations.push_back({sentence, totals.clean()});
  } else if (!totals.clean()) {
    record.warnings.push_back(sentence);
  }
}

}  // namespace

LitmusRow litmus_row(const Point& point) {
  return {.policy = point.policy,
          .pointer = point.text("payload") == "pointer",
          .queues_on_host = point.text("queues") == "host",
          .by_word = point.text("doorbell") == "word",
          .crowded = point.text("beside") == "stores",
          .batch = static_cast<std::uint32_t>(point.number("batch")),
          .bytes = static_cast<std::uint32_t>(point.number("bytes"))};
}

std::size_t litmus_payload_bytes(const LitmusRow& row) {
  return kSlotsAt + kLoopPuts * row.bytes;
}

void measure_litmus(const Context& context, const LitmusRow& row, const LitmusSetting& setting,
                    measure::Record& record) {
  if (has_strict_nic(context)) {
    throw util::Error("ordering-litmus counts what a strict software NIC refuses, and MARROW_SIM_STRICT asks for one",
                      util::ErrorKind::kUsage, "MARROW_SIM_STRICT=0");
  }
  if (setting.qp.sq_wqebbs % row.batch != 0 || kSources < 2 * setting.qp.sq_wqebbs) {
    throw util::Error("the batch must divide the ring");
  }
  Litmus litmus(context, row, setting);
  litmus.fill_the_ring();
  const auto race = row.batch == 1 ? setting.puts : setting.puts * kBatchedMore;
  litmus.await(std::max<std::uint64_t>(setting.puts / kAwaitedShare, 1) * row.batch);
  litmus.race(race);
  const auto& totals = litmus.totals();
  record.counts.operations = totals.puts;
  add_time(record, "issue", setting.issue_kind, litmus.issue_ns());
  tell(context, row, totals, record);
  if (!litmus.ended_by().empty()) {
    record.warnings.push_back(
        fmt::format("a stale WQE ended the queue after {} puts: {}", totals.puts, litmus.ended_by()));
  }
  record.verified = !context.stopping();
}

}  // namespace marrow::experiments
