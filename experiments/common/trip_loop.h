// SPDX-License-Identifier: Apache-2.0
// The two loops of a round trip, on host lanes and GPU lanes: the submitter puts a word into the far side's memory, a
// lane there polls for it and puts it back, the submitter polls for the reply. The notification is the data word
// itself, as in the paper. Trip i carries stamp_word(i).
#pragma once

#include <cstdint>

#include "experiments/common/stamp.h"

namespace marrow::experiments {

/// One lane's memory in a round trip: 8-byte words in registered memory.
struct Mailbox {
  std::byte* outgoing = nullptr;  // source of this lane's puts
  std::byte* incoming = nullptr;  // where the other lane's puts arrive
};

/// Readings of a lane's clock around one round trip.
struct TripStamps {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// The near lane. The clerk writes and awaits words, keeps times, and knows when to stop. \returns trips accepted.
template <class Clerk, class P>
MARROW_HD std::uint64_t round_trips(Clerk& clerk, P& poster, std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) {
    if (clerk.stopping(i)) return i;
    clerk.write(stamp_word(i));
    poster.prepare(stamp_word(i));
    TripStamps stamps;
    stamps.start = clerk.ticks();
    poster.post();
    const bool replied = clerk.await(stamp_word(i));
    stamps.end = clerk.ticks();
    if (!clerk.accept(i, poster.wait(), replied, stamps)) return i;
  }
  return operations;
}

/// The far lane: answers in order. Completions of its puts are looked at when the clerk says so, long after they came.
/// \returns answers given; poster.wait() then tells of the last.
template <class Clerk, class P>
MARROW_HD std::uint64_t answers(Clerk& clerk, P& poster, std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) {
    if (!clerk.await(stamp_word(i))) return i;
    clerk.delay(i);
    clerk.write(stamp_word(i));
    poster.prepare(stamp_word(i));
    if (clerk.looks_at_completion(i) && !poster.wait()) return i;
    poster.post();
  }
  return operations;
}

}  // namespace marrow::experiments
