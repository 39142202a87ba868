// SPDX-License-Identifier: Apache-2.0
// What a producer asks a worker for, in 16 bytes: two 8-byte words, each with a bit for its mark, so that a worker sees
// a half-arrived one whatever the store was.
//
//   word 0   63..26 from (offset)   25..16 signal   15..4 route   3..1 op   0 mark
//   word 1   63..26 to (offset)     25..1 bytes                             0 mark
//
// Addresses are offsets into the route's two windows: a worker's table has the peer, the keys and the base addresses.
#pragma once

#include <cstdint>

#include "marrow/wire/host_device.h"

namespace marrow::proxy {

enum class Op : std::uint8_t {
  kNone = 0,  // never handed over: a cleared slot
  kPut = 1,
  kPutSignal = 2,  // the same, and the route's signal word `signal` is advanced by one behind the payload
  kFlush = 3,      // complete once everything before it in `signal` (a FlushScope) is
};

/// What a flush waits for. The ring's own operations complete in order, so kRing asks for nothing that wait() lacks.
enum class FlushScope : std::uint8_t { kRing, kConnection, kAllPeers };

inline constexpr std::uint64_t kMaxOffset = (1ull << 38) - 1;  // of a window: 256 GiB
inline constexpr std::uint32_t kMaxPutBytes = (1u << 25) - 1;
inline constexpr std::uint32_t kMaxRoute = (1u << 12) - 1;
inline constexpr std::uint32_t kMaxSignal = (1u << 10) - 1;

/// One request, unpacked.
struct Request {
  Op op = Op::kNone;
  std::uint32_t route = 0;
  std::uint32_t signal = 0;
  std::uint32_t bytes = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;

  friend constexpr bool operator==(const Request&, const Request&) = default;
};

/// False: it has no descriptor, and a larger put must be split.
[[nodiscard]] MARROW_HD constexpr bool is_encodable(const Request& r) {
  return r.op != Op::kNone && r.route <= kMaxRoute && r.signal <= kMaxSignal && r.bytes <= kMaxPutBytes &&
         r.from <= kMaxOffset && r.to <= kMaxOffset;
}

struct alignas(16) Descriptor {
  std::uint64_t words[2] = {};
};
static_assert(sizeof(Descriptor) == 16);

/// \param mark  0 or 1, put into each word.
[[nodiscard]] MARROW_HD constexpr Descriptor encode(const Request& r, std::uint64_t mark) {
  return {{r.from << 26 | std::uint64_t{r.signal} << 16 | r.route << 4 | static_cast<std::uint32_t>(r.op) << 1 | mark,
           r.to << 26 | r.bytes << 1 | mark}};
}

[[nodiscard]] MARROW_HD constexpr Request decode(const Descriptor& d) {
  const auto field = [&](int word, int at, std::uint64_t most) {
    return static_cast<std::uint32_t>(d.words[word] >> at & most);
  };
  return {static_cast<Op>(field(0, 1, 7)), field(0, 4, kMaxRoute),        field(0, 16, kMaxSignal),
          field(1, 1, kMaxPutBytes),       d.words[0] >> 26 & kMaxOffset, d.words[1] >> 26 & kMaxOffset};
}

}  // namespace marrow::proxy
