// SPDX-License-Identifier: Apache-2.0
// See hosts.h. An open hash table that only grows: a host's number is its place.
#include "cx7/fabric/hosts.h"

#include <array>
#include <atomic>

namespace marrow::cx7 {
namespace {

std::array<std::atomic<std::uint32_t>, kHosts>& table() {
  static std::array<std::atomic<std::uint32_t>, kHosts> hosts{};  // 0: free; no host has that address
  return hosts;
}

std::uint32_t first_place(std::uint32_t address) {
  return (address * 0x9e3779b1u >> 16) % kHosts;
}

}  // namespace

std::optional<std::uint8_t> number_of_host(std::uint32_t address) {
  auto& hosts = table();
  for (std::uint32_t tried = 0, at = first_place(address); tried < kHosts; ++tried, at = (at + 1) % kHosts) {
    std::uint32_t there = 0;
    const bool mine = hosts[at].compare_exchange_strong(there, address) || there == address;
    if (mine) return static_cast<std::uint8_t>(kFirstHost + at);
  }
  return std::nullopt;
}

std::uint8_t find_host(std::uint32_t address) {
  const auto& hosts = table();
  for (std::uint32_t tried = 0, at = first_place(address); tried < kHosts; ++tried, at = (at + 1) % kHosts) {
    const auto there = hosts[at].load(std::memory_order_relaxed);
    if (there == address) return static_cast<std::uint8_t>(kFirstHost + at);
    if (there == 0) break;
  }
  return kUnknownHost;
}

std::uint32_t address_of_host(std::uint8_t number) {
  const auto at = static_cast<std::uint32_t>(number - kFirstHost);
  return at < kHosts ? table()[at].load(std::memory_order_relaxed) : 0;
}

}  // namespace marrow::cx7
