// SPDX-License-Identifier: Apache-2.0
// Every interleaving of some producers and one consumer of a ring, each state once. The consumer knows what must come:
// each descriptor whole, once, in its producer's order, and in the order of the ring.
#pragma once

#include <bit>
#include <cstdint>
#include <new>
#include <string>
#include <unordered_set>
#include <vector>

#include "proxy/model/on_the_machine.h"

namespace marrow::proxy::model {

struct Scenario {
  std::uint32_t producers = 1;
  std::uint32_t puts = 4;         // of the first producer
  std::uint32_t others_puts = 1;  // of each other one
  std::uint32_t depth = 2;
  std::uint32_t free_every = 1;  // the consumer gives slots back so many at a time, or when it finds nothing
  bool release_orders = true;
  bool check_payload = false;        // each descriptor has a word of payload, stored before it and read behind it
  std::uint32_t frees_too_many = 0;  // a broken worker gives back what it has not read
};

struct Outcome {
  std::string wrong;  // what, in the first execution that went wrong
  std::uint64_t states = 0;
  std::uint64_t steps = 0;
};

template <HandOffType H>
class Explorer {
  static_assert(sizeof(Producer<H>) <= kObject && sizeof(Consumer<H>) <= kObject);

 public:
  explicit Explorer(const Scenario& scenario) : s_(scenario), memory_(scenario.depth) {}

  Outcome run();

 private:
  /// Two independent 64-bit hashes: a state is taken for another once in 2^128.
  struct Key {
    std::uint64_t a, b;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.a; }
  };

  [[nodiscard]] std::uint32_t consumer() const { return s_.producers; }
  [[nodiscard]] std::uint32_t all() const { return s_.puts + (s_.producers - 1) * s_.others_puts; }
  [[nodiscard]] std::uint32_t puts_of(std::size_t producer) const { return producer == 0 ? s_.puts : s_.others_puts; }
  [[nodiscard]] Put numbered(std::uint32_t producer, std::uint32_t i) const {
    return {.route = producer, .from = i + 1, .to = kMaxOffset - i, .bytes = i * 3 + 1};
  }

  void begin();
  void visit(const State& state);
  void expand(const State& state);
  [[nodiscard]] static Key key_of(const State& state);
  void step(std::uint32_t thread);
  void producer_operation(std::uint32_t p, Thread& t);
  void consumer_operation(Thread& t);
  void take(Thread& t);
  void free(Thread& t);
  void check(const Request& request, std::uint64_t payload);
  void check_end();
  void fail(std::string what) {
    if (outcome_.wrong.empty()) outcome_.wrong = std::move(what);
  }

  template <class Object, class Act>
  void with_object(Thread& t, Act&& act);

  Scenario s_;
  testing::TestRing<H> memory_;
  std::uint64_t payload_[kThreads][8] = {};
  std::unordered_set<Key, Hash> seen_;
  std::vector<State> stack_;
  Outcome outcome_;
};

template <HandOffType H>
Outcome Explorer<H>::run() {
  begin();
  visit(machine.state);
  while (!stack_.empty() && outcome_.wrong.empty()) {
    const State state = stack_.back();
    stack_.pop_back();
    expand(state);
  }
  outcome_.states = seen_.size();
  return outcome_;
}

template <HandOffType H>
void Explorer<H>::begin() {
  machine.forget_cells();
  machine.release_orders = s_.release_orders;
  std::memset(&machine.state, 0, sizeof machine.state);
  for (std::uint32_t i = 0; i < kThreads; ++i) machine.state.threads[i].mood.finished = i > s_.producers;
  // Their constructors read the ring, as on a fresh one.
  for (std::uint32_t p = 0; p < s_.producers; ++p) {
    machine.step(p, [&] { new (machine.state.threads[p].object.data()) Producer<H>(memory_.ring()); });
  }
  new (machine.state.threads[consumer()].object.data()) Consumer<H>(memory_.ring());
}

template <HandOffType H>
typename Explorer<H>::Key Explorer<H>::key_of(const State& state) {
  Key key{0x243f6a8885a308d3, 0x13198a2e03707344};
  const auto add = [&](const void* from, std::size_t bytes) {  // whole words: everything in a State is
    for (std::size_t i = 0; i < bytes; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, static_cast<const std::byte*>(from) + i, 8);
      key.a = (std::rotl(key.a, 23) ^ word) * 0x9e3779b97f4a7c15;
      key.b = (std::rotl(key.b, 41) + word) * 0xd6e8feb86659fd93 ^ key.b >> 32;
    }
  };
  add(state.cells.data(), sizeof state.cells);
  for (const auto& t : state.threads) {
    add(t.object.data(), std::max(sizeof(Producer<H>), sizeof(Consumer<H>)));
    add(t.log.data(), t.mood.logged * sizeof t.log[0]);
    add(t.buffer.data(), t.mood.buffered * sizeof t.buffer[0]);
    add(&t.mood, sizeof t.mood);
  }
  return key;
}

template <HandOffType H>
void Explorer<H>::visit(const State& state) {
  if (seen_.insert(key_of(state)).second) stack_.push_back(state);
}

