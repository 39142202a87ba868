// SPDX-License-Identifier: Apache-2.0
// A firmware command's bytes on their way in or out: zero but for the fields that were set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "marrow/wire/prm.h"

namespace marrow::verbs {

namespace prm = wire::prm;

/// Part of a mailbox: a context, an address path or the whole.
class Section {
 public:
  explicit Section(std::byte* base) : base_(base) {}

  template <class Value>
  Section& set(prm::Field field, Value value) {
    prm::set(base_, field, static_cast<std::uint32_t>(value));
    return *this;
  }
  Section& set(prm::Field64 field, std::uint64_t value) {
    prm::set(base_, field, value);
    return *this;
  }
  Section& copy(std::size_t offset, std::span<const std::uint8_t> bytes) {
    std::memcpy(base_ + offset, bytes.data(), bytes.size());
    return *this;
  }
  [[nodiscard]] std::uint32_t get(prm::Field field) const { return prm::get(base_, field); }
  [[nodiscard]] Section at(std::size_t offset) const { return Section(base_ + offset); }

 private:
  std::byte* base_;
};

template <std::size_t kBytes>
struct Mailbox {
  std::array<std::byte, kBytes> bytes{};

  Mailbox() = default;
  explicit Mailbox(prm::Command command) { whole().set(prm::in::opcode, command); }
  [[nodiscard]] Section whole() { return Section(bytes.data()); }
  [[nodiscard]] Section at(std::size_t offset) { return Section(bytes.data() + offset); }
  [[nodiscard]] std::uint32_t get(prm::Field field) const { return prm::get(bytes.data(), field); }
  [[nodiscard]] std::uint32_t get(std::size_t offset, prm::Field field) const {
    return prm::get(bytes.data() + offset, field);
  }
};

}  // namespace marrow::verbs
