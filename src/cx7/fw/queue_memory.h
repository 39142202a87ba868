// SPDX-License-Identifier: Apache-2.0
// Where a queue built on umems lies: the checks that CREATE_CQ and CREATE_QP share.
#pragma once

#include "cx7/fw/command.h"

namespace marrow::cx7::fw {

/// A ring and its dbrec as a mailbox names them.
struct QueuePlace {
  bool umem_valid = false;
  bool dbrec_umem_valid = false;
  QueueMemory umems;
  std::uint64_t offset = 0;        // of the ring in its umem
  std::uint64_t bytes = 0;         // of the ring
  std::uint64_t dbrec_offset = 0;  // 8 bytes
};

struct QueueAddresses {
  std::byte* ring = nullptr;
  std::byte* dbrec = nullptr;
};

/// Finds both in the client's umems. A ring starts on a 64-byte boundary, a dbrec on an 8-byte one.
Reply locate(Client& client, const QueuePlace& place, QueueAddresses& found);

}  // namespace marrow::cx7::fw
