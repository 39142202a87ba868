// SPDX-License-Identifier: Apache-2.0
// See neighbours.h: the side of the process whose GPU threads reach for another's memory.
#include <string>
#include <utility>

#include "cx7/hca/engine.h"
#include "cx7/hca/neighbour_notice.h"
#include "cx7/hca/neighbours.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

FarKey key_of(const Notice& notice) {
  return {.device = notice.device,
          .key = notice.number,
          .pdn = notice.pdn,
          .access = notice.access,
          .iova = notice.iova,
          .bytes = notice.bytes,
          .where = {.how = notice.how, .handle = notice.handle, .offset = notice.offset}};
}

FarQp qp_of(const Notice& notice) {
  return {.device = notice.device,
          .qpn = notice.number,
          .remote_qpn = notice.remote_qpn,
          .pdn = notice.pdn,
          .access = notice.access,
          .remote_device = notice.remote_device,
          .receives = notice.receives != 0};
}

void forget(FarNews& news, const FarKeyName& gone) {
  const auto is_it = [&](const FarKey& key) { return key.key == gone.key && key.device == gone.device; };
  if (std::erase_if(news.keys, is_it) == 0) news.keys_gone.push_back(gone);
}

}  // namespace

/// \returns false for what such a process never says: numbers that are not its own among it.
bool Neighbours::on_owner(Link link, const Notice& notice) {
  Owner& owner = owners_[link];
  switch (notice.kind) {
    case NoticeKind::kKey:
      if (slot_of(notice.number >> 8) != owner.slot || notice.how > SharedRange::How::kHandle) return false;
      owner.news.keys.push_back(key_of(notice));
      return true;
    case NoticeKind::kKeyGone:
      if (slot_of(notice.number >> 8) != owner.slot) return false;
      forget(owner.news, {.device = notice.device, .key = notice.number});
      return true;
    case NoticeKind::kQp:
      if (slot_of(notice.number) != owner.slot) return false;
      owner.news.qps.push_back(qp_of(notice));
      return true;
    case NoticeKind::kSync:
      hear(link, notice.sequence);
      return true;
    default:
      return false;
  }
}

void Neighbours::hear(Link link, std::uint64_t sequence) {
  Owner& owner = owners_[link];
  const FarNews news = std::exchange(owner.news, {.slot = owner.slot});
  owner.heard = sequence;
  GpuEngine* const gpu = engine_.gpu();
  if (gpu != nullptr && !gpu->hear(news)) return;  // said already; the owner waits, and in the end cuts us off
  send(link, {.kind = NoticeKind::kSeen, .sequence = sequence});
}

/// Asks the process at the other end of `qp` for its tables, where that was not done before.
void Neighbours::meet(const Qp& qp) {
  const unsigned slot = slot_of(qp.attributes.remote_qpn);
  for (const auto& [link, owner] : owners_) {
    if (owner.slot == slot) return;
  }
  Link link = 0;
  if (links_.open(slot, link) != Rendezvous::Outcome::kDone) {
    util::log::once("neighbour " + std::to_string(slot),
                    "QP {:#x} leads to QP {:#x} of a process in slot {}, and there is none: its retries will run out",
                    qp.config.qpn, qp.attributes.remote_qpn, slot);
    return;
  }
  owners_[link] = {.slot = slot, .heard = 0, .news = {.slot = slot}};
  send(link, {.kind = NoticeKind::kAsk, .slot = engine_.fabric().slot()});
  const auto is_answered = [&] {
    const auto found = owners_.find(link);
    return found == owners_.end() || found->second.heard != 0;
  };
  if (wait_until(is_answered)) return;
  util::log::warn(
      "the process in slot {} does not say yet which of its memory GPU threads of this one may reach; until then QP "
      "{:#x} counts it as absent",
      slot, qp.config.qpn);
}

void Neighbours::on_end(Link link) {
  subscribers_.erase(link);
  const auto found = owners_.find(link);
  if (found == owners_.end()) return;
  const unsigned slot = found->second.slot;
  owners_.erase(found);
  util::log::info("the process in slot {} is gone: GPU threads let go of its memory", slot);
  if (GpuEngine* const gpu = engine_.gpu()) static_cast<void>(gpu->hear({.slot = slot, .process_gone = true}));
}

}  // namespace marrow::cx7
