// SPDX-License-Identifier: Apache-2.0
// What a firmware client of a test or a fuzz target owns, and where in its memory: one PD, one doorbell page, one umem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cx7/fw/client.h"

namespace marrow::cx7::fw {

inline constexpr std::uint32_t kPdn = 0x11;
inline constexpr std::uint32_t kUarPage = 7;
inline constexpr std::uint32_t kUmem = 5;
inline constexpr std::size_t kCqAt = 0x0000;
inline constexpr std::size_t kQueueAt = 0x2000;
inline constexpr std::size_t kDbrecAt = 0x7000;
inline constexpr std::size_t kUmemBytes = 0x8000;

/// \param registers  a doorbell page.  \param memory  kUmemBytes of it.
inline void give_world(Client& client, std::byte* registers, std::byte* memory) {
  client.engine.add_uar(client.device, kUarPage, registers);
  client.uars.insert(kUarPage);
  client.device.pds.put(kPdn, std::make_unique<Pd>(Pd{.pdn = kPdn}));
  client.pds.insert(kPdn);
  client.umems.emplace(kUmem, Umem{.id = kUmem, .base = memory, .bytes = kUmemBytes});
}

}  // namespace marrow::cx7::fw
