// SPDX-License-Identifier: Apache-2.0
// Round trips of a probe, one at a time, while other lanes load both ends; and how much those carried meanwhile.
#pragma once

#include <optional>

#include "experiments/common/load/host_gda.h"
#include "experiments/common/load/host_sender.h"
#include "experiments/common/load/loaded.h"
#include "experiments/common/round_trip.h"

namespace marrow::experiments {

/// The near lane of the probe. Calls `begun` before the first trip that counts.
template <class P, class Begun>
class ProbeClerk {
 public:
  struct Settings {
    Mailbox box;
    std::uint64_t warmup = 0;
    bool crowded = false;
    std::chrono::nanoseconds pause{};  // before each trip
  };
  ProbeClerk(const Context& context, P& poster, const Settings& settings, measure::Samples& trips, Begun& begun)
      : context_(context), poster_(poster), settings_(settings), trips_(trips), begun_(begun) {}

  [[nodiscard]] bool stopping(std::uint64_t i) const {
    if (i == settings_.warmup) begun_();
    if (settings_.pause.count() > 0) std::this_thread::sleep_for(settings_.pause);
    return context_.stopping();
  }
  void write(std::uint64_t word) const { store_word(settings_.box.outgoing, word); }
  [[nodiscard]] std::uint64_t ticks() const { return context_.clock->ticks(); }
  [[nodiscard]] bool await(std::uint64_t word) const {
    constexpr std::uint64_t kLookUpNs = 50'000'000;
    const auto until = util::now() + context_.limit / 4;
    const auto await = settings_.crowded ? await_word_politely : await_word;
    while (!await(settings_.box.incoming, word, kLookUpNs)) {
      if (context_.stopping() || util::now() > until) return false;
    }
    return true;
  }
  bool accept(std::uint64_t i, bool done, bool replied, const TripStamps& stamps) {
    if (!done) throw util::Error("the probe's put did not complete: " + poster_.failure());
    if (!replied && !context_.stopping()) throw util::Error(fmt::format("round trip {}: no reply", i));
    if (replied && i >= settings_.warmup) trips_.add(context_.clock->ns(stamps.end - stamps.start));
    return replied;
  }

 private:
  const Context& context_;
  P& poster_;
  Settings settings_;
  measure::Samples& trips_;
  Begun& begun_;
};

/// Until both ends have carried a window of each lane: the queues are then as full as they get.
template <class Sender>
void await_load(const Context& context, Sender& near, Sender& far, std::uint64_t messages) {
  const auto until = util::now() + context.limit / 4;
  const auto there = [&](Sender& sender) { return sender.carried() >= messages || sender.has_ended(); };
  while (!(there(near) && there(far)) && !context.stopping() && util::now() < until) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

/// Counts over the time in which the probe's trips are kept.
template <class T>
class LoadWindow {
 public:
  using Sender = std::optional<HostSender<T>>;

  LoadWindow(const Context& context, const T& transport, const Sender& near, const Sender& far)
      : transport_(transport), near_(near), far_(far), context_(context) {}

  void begin() {
    from_ = util::now();
    near_from_ = carried(near_);
    far_from_ = carried(far_);
    watch_.emplace(context_, transport_.worker_counters());
  }
  void end(Loaded& seen) const {
    if (!watch_) return;
    seen.seconds = std::chrono::duration<double>(util::now() - from_).count();
    seen.near_carried = carried(near_) - near_from_;
    seen.far_carried = carried(far_) - far_from_;
    seen.busy = watch_->until(transport_.worker_counters());
  }

 private:
  [[nodiscard]] static std::uint64_t carried(const Sender& sender) { return sender ? sender->carried() : 0; }

  const T& transport_;
  const Sender& near_;
  const Sender& far_;
  const Context& context_;
  std::chrono::nanoseconds from_{};
  std::uint64_t near_from_ = 0;
  std::uint64_t far_from_ = 0;
  std::optional<BusyWatch> watch_;
};

/// The trips alone, with a lane that answers them.
template <class T>
void probe_trips(const Context& context, T& transport, const LoadOptions& options, LoadWindow<T>& window,
                 Loaded& seen) {
  using Poster = typename T::Poster;
  const bool crowded = is_crowded(context, transport.crowd().threads());
  const std::uint64_t warmup = std::min(context.warmup, options.most_warmup);
  Poster near = transport.poster(End::kNear, options.probe);
  Poster far = transport.poster(End::kFar, options.probe);
  Replier<Poster> replier(
      far, {.box = transport.ends().box(End::kFar), .operations = warmup + context.iterations, .crowded = crowded});
  auto begun = [&] { window.begin(); };
  ProbeClerk<Poster, decltype(begun)> clerk(
      context, near, {transport.ends().box(End::kNear), warmup, crowded, options.pause()}, seen.trips_ns, begun);
  (void)round_trips(clerk, near, warmup + context.iterations);
  window.end(seen);
  replier.finish();
}

/// \tparam T  HostGda or HostProxy. \throws util::Error where a message was wrong or did not complete.
template <class T>
Loaded probe_under_load(const Context& context, T& transport, const LoadOptions& options) {
  Loaded seen(context.iterations);
  std::optional<HostSender<T>> near;
  std::optional<HostSender<T>> far;
  if (options.loaded) {
    near.emplace(transport, End::kNear, options.pace);
    far.emplace(transport, End::kFar, options.pace);
    const auto& cargo = transport.ends().shape();
    await_load(context, *near, *far, std::uint64_t{cargo.lanes} * cargo.places);
  }
  LoadWindow<T> window(context, transport, near, far);
  const auto settle = [&] {
    for (auto* sender : {&near, &far}) {
      if (!*sender) continue;
      (*sender)->finish();
      seen.messages += (*sender)->carried();
    }
  };
  try {
    probe_trips(context, transport, options, window, seen);
  } catch (const util::Error&) {
    settle();  // what is wrong with the bulk says more
    throw;
  }
  settle();
  return seen;
}

}  // namespace marrow::experiments
