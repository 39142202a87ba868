// SPDX-License-Identifier: Apache-2.0
// See neighbours.h. Here is what both sides share, and what an owner of keys and queue pairs does; who asked stands in
// neighbours_asked.cpp.
#include "cx7/hca/neighbours.h"

#include <algorithm>
#include <cstring>

#include "cx7/hca/engine.h"
#include "cx7/hca/neighbour_notice.h"
#include "util/clock.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr std::uint32_t kRemoteRights = kRemoteWrite | kRemoteRead | kRemoteAtomic;
constexpr auto kPatience = std::chrono::seconds(2);  // [guess] many time slices of two processes on one GPU
constexpr SharedRange kInHostMemory{};

std::uint64_t id_of(std::uint8_t device, std::uint32_t number) {
  return std::uint64_t{device} << 32 | number;
}

FarQp far_qp_of(const Qp& qp) {
  const bool receives = qp.state == QpState::kRtr || qp.state == QpState::kRts;
  return {.device = qp.attributes.device,
          .qpn = qp.config.qpn,
          .remote_qpn = qp.attributes.remote_qpn,
          .pdn = qp.config.pdn,
          .access = qp.attributes.access,
          .remote_device = qp.attributes.remote_device,
          .receives = receives && qp.dct == nullptr && qp.dci == nullptr};
}

}  // namespace

Neighbours::Neighbours(Engine& engine, const std::string& domain)
    : engine_(engine), links_(domain, engine.fabric().slot(), *this) {}

void Neighbours::send(Link link, const Notice& notice) {
  links_.send(link, std::as_bytes(std::span(&notice, 1)));
}

void Neighbours::attend() {
  links_.attend(std::chrono::nanoseconds{0});
}

/// False when it took too long. Answers others meanwhile.
bool Neighbours::wait_until(const std::function<bool()>& done) {
  for (const auto end = util::now() + kPatience; !done();) {
    const auto left = end - util::now();
    if (left.count() <= 0) return false;
    links_.attend(left);
  }
  return true;
}

void Neighbours::on_message(Link link, std::span<const std::byte> message) {
  Notice notice;
  const bool whole = message.size() == sizeof notice;
  if (whole) std::memcpy(&notice, message.data(), sizeof notice);
  const bool sound = whole && notice.magic == Notice::kMagic && notice.device < kDevices;
  const bool taken = sound && (owners_.contains(link) ? on_owner(link, notice) : on_subscriber(link, notice));
  if (taken) return;
  util::log::once("neighbour notice", "cut off a process whose software NIC speaks another version");
  links_.close(link);
  on_end(link);
}

/// \returns false for what such a process never says.
bool Neighbours::on_subscriber(Link link, const Notice& notice) {
  if (notice.kind == NoticeKind::kCount) {
    const CountNotice answer{.counts = engine_.counts()};
    links_.send(link, std::as_bytes(std::span(&answer, 1)));
    return true;
  }
  Subscriber& subscriber = subscribers_[link];
  if (notice.kind == NoticeKind::kSeen && subscriber.asked && notice.sequence <= subscriber.said) {
    subscriber.seen = notice.sequence;
    return true;
  }
  const bool asks = notice.kind == NoticeKind::kAsk && !subscriber.asked && notice.slot < Fabric::kMaxSlots &&
                    notice.slot != engine_.fabric().slot();
  if (!asks) return false;
  subscriber.asked = true;
  subscriber.slot = notice.slot;
  tell_everything(link);
  return true;
}

void Neighbours::tell_everything(Link link) {
  for (std::uint8_t index = 0; index < kDevices; ++index) {
    Device& device = engine_.device(index);
    device.mkeys.for_each([&](const Mkey& key) { tell_key(link, index, key); });
    device.qps.for_each([&](const Qp& qp) { static_cast<void>(tell_qp(link, far_qp_of(qp))); });
  }
  synchronise(link);
}

const SharedRange& Neighbours::place_of(std::uint8_t device, const Mkey& key) const {
  const auto found = shared_.find(id_of(device, key.key));
  return found != shared_.end() ? found->second : kInHostMemory;
}

