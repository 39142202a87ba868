// SPDX-License-Identifier: Apache-2.0
// CREATE_MKEY, DESTROY_MKEY, QUERY_MKEY: regions on a umem, and indirect keys, which show pieces of other keys. What an
// indirect key shows comes along in the mailbox or later in a work request.
// Facts: fields and access modes [prm]; that a key has local read, as all callers ask for [obs: libmlx5, UCX, DPDK].
#include <span>

#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/mkc.h"
#include "cx7/hca/key_layout.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
using prm::get;
using prm::set;

enum class Mode : std::uint8_t { kPages = 1, kList = 2, kFixedList = 3 };

constexpr std::uint32_t kPageMask = 4095;

struct Right {
  prm::Field field;
  Access access;
};
constexpr Right kRights[] = {{mkc::local_write, kLocalWrite},
                             {mkc::remote_write, kRemoteWrite},
                             {mkc::remote_read, kRemoteRead},
                             {mkc::atomic, kRemoteAtomic},
                             {mkc::relaxed_ordering_write, kRelaxedOrdering}};

std::uint32_t access_of(const std::byte* context) {
  std::uint32_t access = 0;
  for (const auto& right : kRights) access |= get(context, right.field) != 0 ? right.access : 0u;
  return access;
}

Reply check_context(const Client& client, const std::byte* in) {
  const std::byte* const context = in + create_mkey_at::kContext;
  const auto start = get(context, mkc::start);
  if (!client.pds.contains(get(context, mkc::pd))) {
    return refuse(CommandStatus::kBadResource, "no such PD in this context");
  }
  if (get(context, mkc::access_mode) == 0) {
    return refuse(CommandStatus::kBadParameter, "access_mode: physical addresses are not modelled");
  }
  if (get(context, mkc::local_read) == 0) {
    return refuse(CommandStatus::kBadParameter, "lr: a key without local read is not modelled");
  }
  if (get(context, mkc::qpn) != kAnyQp) {
    return refuse(CommandStatus::kBadParameter, "qpn: a key for one QP is not modelled, only 0xffffff");
  }
  if (start + get(context, mkc::length) < start) return refuse(CommandStatus::kBadParameter, "len: range wraps");
  return {};
}

Mkey key_of(const std::byte* context) {
  Mkey mkey{.pdn = get(context, mkc::pd),
            .access = access_of(context),
            .iova = get(context, mkc::start),
            .bytes = get(context, mkc::length)};
  mkey.remote_invalidate = get(context, mkc::remote_invalidate) == 1;
  return mkey;
}

// Pages of a umem: the address keeps its place in its page.
Reply place_pages(Client& client, const std::byte* in, Mkey& mkey) {
  const std::byte* const context = in + create_mkey_at::kContext;
  if (get(in, create_mkey_at::umem_valid) == 0 || get(in, create_mkey_at::list_octowords) != 0) {
    return refuse(CommandStatus::kBadParameter, "memory given by page list, only umems are modelled");
  }
  if (get(context, mkc::free) != 0 || get(context, mkc::umr_en) != 0 || mkey.remote_invalidate) {
    return refuse(CommandStatus::kBadParameter, "free, umr_en, en_rinval: of pages not modelled, only of lists");
  }
  const Umem* const umem = client.find_umem(get(in, create_mkey_at::umem_id));
  if (umem == nullptr) return refuse(CommandStatus::kBadResource, "no such umem in this context");
  const auto offset = get(in, create_mkey_at::umem_offset);
  if (mkey.bytes == 0 || offset > umem->bytes || mkey.bytes > umem->bytes - offset) {
    return refuse(CommandStatus::kBadSize, "key reaches past the end of its umem");
  }
  mkey.host = umem->base + offset;
  if ((reinterpret_cast<std::uintptr_t>(mkey.host) & kPageMask) != (mkey.iova & kPageMask)) {
    return refuse(CommandStatus::kBadParameter, "start_addr: lies elsewhere in its page than the memory");
  }
  return {};
}

