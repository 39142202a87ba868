// SPDX-License-Identifier: Apache-2.0
// What a UMR work request does to a memory key, as far as memory windows need it: bind, and take back.
#pragma once

#include <cstdint>

namespace marrow::cx7 {

struct KeyChange {
  std::uint32_t key = 0;  // of the window; its low byte may be out of date
  bool takes_back = false;
  bool must_show_nothing = false;  // a window of type 2 is bound once
  bool must_be_own = false;        // ... and taken back by the QP that bound it
  std::uint32_t qpn = 0;           // who may use it
  std::uint8_t variant = 0;        // new low byte of the key
  std::uint32_t access = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  std::uint32_t region = 0;  // key of what it shall show
  std::uint64_t region_va = 0;
};

}  // namespace marrow::cx7
