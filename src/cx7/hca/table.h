// SPDX-License-Identifier: Apache-2.0
// Objects by number. A lookup is two loads: numbers arrive in every packet. The upper 8 bits of a 24-bit number are the
// owning process's slot, so a number names its owner and is unique on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace marrow::cx7 {

inline constexpr std::uint32_t slot_of(std::uint32_t number) {
  return (number >> 16) & 0xff;
}

/// Owns objects of one kind. Numbers are given out round robin, so that a stale one stays unknown for long.
template <class Object>
class Table {
 public:
  static constexpr std::uint32_t kFirst = 64;  // below stand numbers with a meaning of their own (QP 0 and 1)
  static constexpr std::uint32_t kEntries = 1u << 16;

  explicit Table(std::uint32_t slot) : base_(slot << 16), objects_(kEntries) {}

  /// Number for the next object, or 0 when the table is full.
  [[nodiscard]] std::uint32_t next_number() {
    for (std::uint32_t tried = kFirst; tried < kEntries; ++tried) {
      next_ = next_ + 1 < kEntries ? next_ + 1 : kFirst;
      if (!objects_[next_]) return base_ | next_;
    }
    return 0;
  }
  Object& put(std::uint32_t number, std::unique_ptr<Object> object) {
    auto& entry = objects_[number & 0xffff];
    entry = std::move(object);
    ++count_;
    return *entry;
  }
  /// Null for a number that is not in use here.
  [[nodiscard]] Object* find(std::uint32_t number) const {
    return (number & ~0xffffu) == base_ ? objects_[number & 0xffff].get() : nullptr;
  }
  void erase(std::uint32_t number) {
    objects_[number & 0xffff].reset();
    --count_;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

  template <class Visitor>
  void for_each(Visitor&& visit) {
    for (auto& object : objects_) {
      if (object) visit(*object);
    }
  }

 private:
  std::uint32_t base_;
  std::uint32_t next_ = kFirst;
  std::uint32_t count_ = 0;
  std::vector<std::unique_ptr<Object>> objects_;
};

}  // namespace marrow::cx7
