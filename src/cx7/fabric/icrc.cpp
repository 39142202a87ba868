// SPDX-License-Identifier: Apache-2.0
// See icrc.h. Two ways to one sum: eight tables, and carry-less multiplication where the processor has it (the folding
// constants are powers of x modulo the polynomial, computed here).
#include "cx7/fabric/icrc.h"

#include <immintrin.h>

#include <array>
#include <cstring>

#include "marrow/wire/be.h"

namespace marrow::cx7 {
namespace {

constexpr std::uint32_t kPolynomial = 0xedb88320;  // bit-reversed: bit 31 is x^0

constexpr std::uint32_t times_x(std::uint32_t a) {
  return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0);
}

constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = times_x(b);
  }
  return product;
}

constexpr std::uint32_t power_of_x(std::uint64_t exponent) {
  std::uint32_t result = 1u << 31;
  for (std::uint32_t square = 1u << 30; exponent != 0; exponent >>= 1, square = multiply(square, square)) {
    if ((exponent & 1) != 0) result = multiply(result, square);
  }
  return result;
}

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr Tables kTables = [] {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

/// [k]: x to the power of -8 * 2^k. The powers of x repeat after 2^32 - 1, as the polynomial is primitive.
constexpr std::array<std::uint32_t, 16> kBackwards = [] {
  std::array<std::uint32_t, 16> powers{};
  powers[0] = power_of_x(0xffffffffu - 8);
  for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = multiply(powers[k - 1], powers[k - 1]);
  return powers;
}();

std::uint32_t update_with_tables(std::uint32_t state, const std::byte* at, std::size_t bytes) {
  for (; bytes >= 8; bytes -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);  // little-endian, as this processor is
    word ^= state;
    state = 0;
    for (unsigned k = 0; k < 8; ++k) state ^= kTables[7 - k][word >> (8 * k) & 0xff];
  }
  for (; bytes != 0; --bytes, ++at) state = (state >> 8) ^ kTables[0][(state ^ static_cast<std::uint32_t>(*at)) & 0xff];
  return state;
}

constexpr std::size_t kFoldedAtOnce = 64;

/// Multiplied with the two halves of 16 bytes, these move them `bits` further along the message. One bit to the left,
/// as a product of bit-reversed factors comes out one to the right.
constexpr std::uint64_t along(std::uint64_t bits) {
  return std::uint64_t{power_of_x(bits)} << 1;
}

__attribute__((target("pclmul,sse4.1"))) inline __m128i fold(__m128i value, __m128i shift, __m128i onto) {
  const __m128i low = _mm_clmulepi64_si128(value, shift, 0x00);
  const __m128i high = _mm_clmulepi64_si128(value, shift, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

/// At least kFoldedAtOnce bytes: four times 16 are carried along the message, then added up, and what is left of it has
/// the same remainder as all that went in.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t update_with_products(std::uint32_t state, const std::byte* at,
                                                                            std::size_t bytes) {
  const auto load = [](const std::byte* from) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  __m128i lane[4] = {load(at), load(at + 16), load(at + 32), load(at + 48)};
  lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128(static_cast<int>(state)));
  const __m128i by_four =
      _mm_set_epi64x(static_cast<long long>(along(512 - 32)), static_cast<long long>(along(512 + 32)));
  for (at += kFoldedAtOnce, bytes -= kFoldedAtOnce; bytes >= kFoldedAtOnce;
       at += kFoldedAtOnce, bytes -= kFoldedAtOnce) {
    for (int k = 0; k < 4; ++k) lane[k] = fold(lane[k], by_four, load(at + 16 * k));
  }
  const __m128i by_one =
      _mm_set_epi64x(static_cast<long long>(along(128 - 32)), static_cast<long long>(along(128 + 32)));
  __m128i sum = lane[0];
  for (int k = 1; k < 4; ++k) sum = fold(sum, by_one, lane[k]);
  for (; bytes >= 16; at += 16, bytes -= 16) sum = fold(sum, by_one, load(at));
  std::array<std::byte, 16> left;
  std::memcpy(left.data(), &sum, sizeof sum);
  return update_with_tables(update_with_tables(0, left.data(), left.size()), at, bytes);
}

bool has_products() {
  static const bool has = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return has;
}

constexpr std::uint32_t kIpBytes = 20;
constexpr std::uint32_t kUdpBytes = 8;
constexpr std::uint32_t kIcrcBytes = 4;
constexpr std::uint32_t kIdentificationAt = 4;  // in the IP header

}  // namespace

std::uint32_t crc32_update(std::uint32_t state, std::span<const std::byte> bytes) {
  if (bytes.size() < kFoldedAtOnce || !has_products()) return update_with_tables(state, bytes.data(), bytes.size());
  return update_with_products(state, bytes.data(), bytes.size());
}

std::uint32_t crc32_of_headers(const Ipv4Flow& flow, std::uint32_t udp_payload_bytes) {
  struct {
    std::uint8_t version = 0x45;
    std::uint8_t type_of_service = 0xff;
    wire::be16 bytes;
    std::uint16_t identification = 0;
    std::uint8_t fragment[2] = {0x40, 0};  // don't
    std::uint8_t time_to_live = 0xff;
    std::uint8_t protocol = 17;
    std::uint16_t checksum = 0xffff;
    wire::be32 from, to;
    wire::be16 from_port, to_port, udp_bytes;
    std::uint16_t udp_checksum = 0xffff;
  } headers;
  static_assert(sizeof headers == kIpBytes + kUdpBytes);
  headers.bytes = wire::be16(static_cast<std::uint16_t>(kIpBytes + kUdpBytes + udp_payload_bytes));
  headers.from = wire::be32(flow.from);
  headers.to = wire::be32(flow.to);
  headers.from_port = wire::be16(flow.from_port);
  headers.to_port = wire::be16(flow.to_port);
  headers.udp_bytes = wire::be16(static_cast<std::uint16_t>(kUdpBytes + udp_payload_bytes));
  return crc32_update(kCrcAfterOnes, std::as_bytes(std::span(&headers, 1)));
}

std::optional<std::uint16_t> identification_behind(std::uint32_t difference, std::uint32_t udp_payload_bytes) {
  // Bytes that the CRC took in from the identification on. A state that far back is, bit for bit, what was different
  // in the four bytes there: two of the identification, two of the fragment field, which must not differ.
  std::uint32_t back = kIpBytes - kIdentificationAt + kUdpBytes + udp_payload_bytes - kIcrcBytes;
  for (std::size_t k = 0; back != 0 && k < kBackwards.size(); ++k, back >>= 1) {
    if ((back & 1) != 0) difference = multiply(kBackwards[k], difference);
  }
  if (difference > 0xffff) return std::nullopt;
  return static_cast<std::uint16_t>(difference << 8 | difference >> 8);
}

}  // namespace marrow::cx7