void Neighbours::tell_key(Link link, std::uint8_t device, const Mkey& key) {
  if ((key.access & kRemoteRights) == 0 || !is_told(key)) return;
  const SharedRange& where = place_of(device, key);
  send(link, {.kind = NoticeKind::kKey,
              .how = where.how,
              .device = device,
              .number = key.key,
              .pdn = key.pdn,
              .access = key.access,
              .iova = key.iova,
              .bytes = key.bytes,
              .offset = where.offset,
              .handle = where.handle});
}

/// Tells what the process does not know yet. \returns true when that takes something away.
bool Neighbours::tell_qp(Link link, const FarQp& qp) {
  Subscriber& subscriber = subscribers_[link];
  const auto id = id_of(qp.device, qp.qpn);
  const auto known = subscriber.told.find(id);
  const bool was_told = known != subscriber.told.end();
  const bool leads_there = qp.receives && slot_of(qp.remote_qpn) == subscriber.slot;
  if (was_told ? known->second == qp : !leads_there) return false;
  send(link, {.kind = NoticeKind::kQp,
              .device = qp.device,
              .remote_device = qp.remote_device,
              .receives = static_cast<std::uint8_t>(leads_there ? 1 : 0),
              .number = qp.qpn,
              .remote_qpn = qp.remote_qpn,
              .pdn = qp.pdn,
              .access = qp.access});
  if (was_told) subscriber.told.erase(known);
  if (leads_there) subscriber.told.emplace(id, qp);
  return was_told;
}

void Neighbours::synchronise(Link link) {
  send(link, {.kind = NoticeKind::kSync, .sequence = ++subscribers_[link].said});
}

void Neighbours::await_subscribers() {
  const auto is_behind = [](const auto& entry) { return entry.second.seen != entry.second.said; };
  if (wait_until([&] { return std::none_of(subscribers_.begin(), subscribers_.end(), is_behind); })) return;
  for (auto at = subscribers_.begin(); at != subscribers_.end();) {
    if (!is_behind(*at)) {
      ++at;
      continue;
    }
    util::log::warn(
        "the process in slot {} does not confirm that its GPU threads let go of memory of this one, and is cut off; "
        "is it stopped, or is its GPU full of other work?",
        at->second.slot);
    links_.close(at->first);
    at = subscribers_.erase(at);
  }
}

void Neighbours::key_added(std::uint8_t device, const Mkey& key) {
  if ((key.access & kRemoteRights) == 0) return;
  GpuEngine* const gpu = engine_.gpu();
  if (gpu != nullptr) {
    const SharedRange where = gpu->share(key);
    if (where.how != SharedRange::How::kHostMemory) shared_[id_of(device, key.key)] = where;
  }
  if (subscribers_.empty()) return;
  for (const auto& [link, subscriber] : subscribers_) {
    tell_key(link, device, key);
    synchronise(link);
  }
  if (shared_.contains(id_of(device, key.key))) await_subscribers();
}

void Neighbours::key_gone(std::uint8_t device, const Mkey& key) {
  const bool shared = shared_.erase(id_of(device, key.key)) != 0;
  if ((key.access & kRemoteRights) == 0 || subscribers_.empty()) return;
  for (const auto& [link, subscriber] : subscribers_) {
    send(link, {.kind = NoticeKind::kKeyGone, .device = device, .number = key.key});
    synchronise(link);
  }
  if (shared) await_subscribers();
}

void Neighbours::qp_changed(const Qp& qp) {
  bool taken_away = false;
  const FarQp now = far_qp_of(qp);
  for (const auto& [link, subscriber] : subscribers_) {
    const auto told_before = subscriber.told.size();
    const bool takes = tell_qp(link, now);
    if (takes || subscriber.told.size() != told_before) synchronise(link);
    taken_away |= takes;
  }
  if (taken_away) await_subscribers();
  const bool leads_here = now.remote_device >= kDevices || slot_of(now.remote_qpn) == engine_.fabric().slot();
  if (qp.on_gpu && now.receives && !leads_here) meet(qp);
}

}  // namespace marrow::cx7