template <HandOffType H>
void Explorer<H>::expand(const State& state) {
  bool moved = false, finished = true;
  for (std::uint32_t i = 0; i <= consumer(); ++i) {
    const Thread& t = state.threads[i];
    finished = finished && t.mood.finished && t.mood.buffered == 0;
    if (!t.mood.finished && !t.mood.blocked) {
      moved = true;
      machine.state = state;
      step(i);
      visit(machine.state);
    }
    for (std::uint32_t entry = 0; entry < t.mood.buffered; ++entry) {
      if (!machine.may_commit(t, entry)) continue;
      moved = true;
      machine.state = state;
      machine.commit(machine.state.threads[i], entry);
      visit(machine.state);
    }
  }
  if (moved) return;
  machine.state = state;
  if (!finished) return fail("everybody waits for ever: a descriptor is lost");
  check_end();
}

template <HandOffType H>
void Explorer<H>::step(std::uint32_t thread) {
  ++outcome_.steps;
  auto& t = machine.state.threads[thread];
  thread == consumer() ? consumer_operation(t) : producer_operation(thread, t);
}

/// The object is what the operation found until the operation ends.
template <HandOffType H>
template <class Object, class Act>
void Explorer<H>::with_object(Thread& t, Act&& act) {
  alignas(Object) std::byte copy[sizeof(Object)];
  std::memcpy(copy, t.object.data(), sizeof copy);
  act(*std::launder(reinterpret_cast<Object*>(copy)));
  std::memcpy(t.object.data(), copy, sizeof copy);
}

/// Puts, and at last waits for all of its own.
template <HandOffType H>
void Explorer<H>::producer_operation(std::uint32_t p, Thread& t) {
  gda::Status status{};
  std::uint64_t end = 0;
  const bool over = machine.step(p, [&] {
    with_object<Producer<H>>(t, [&](Producer<H>& producer) {
      if (t.mood.done == puts_of(p)) {
        status = producer.wait({t.mood.pending});
        return;
      }
      if (s_.check_payload)
        std::model_atomic_ref(payload_[p][t.mood.done]).store(t.mood.done + 7, std::memory_order_relaxed);
      const auto ticket = producer.put(numbered(p, t.mood.done));
      status = ticket.status;
      end = ticket.end;
    });
  });
  if (!over) return;
  t.mood.blocked = status != gda::Status::kOk && !t.mood.changed;
  if (status == gda::Status::kOk) {
    t.mood.finished = t.mood.done == puts_of(p);
    if (!t.mood.finished) t.mood.pending = static_cast<std::uint32_t>(end);
    t.mood.done += !t.mood.finished;
  } else if (status != gda::Status::kQueueFull && status != gda::Status::kTimeout) {
    fail("a producer was told of a failure");
  }
}

/// `done`: descriptors taken; `pending`: of them not given back. The high bit: to be given back now.
inline constexpr std::uint32_t kFreeNow = 1u << 31;

template <HandOffType H>
void Explorer<H>::consumer_operation(Thread& t) {
  (t.mood.pending & kFreeNow) != 0 ? free(t) : take(t);
}

template <HandOffType H>
void Explorer<H>::take(Thread& t) {
  std::optional<Request> request;
  std::uint64_t payload = 0;
  const bool over = machine.step(consumer(), [&] {
    with_object<Consumer<H>>(t, [&](Consumer<H>& consumer) {
      request = consumer.take();
      if (!request || !s_.check_payload || request->route >= s_.producers ||
          request->from - 1 >= puts_of(request->route))
        return;
      payload = std::model_atomic_ref(payload_[request->route][request->from - 1]).load(std::memory_order_relaxed);
    });
  });
  if (!over) return;
  if (!request) {
    t.mood.blocked = !t.mood.changed;
    if (t.mood.pending != 0) t.mood.pending |= kFreeNow;
    if (t.mood.pending != 0) t.mood.blocked = 0;
    return;
  }
  check(*request, payload);
  ++t.mood.done;
  ++t.mood.pending;
  if (t.mood.pending == s_.free_every || t.mood.done == all()) t.mood.pending |= kFreeNow;
}

template <HandOffType H>
void Explorer<H>::free(Thread& t) {
  const bool over = machine.step(consumer(), [&] {
    with_object<Consumer<H>>(t, [&](Consumer<H>& consumer) {
      consumer.free_up_to(consumer.taken() + s_.frees_too_many);
      consumer.complete_up_to(consumer.taken());
    });
  });
  if (!over) return;
  t.mood.pending = 0;
  t.mood.finished = t.mood.done == all();
}

template <HandOffType H>
void Explorer<H>::check(const Request& request, std::uint64_t payload) {
  const auto p = request.route;
  if (p >= s_.producers) return fail("a descriptor of nobody");
  auto& next = machine.state.threads[p].mood.seen;
  const auto put = numbered(p, next);
  if (request != Request{Op::kPut, put.route, 0, put.bytes, put.from, put.to}) {
    return fail("a descriptor that is not its producer's next, or not whole");
  }
  if (s_.check_payload && payload != next + 7u) return fail("the payload came later than its descriptor");
  ++next;
}

/// Everybody has finished: the ring says so, and has nothing more to give.
template <HandOffType H>
void Explorer<H>::check_end() {
  if (machine.state.cells[machine.cell_of(memory_.ring().done)] != all()) fail("not all was completed");
  auto& t = machine.state.threads[consumer()];
  t.mood.finished = 0;
  std::optional<Request> more;
  for (bool over = false; !over;) {
    over = machine.step(consumer(),
                        [&] { with_object<Consumer<H>>(t, [&](Consumer<H>& consumer) { more = consumer.take(); }); });
  }
  if (more) fail("a descriptor too many");
}

}  // namespace marrow::proxy::model