Reply place_list(const std::byte* in, Mkey& mkey) {
  const std::byte* const context = in + create_mkey_at::kContext;
  const auto room = get(context, mkc::octowords);
  if (room == 0 || room > 1u << kLogMaxLayoutEntries)
    return refuse(CommandStatus::kExceedLimit, "translations_octword_size");
  mkey.kind = Mkey::Kind::kIndirect;
  mkey.free = get(context, mkc::free) == 1;
  mkey.configurable = get(context, mkc::umr_en) == 1;
  mkey.layout = std::make_shared<KeyLayout>(room);
  const std::span<const std::byte> entries(in + create_mkey_at::kInBytes, mkey_list_bytes(in));
  const bool fixed = static_cast<Mode>(get(context, mkc::access_mode)) == Mode::kFixedList;
  if (entries.empty()) {
    if (!mkey.free || fixed) return refuse(CommandStatus::kBadParameter, "a key that shows nothing must be free");
    return {};
  }
  const auto entry_bytes = 1u << get(context, mkc::log_entity_bytes);
  if (fixed ? mkey.layout->take_fixed(entries, entry_bytes) : mkey.layout->take(entries)) return {};
  return refuse(CommandStatus::kBadSize, "list makes no sense or is longer than translations_octword_size");
}

Mkey* find_mkey(const Client& client, std::uint32_t index) {
  return client.mkeys.contains(index) ? client.device.mkeys.find(index) : nullptr;
}

}  // namespace

std::size_t mkey_list_bytes(const std::byte* in) {
  return std::size_t{get(in, create_mkey_at::list_octowords)} * kOctowordBytes;
}

Reply create_mkey(Client& client, const std::byte* in, std::byte* out) {
  const std::byte* const context = in + create_mkey_at::kContext;
  if (const auto reply = check_context(client, in); !reply.ok()) return reply;
  auto mkey = key_of(context);
  const bool pages = static_cast<Mode>(get(context, mkc::access_mode)) == Mode::kPages;
  if (const auto reply = pages ? place_pages(client, in, mkey) : place_list(in, mkey); !reply.ok()) return reply;
  const auto index = client.device.mkeys.next_number();
  if (index == 0) return refuse(CommandStatus::kExceedLimit, "no mkey left");
  mkey.key = index << 8 | get(context, mkc::variant);
  client.engine.add_mkey(client.device, mkey);
  const QueueMemory umems{.ring_umem = pages ? get(in, create_mkey_at::umem_id) : 0};
  client.mkeys.emplace(index, umems);
  client.use(umems, +1);
  ++client.device.pds.find(mkey.pdn)->users;
  set(out, prm::out::object, index);
  return {};
}

Reply destroy_mkey(Client& client, const std::byte* in, std::byte*) {
  const auto index = get(in, prm::destroy::object);
  const Mkey* const mkey = find_mkey(client, index);
  if (mkey == nullptr) return refuse(CommandStatus::kBadResource, "no such mkey in this context");
  --client.device.pds.find(mkey->pdn)->users;
  client.use(client.mkeys.at(index), -1);
  client.mkeys.erase(index);
  client.engine.remove_mkey(client.device, mkey->key);
  return {};
}

Reply query_mkey(Client& client, const std::byte* in, std::byte* out) {
  const Mkey* const mkey = find_mkey(client, get(in, prm::destroy::object));
  if (mkey == nullptr) return refuse(CommandStatus::kBadResource, "no such mkey in this context");
  std::byte* const context = out + create_mkey_at::kContext;
  const bool indirect = mkey->kind == Mkey::Kind::kIndirect;
  set(context, mkc::free, mkey->free ? 1 : 0);
  set(context, mkc::umr_en, mkey->configurable ? 1 : 0);
  for (const auto& right : kRights) set(context, right.field, (mkey->access & right.access) != 0 ? 1 : 0);
  set(context, mkc::local_read, 1);
  set(context, mkc::access_mode, static_cast<std::uint32_t>(indirect ? Mode::kList : Mode::kPages));
  set(context, mkc::qpn, mkey->qpn);
  set(context, mkc::variant, mkey->key & 0xff);
  set(context, mkc::remote_invalidate, mkey->remote_invalidate ? 1 : 0);
  set(context, mkc::pd, mkey->pdn);
  set(context, mkc::start, mkey->iova);
  set(context, mkc::length, mkey->bytes);
  set(context, mkc::octowords, indirect ? mkey->layout->octowords() : 0);
  return {};
}

}  // namespace marrow::cx7::fw
