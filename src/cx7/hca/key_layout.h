// SPDX-License-Identifier: Apache-2.0
// What an indirect key shows: pieces of what other keys show, one behind the other. A list names each once; interleaved
// pieces come in rounds, and each moves on by its stride from round to round.
// Facts: entries and the block that begins an interleaved layout [dv: mlx5_wqe_umr_klm_seg, mlx5_wqe_umr_repeat_*].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace marrow::cx7 {

inline constexpr std::uint32_t kOctowordBytes = 16;  // of one entry
inline constexpr std::uint32_t kLogMaxLayoutEntries = 16;

class KeyLayout {
 public:
  /// Room for so many entries; set-up only.
  explicit KeyLayout(std::uint32_t octowords) : octowords_(octowords) { pieces_.reserve(octowords); }

  [[nodiscard]] std::uint32_t octowords() const { return octowords_; }

  /// Takes a layout as a work request has it: entries, or a repeat block and its entries. False, and nothing changed,
  /// when it makes no sense or has no room. Does not allocate.
  [[nodiscard]] bool take(std::span<const std::byte> entries);
  /// Entries of one size each, whatever they say of it.
  [[nodiscard]] bool take_fixed(std::span<const std::byte> entries, std::uint32_t bytes_each);
  void clear();

  /// A stretch of one entry.
  struct Stretch {
    std::uint32_t key = 0;
    std::uint64_t va = 0;
    std::uint64_t bytes = 0;  // 0: nothing is there
  };
  /// From `offset` to the end of its entry.
  [[nodiscard]] Stretch at(std::uint64_t offset) const;

 private:
  struct Entry {
    std::uint64_t end = 0;  // in its round
    std::uint64_t va = 0;
    std::uint32_t key = 0;
    std::uint32_t stride = 0;
  };
  void add(const Entry& entry, std::uint64_t bytes);

  std::uint32_t octowords_;
  std::vector<Entry> pieces_;
  std::uint64_t round_bytes_ = 0;
  std::uint64_t rounds_ = 1;
};

}  // namespace marrow::cx7
