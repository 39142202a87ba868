// SPDX-License-Identifier: Apache-2.0
// The NIC's cache of connection contexts: sets of a few ways, entries spread over the sets by a hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/profile.h"
#include "model/random.h"

namespace marrow::model {

/// One thread. Allocates when it is made, and never again.
class ContextCache {
 public:
  ContextCache(const Profile& profile, std::uint64_t seed)
      : ways_(profile.cache_ways),
        sets_(profile.cache_entries / profile.cache_ways),
        replacement_(profile.cache_replacement),
        seed_(seed),
        random_(seed),
        keys_(profile.cache_entries, kEmpty) {}

  /// True when the entry was there. It is, afterwards: under LRU as the newest of its set.
  bool touch(std::uint32_t key) noexcept {
    auto* const set = keys_.data() + std::size_t{set_of(key)} * ways_;
    auto* const end = set + ways_;
    auto* const at = std::find(set, end, key);
    const bool hit = at != end;
    if (replacement_ == Replacement::kLru) {
      std::move_backward(set, hit ? at : end - 1, hit ? at + 1 : end);
      *set = key;
    } else if (!hit) {
      auto* const empty = std::find(set, end, kEmpty);
      *(empty != end ? empty : set + random_.below(ways_)) = key;
    }
    return hit;
  }

 private:
  static constexpr std::uint32_t kEmpty = ~0U;

  [[nodiscard]] std::uint32_t set_of(std::uint32_t key) const noexcept {
    return static_cast<std::uint32_t>(((mixed(seed_ ^ key) >> 32) * sets_) >> 32);
  }

  std::uint32_t ways_;
  std::uint32_t sets_;
  Replacement replacement_;
  std::uint64_t seed_;
  Random random_;
  std::vector<std::uint32_t> keys_;  // of a set, under LRU: the newest first
};

}  // namespace marrow::model
