// SPDX-License-Identifier: Apache-2.0
// The vocabulary in which schema_table.h describes the kernel's methods. The declared type of an attribute decides how
// its 64-bit data word is read, not what the caller's memory looks like.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace marrow::cx7::abi {

class Context;
class Request;

/// The kinds of object that a handle can stand for.
enum class ObjectKind : std::uint8_t { kNone, kPd, kMr, kCq, kQp, kSrq, kXrcd, kMw, kAh, kUar, kUmem, kDevx, kAny };

enum class AttrType : std::uint8_t {
  kIn,         // bytes from the caller: inline when they are 8 or fewer, else behind a pointer
  kOut,        // bytes to the caller, always behind a pointer
  kHandle,     // of an existing object, in the data word
  kNewHandle,  // ours to fill in, in the data word
  kFd,         // an existing descriptor, in the data word
  kNewFd,      // ours to fill in
};

enum class Need : std::uint8_t { kMandatory, kOptional };

struct AttrSpec {
  std::uint16_t id = 0;
  AttrType type{};
  Need need{};
  std::uint16_t min_bytes = 0;            // kIn, kOut: the caller gives at least so many
  ObjectKind object = ObjectKind::kNone;  // kHandle
  std::string_view name;
};

/// \param run  throws Errno to refuse. The engine's lock is held.
struct MethodSpec {
  std::uint16_t object = 0;
  std::uint16_t method = 0;
  std::string_view name;
  void (*run)(Context&, Request&) = nullptr;
  std::span<const AttrSpec> attrs;
};

/// A command that travels inside INVOKE_WRITE: the core part's least sizes.
struct WriteSpec {
  std::uint32_t command = 0;
  std::uint16_t in_bytes = 0;
  std::uint16_t out_bytes = 0;
  void (*run)(Context&, Request&) = nullptr;
};

}  // namespace marrow::cx7::abi
