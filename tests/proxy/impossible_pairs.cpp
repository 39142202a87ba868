// SPDX-License-Identifier: Apache-2.0
// Not compiled by the build: must_not_compile.py does, once for each case.
#include "marrow/proxy/consumer.h"
#include "marrow/proxy/producer.h"
#include "proxy/options.h"

using namespace marrow::proxy;

template <Mark M, Publish P, std::uint32_t Bytes>
struct Shape : HandOff {
  static constexpr std::string_view name = "shape";
  static constexpr Mark mark = M;
  static constexpr Publish publish = P;
  static constexpr std::uint32_t desc_bytes = Bytes;
};
struct Nameless : HandOff {};

// What must compile, so that the refusals below refuse for their reason alone.
static_assert(CheckHandOff<Shape<Mark::kReadyWord, Publish::kRelease, 16>>::ok);
static_assert(CheckHandOff<Shape<Mark::kNonZeroWord, Publish::kPosted, 16>>::ok);
static_assert(CheckHandOff<Shape<Mark::kPhase, Publish::kVolatile8, 128>>::ok);

static_assert(requires(const Ring& ring) { shared_by<SharedRing<Tuned>, 2>(ring); });

#if MARROW_CASE == 1
// CASE 1: a ready word beside the ring needs Publish::kRelease
static_assert(CheckHandOff<Shape<Mark::kReadyWord, Publish::kPosted, 16>>::ok);
#elif MARROW_CASE == 2
// CASE 2: a descriptor of several stores needs a mark in every 8 bytes
static_assert(CheckHandOff<Shape<Mark::kNonZeroWord, Publish::kPosted, 32>>::ok);
#elif MARROW_CASE == 3
// CASE 3: needs a store that cannot be torn
static_assert(CheckHandOff<Shape<Mark::kNonZeroWord, Publish::kVolatile8, 16>>::ok);
#elif MARROW_CASE == 4
// CASE 4: a descriptor has 16, 32, 64 or 128 bytes
void produce(const Ring& ring) {
  Producer<Shape<Mark::kPhase, Publish::kPosted, 48>> producer{ring};
}
#elif MARROW_CASE == 5
// CASE 5: a descriptor has 16, 32, 64 or 128 bytes
void consume(const Ring& ring) {
  Consumer<Shape<Mark::kPhase, Publish::kPosted, 8>> consumer{ring};
}
#elif MARROW_CASE == 6
// CASE 6: constraints not satisfied
void produce(const Ring& ring) {
  Producer<Nameless> producer{ring};
}
#elif MARROW_CASE == 7
// CASE 7: use of deleted function
void share(Producer<Tuned>& own) {
  Producer<Tuned> second(own);
}
#elif MARROW_CASE == 8
// CASE 8: Reserve::kOwnRing is for one producer a ring
const auto shared_ring = shared_by<Tuned, 2>({});
#elif MARROW_CASE == 9
// CASE 9: a ring has a producer
const auto nobodys_ring = shared_by<Tuned, 0>({});
#endif
