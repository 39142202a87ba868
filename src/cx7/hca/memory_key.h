// SPDX-License-Identifier: Apache-2.0
// The check that stands before every byte the device touches: key, protection domain, rights, range.
#pragma once

#include "cx7/hca/engine.h"

namespace marrow::cx7 {

/// A range as a WQE or a packet names it, and what is to be done with it.
struct KeyedRange {
  std::uint32_t key = 0;
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;  // rights that the key must give; 0: local read, which every key gives
  std::uint64_t va = 0;
  std::uint64_t bytes = 0;
  std::uint32_t qpn = 0;  // whose packet it is; 0: this side's own WQE
};

/// A window is for peers alone, and one of type 2 for those of one QP.
inline bool serves(const Mkey& window, std::uint32_t qpn) {
  return qpn != 0 && (window.qpn == kAnyQp || window.qpn == qpn);
}

/// Where the range lies in this process, or null if the device must refuse it.
inline std::byte* resolve(const Device& device, const KeyedRange& range) {
  const Mkey* mkey = device.mkeys.find(range.key >> 8);
  if (mkey == nullptr || mkey->key != range.key || mkey->pdn != range.pdn) return nullptr;
  if ((mkey->access & range.access) != range.access) return nullptr;
  if (mkey->window && !serves(*mkey, range.qpn)) return nullptr;
  if (range.va < mkey->iova || range.bytes > mkey->bytes || range.va - mkey->iova > mkey->bytes - range.bytes) {
    return nullptr;
  }
  return mkey->host + (range.va - mkey->iova);
}

}  // namespace marrow::cx7
