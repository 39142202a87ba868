// SPDX-License-Identifier: Apache-2.0
// Bytes as text for golden strings: words of four bytes, four words a line.
#pragma once

#include <cstddef>
#include <string>

namespace marrow::wire {

inline std::string hex(const void* data, std::size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto* at = static_cast<const unsigned char*>(data);
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i != 0 && i % 4 == 0) text += i % 16 == 0 ? '\n' : ' ';
    text += kDigits[at[i] >> 4];
    text += kDigits[at[i] & 15];
  }
  return text;
}

template <class T>
std::string hex(const T& value) {
  return hex(&value, sizeof value);
}

}  // namespace marrow::wire
