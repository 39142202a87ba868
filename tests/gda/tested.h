// SPDX-License-Identifier: Apache-2.0
// The tests of an exclusive queue run twice: as gda_test with all in registers, as gda_lean_test with all in memory.
// And what several of them do with a queue.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gda/fake_nic.h"
#include "marrow/gda/policy.h"
#include "marrow/gda/send_queue.h"

namespace marrow::gda {

#if defined(MARROW_TEST_LEAN)
template <class P>
using Tested = std::conditional_t<P::sharing == Sharing::kExclusive, Lean<P>, P>;
#else
template <class P>
using Tested = P;
#endif

inline const Solo kSolo;

/// `wqes` writes of `value`, submitted.
template <class Sq>
Ticket post(FakeNic& nic, Sq& sq, std::uint64_t& to, std::uint64_t value, std::uint32_t wqes = 1) {
  const auto slots = sq.reserve(kSolo, wqes);
  for (std::uint32_t i = 0; i < wqes; ++i) sq.write_value(slots[i], nic.remote(to), value);
  return sq.submit(kSolo, slots);
}

/// One WQE of `wqebbs`, written by `write`, executed and awaited.
template <class Sq, class Write>
Result one(FakeNic& nic, Sq& sq, std::uint32_t wqebbs, Write&& write) {
  const auto slots = sq.reserve(kSolo, Room{1, wqebbs});
  write(slots[0]);
  const auto ticket = sq.submit(kSolo, slots);
  nic.step();
  return sq.wait(kSolo, ticket);
}

}  // namespace marrow::gda
