// SPDX-License-Identifier: Apache-2.0
#include "cx7/fw/queue_memory.h"

namespace marrow::cx7::fw {
namespace {

struct Part {
  std::uint32_t umem = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
};

// The part's address, or null with the reason why not.
std::byte* place_of(Client& client, const Part& part, Reply& reply) {
  const Umem* const umem = client.find_umem(part.umem);
  if (umem == nullptr) {
    reply = refuse(CommandStatus::kBadResource, "no such umem in this context");
  } else if (part.offset > umem->bytes || part.bytes > umem->bytes - part.offset) {
    reply = refuse(CommandStatus::kBadSize, "queue reaches past the end of its umem");
  } else if ((reinterpret_cast<std::uintptr_t>(umem->base) + part.offset) % part.alignment != 0) {
    reply = refuse(CommandStatus::kBadParameter, "queue or dbrec misaligned");
  } else {
    return umem->base + part.offset;
  }
  return nullptr;
}

}  // namespace

Reply locate(Client& client, const QueuePlace& place, QueueAddresses& found) {
  if (!place.umem_valid || !place.dbrec_umem_valid) {
    return refuse(CommandStatus::kBadParameter, "queue memory given by page list, only umems are modelled");
  }
  Reply reply;
  found.ring = place_of(client, {place.umems.ring_umem, place.offset, place.bytes, 64}, reply);
  if (!reply.ok()) return reply;
  found.dbrec = place_of(client, {place.umems.dbrec_umem, place.dbrec_offset, 8, 8}, reply);
  return reply;
}

}  // namespace marrow::cx7::fw
