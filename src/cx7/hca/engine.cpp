// SPDX-License-Identifier: Apache-2.0
// One step of the device: doorbells in, packets in, packets out, timers. And the set-up calls that change what a step
// sees.
#include "cx7/hca/engine.h"

#include <algorithm>
#include <span>

#include "cx7/hca/data_path.h"
#include "cx7/hca/held_cqes.h"
#include "cx7/hca/memory.h"
#include "cx7/hca/neighbours.h"

namespace marrow::cx7 {
namespace {

constexpr unsigned kDeliverAStep = 256;                    // [guess] packets before doorbells are looked at again
constexpr Time kScanEvery = std::chrono::milliseconds(1);  // [guess] timers and records; far below any timer

bool is_response(PacketOpcode opcode) {
  const auto operation = operation_of(opcode);
  return operation >= PacketOpcode::kReadResponseFirst && operation <= PacketOpcode::kAtomicAcknowledge;
}

// A packet of another transport than the QP's never came, as far as the QP is concerned.
bool fits(const Qp& qp, const Packet& packet) {
  if (packet.dc != (qp.dct != nullptr)) return false;
  const auto transport = transport_of(packet.opcode);
  return transport == transport_of(qp.config.service) || (packet.dc && transport == Transport::kDc);
}

bool has_more(const Qp& qp) {
  const auto& requester = qp.requester;
  const bool sending = requester.sending != requester.newest || requester.next != requester.posted;
  return qp.state == QpState::kRts && sending && requester.held_until == Time{0};
}

void clear_registers(const Uar& uar) {
  for (std::uint32_t k = 0; k < wire::kUarDoorbells; ++k) {
    auto& word = *reinterpret_cast<std::uint64_t*>(uar.registers + wire::kUarBlueFlame + k * wire::kUarDoorbellStride);
    std::atomic_ref(word).store(0, std::memory_order_relaxed);
  }
}

}  // namespace

Engine::Engine(const std::string& domain, Checking checking, const LinkOptions& links, ProcessCounts* counts)
    : own_counts_(counts == nullptr ? std::make_unique<ProcessCounts>() : nullptr),
      fabric_(domain, links, counts == nullptr ? own_counts_->links : counts->links),
      checking_(checking) {
  auto& devices = counts == nullptr ? own_counts_->devices : counts->devices;
  for (std::uint8_t k = 0; k < kDevices; ++k) {
    devices_[k] = std::make_unique<Device>(k, fabric_.slot(), devices.at(k));
  }
  ready_.reserve(1024);
  if (fabric_.device_faults() != nullptr) held_cqes_ = std::make_unique<HeldCqes>();
  dma::install_fault_handler();
  neighbours_ = std::make_unique<Neighbours>(*this, domain);
  fabric_.watch_control(neighbours_->fd());
}
Engine::~Engine() = default;

Engine::Lock::Lock(Engine& engine) : engine_(engine) {
  engine_.waiting_.fetch_add(1, std::memory_order_relaxed);
  engine_.mutex_.lock();
  engine_.waiting_.fetch_sub(1, std::memory_order_relaxed);
}
Engine::Lock::~Lock() {
  engine_.mutex_.unlock();
}

bool Engine::step(Time now) {
  if (waiting_.load(std::memory_order_relaxed) != 0) return true;  // a control call comes first
  const std::lock_guard lock(mutex_);
  last_step_ = now;
  bool moved = false;
  for (auto& device : devices_) moved |= DataPath(*this, *device, now).poll_doorbells();
  moved |= fabric_.deliver(kDeliverAStep, now, [this, now](const Packet& packet) { deliver(packet, now); }) != 0;
  moved |= serve_ready(now);
  if (held_cqes_ != nullptr) moved |= write_due(now);
  if (now >= next_scan_) {
    next_scan_ = now + kScanEvery;
    scan(now);
  }
  if (waiting_.load(std::memory_order_relaxed) != 0)
    fabric_.announce_committed();  // the call may be the process's last
  return moved;
}

void Engine::deliver(const Packet& packet, Time now) {
  Device* device = packet.to_device < kDevices ? devices_[packet.to_device].get() : nullptr;
  if (device == nullptr) return;
  ++device->counters.packets_received;
  device->counters.words_received += wire_words(packet);
  Qp* qp = device->qps.find(packet.dest_qpn);
  if (qp == nullptr || !fits(*qp, packet)) {
    ++device->counters.packets_dropped;
    return;
  }
  DataPath path(*this, *device, now);
  path.trace_received(packet);
  if (packet.dc) {
    path.on_dc_packet(*qp, packet);
  } else if (qp->config.service == ServiceType::kUd) {
    path.on_datagram(*qp, packet);
  } else if (is_response(packet.opcode)) {
    path.on_response(*qp, packet);
  } else {
    path.on_request(*qp, packet);
  }
}

// Each QP with something to do gets one turn; those with more stay in the list.
bool Engine::serve_ready(Time now) {
  bool moved = false;
  serving_.swap(ready_);
  for (Qp* qp : serving_) {
    qp->ready = false;
    DataPath path(*this, *devices_[qp->attributes.device], now);
    const auto& counters = devices_[qp->attributes.device]->counters;
    const auto sent_before = counters.packets_sent;
    const bool answered = path.answer(*qp);
    moved |= path.send(*qp) || counters.packets_sent != sent_before;
    if (!answered || has_more(*qp)) path.mark_ready(*qp);
  }
  serving_.clear();
  return moved;
}

void Engine::tell_of_link() {
  const bool up = fabric_.link_is_up();
  if (up == link_was_up_) return;
  link_was_up_ = up;
  for (const auto& device : devices_) {
    device->counters.link_downs += up ? 0 : 1;
    for (EventSink* watcher : device->port_watchers) {
      watcher->async_event(up ? AsyncEvent::kPortActive : AsyncEvent::kPortError);
    }
  }
}

void Engine::scan(Time now) {
  fabric_.maintain();
  tell_of_link();
  neighbours_->attend();
  for (auto& device : devices_) {
    DataPath path(*this, *device, now);
    for (auto& uar : device->uars) {
      for (Qp* qp : uar->qps) {
        path.scan_record(*qp);
        path.on_timer(*qp);
      }
    }
    for (Cq* cq : device->channel_cqs) path.fire_if_armed(*cq);
  }
}

Uar& Engine::add_uar(Device& device, std::uint32_t page, std::byte* registers) {
  return *device.uars.emplace_back(std::make_unique<Uar>(Uar{page, registers, {}}));
}

Uar* Engine::find_uar(Device& device, std::uint32_t page) {
  const auto at = std::find_if(device.uars.begin(), device.uars.end(), [page](auto& uar) { return uar->page == page; });
  return at == device.uars.end() ? nullptr : at->get();
}

void Engine::remove_uar(Device& device, std::uint32_t page) {
  std::erase_if(device.uars, [page](auto& uar) { return uar->page == page; });
}

Cq& Engine::add_cq(Device& device, Cq cq) {
  auto& added = device.cqs.put(cq.cqn, std::make_unique<Cq>(cq));
  if (added.dbrec != nullptr && added.has_channel) {
    const auto poison = wire::be32(kArmPoison);
    if (!dma::store32(&added.dbrec->arm, poison.raw)) added.dead = true;
  }
  if (added.has_channel) device.channel_cqs.push_back(&added);
  return added;
}

void Engine::remove_cq(Device& device, Cq& cq) {
  std::erase(device.channel_cqs, &cq);
  if (held_cqes_ != nullptr) static_cast<void>(held_cqes_->take([&cq](const auto& held) { return held.cq == &cq; }));
  device.cqs.erase(cq.cqn);
}

bool Engine::resize_cq(Device& device, Cq& cq, const CqMemory& to) {
  return DataPath(*this, device, last_step_).resize_cq(cq, to);
}

Srq& Engine::add_srq(Device& device, const Srq& srq) {
  if (Pd* pd = device.pds.find(srq.pdn)) ++pd->users;
  if (srq.cq != nullptr) ++srq.cq->users;
  return device.srqs.put(srq.srqn, std::make_unique<Srq>(srq));
}

void Engine::remove_srq(Device& device, Srq& srq) {
  for (const auto& uar : device.uars) {
    for (Qp* qp : uar->qps) {
      if (qp->responder.srq != &srq) continue;  // an XRC target in the middle of a message
      qp->responder.srq = nullptr;
      qp->responder.recv_wqe_taken = false;
      qp->responder.message = Responder::Message::kNone;
    }
  }
  if (Pd* pd = device.pds.find(srq.pdn)) --pd->users;
  if (srq.cq != nullptr) --srq.cq->users;
  device.srqs.erase(srq.srqn);
}

void Engine::remove_mkey(Device& device, std::uint32_t key) {
  const auto forget = [key](std::span<Span> list) {
    for (Span& span : list) {
      if (span.key != key) continue;
      span.host = nullptr;
      span.indirect = false;
    }
  };
  for (const auto& uar : device.uars) {
    for (Qp* qp : uar->qps) {
      forget(qp->requester.decoded.span);
      forget(qp->requester.scatter.span);
      forget(qp->responder.span);
    }
  }
  for (const Qp* dct : device.dcts) {
    for (auto& [source, connection] : dct->dct->connections) forget(connection.responder->responder.span);
  }
  const Mkey* const found = device.mkeys.find(key >> 8);
  if (found == nullptr) return;
  const Mkey gone = *found;
  if (gone.kind == Mkey::Kind::kWindow) std::erase(device.windows, found);
  forget_region(device, gone.key);
  device.mkeys.erase(key >> 8);
  if (!is_told(gone)) return;
  if (gpu_ != nullptr) gpu_->key_gone(device.index, gone);
  neighbours_->key_gone(device.index, gone);
}

Qp& Engine::add_qp(Device& device, QpConfig config) {
  auto qp = std::make_unique<Qp>();
  qp->config = config;
  qp->attributes.device = device.index;
  qp->requester.window.resize(std::max(1u, config.sq.wqebbs));
  qp->requester.window_mask = std::max(1u, config.sq.wqebbs) - 1;
  if (config.service == ServiceType::kDci) qp->dci = std::make_unique<DcInitiator>();
  if (config.send_cq != nullptr) ++config.send_cq->users;
  if (config.recv_cq != nullptr) ++config.recv_cq->users;
  if (config.srq != nullptr) ++config.srq->users;
  if (Pd* pd = device.pds.find(config.pdn)) ++pd->users;
  if (Uar* uar = find_uar(device, config.uar_page)) uar->qps.push_back(qp.get());
  return device.qps.put(config.qpn, std::move(qp));
}

Qp& Engine::add_dct(Device& device, const QpConfig& config, const QpAttributes& attributes, std::uint64_t key) {
  Qp& qp = add_qp(device, config);
  qp.attributes = attributes;
  qp.attributes.device = device.index;
  qp.dct = std::make_unique<DcTarget>();
  qp.dct->key = key;
  qp.state = QpState::kRtr;
  device.dcts.push_back(&qp);
  if (gpu_ != nullptr) gpu_->qp_changed(qp);
  return qp;
}

void Engine::drain_dct(Qp& dct) {
  for (auto& [source, connection] : dct.dct->connections) std::erase(ready_, connection.responder.get());
  dct.dct->connections.clear();
  dct.dct->drained = true;
  if (gpu_ != nullptr) gpu_->qp_changed(dct);
}

void Engine::remove_qp(Device& device, Qp& qp) {
  const auto& config = qp.config;
  if (config.send_cq != nullptr) --config.send_cq->users;
  if (config.recv_cq != nullptr) --config.recv_cq->users;
  if (config.srq != nullptr) --config.srq->users;
  if (Pd* pd = device.pds.find(config.pdn)) --pd->users;
  if (gpu_ != nullptr) gpu_->qp_gone(qp);
  DataPath path(*this, device, last_step_);
  path.write_held(config.send_cq);
  path.write_held(config.recv_cq);
  path.disconnect(qp);
  if (qp.dct != nullptr) drain_dct(qp);
  std::erase(device.dcts, &qp);
  if (Uar* uar = find_uar(device, config.uar_page)) {
    if (qp.on_gpu && --uar->gpu_qps == 0) clear_registers(*uar);  // GPU threads never took a value out
    std::erase(uar->qps, &qp);
  }
  std::erase(ready_, &qp);
  qp.state = QpState::kReset;  // nothing goes to it any more, also for those that ask meanwhile
  neighbours_->qp_changed(qp);
  device.qps.erase(config.qpn);
}

}  // namespace marrow::cx7
