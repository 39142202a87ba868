// SPDX-License-Identifier: Apache-2.0
// Bytes as they come from another host: whatever is taken for a packet must be written back as the same headers.
#include <array>
#include <cstdlib>
#include <cstring>

#include "cx7/fabric/roce_format.h"
#include "fuzz/input.h"

namespace marrow::cx7 {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

using Headers = std::array<std::byte, kMostHeaderBytes>;

Packet read(const Headers& from, const WireShape& shape) {
  Packet packet{};
  require(read_bth(from.data(), packet).has_value());
  if (shape.extension_bytes != 0) read_extensions(from.data() + kBthBytes, packet);
  return packet;
}

void try_one(fuzz::Input& input) {
  Headers wire{};
  input.fill(wire);
  Packet packet{};
  const auto shape = read_bth(wire.data(), packet);
  if (!shape) return;
  require(shape->pad_bytes < 4 && kBthBytes + shape->extension_bytes <= kMostHeaderBytes);
  require(extension_bytes(packet.opcode) == shape->extension_bytes);
  const Packet first = read(wire, *shape);
  Headers again{};
  require(write_headers(first, again.data()) == kBthBytes + shape->extension_bytes);
  const Packet second = read(again, *shape);
  Headers third{};
  write_headers(second, third.data());
  require(std::memcmp(again.data(), third.data(), again.size()) == 0);
}

}  // namespace
}  // namespace marrow::cx7

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  marrow::fuzz::Input input(data, size);
  marrow::cx7::try_one(input);
  return 0;
}
