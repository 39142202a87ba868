// SPDX-License-Identifier: Apache-2.0
// A port is one for all processes: who shows its counters asks each of them (neighbours.h).
#include <cstring>

#include "cx7/hca/neighbour_notice.h"
#include "cx7/hca/neighbours.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

// An engine that works looks every millisecond, one that sleeps is woken. Only a process that was stopped takes longer.
constexpr auto kPatience = std::chrono::milliseconds(500);

}  // namespace

DeviceCounts counts_elsewhere(const std::string& domain, unsigned own) {
  DeviceCounts sum{};
  const Notice question{.kind = NoticeKind::kCount};
  ask_everybody(
      domain, own, std::as_bytes(std::span(&question, 1)), kPatience, [&sum](std::span<const std::byte> said) {
        CountNotice answer;
        const bool whole = said.size() == sizeof answer;
        if (whole) std::memcpy(&answer, said.data(), sizeof answer);
        if (!whole || answer.magic != Notice::kMagic) {
          util::log::once("counters version", "a process whose software NIC speaks another version is not counted");
          return;
        }
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += answer.counts[k];
      });
  return sum;
}

}  // namespace marrow::cx7
