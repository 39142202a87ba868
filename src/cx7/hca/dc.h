// SPDX-License-Identifier: Apache-2.0
// Dynamically connected transport: what a DCI and a DCT hold beside what every QP holds. A DCI is connected to one DCT
// at a time. A WQE for another waits until all before it are acknowledged; then the DCI disconnects, connects and goes
// on, without waiting for an answer. The DCT keeps a responder for each DCI that is connected to it.
// Facts: one destination at a time, key in each WQE, a wrong key looks like silence [obs; the wire format is not
// public]; that a connection is opened by a packet of its own [guess].
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "marrow/wire/dc.h"

namespace marrow::cx7 {

struct Qp;

struct DcInitiator {
  wire::AddressVector av{};  // whom it is connected to
  bool connected = false;
  bool connect_due = false;  // the connect packet goes before the next request
  std::uint32_t connection = 0;
};

/// More than this many connections to one DCT are refused by silence [guess].
inline constexpr std::size_t kMaxDcConnections = 4096;

struct DcTarget {
  std::uint64_t key = 0;
  std::uint32_t violations = 0;
  bool drained = false;  // takes no connection any more, and has none
  struct Connection {
    std::uint32_t number = 0;
    std::unique_ptr<Qp> responder;  // state kReset: closed, kept for the next
  };
  std::unordered_map<std::uint32_t, Connection> connections;  // by the DCI's QPN
};

}  // namespace marrow::cx7
