// SPDX-License-Identifier: Apache-2.0
#include "two_sides.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace marrow::cx7::test {

Aligned::Aligned(std::size_t size, int fill)
    : data(static_cast<std::byte*>(std::aligned_alloc(4096, (size + 4095) & ~std::size_t{4095}))), bytes(size) {
  std::memset(data, fill, bytes);
}
Aligned::~Aligned() {
  std::free(data);
}

std::uint32_t add_mkey(Device& device, Mkey mkey) {
  const auto number = device.mkeys.next_number();
  mkey.key = number << 8 | 0x5a;
  device.mkeys.put(number, std::make_unique<Mkey>(mkey));
  return mkey.key;
}

Side::Side(Engine& nic, std::uint8_t device_index) : engine(nic), device(nic.device(device_index)) {
  auto* const at = records.data;
  dbrec = reinterpret_cast<wire::QpDbrec*>(at);
  send_cq_dbrec = reinterpret_cast<wire::CqDbrec*>(at + 64);
  recv_cq_dbrec = reinterpret_cast<wire::CqDbrec*>(at + 128);

  const Engine::Lock lock(engine);
  pdn = device.pds.next_number();
  device.pds.put(pdn, std::make_unique<Pd>(Pd{.pdn = pdn}));
  const auto base = reinterpret_cast<std::uint64_t>(buffer.data);
  const auto key = add_mkey(device, {.pdn = pdn,
                                     .access = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic,
                                     .iova = base,
                                     .bytes = buffer.bytes,
                                     .host = buffer.data});
  mkey = device.mkeys.find(key >> 8);
  engine.add_uar(device, 7, page.data);
  scq = &engine.add_cq(device, {.cqn = device.cqs.next_number(),
                                .uar_page = 7,
                                .entries = send_cq.data,
                                .log_entries = kLogCq,
                                .dbrec = send_cq_dbrec});
  rcq = &engine.add_cq(device, {.cqn = device.cqs.next_number(),
                                .uar_page = 7,
                                .entries = recv_cq.data,
                                .log_entries = kLogCq,
                                .dbrec = recv_cq_dbrec});
  qp = &engine.add_qp(device, {.qpn = device.qps.next_number(),
                               .pdn = pdn,
                               .user_index = 0x77,
                               .uar_page = 7,
                               .sq = {sq.data, kSqWqebbs},
                               .rq = {rq.data, kRqEntries, kRqStride},
                               .dbrec = dbrec,
                               .send_cq = scq,
                               .recv_cq = rcq});
}

void Side::connect_to(const Side& peer, const QpAttributes& wanted) {
  auto attributes = wanted;
  attributes.remote_device = peer.device.index;
  attributes.remote_qpn = peer.qp->config.qpn;
  const Engine::Lock lock(engine);
  for (const auto to : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
    if (engine.modify_qp(device, *qp, to, attributes) != Engine::Modify::kOk) std::abort();
  }
}

wire::Post Side::next(wire::Completion completion) const {
  return {.qpn = qp->config.qpn, .index = static_cast<std::uint32_t>(pi), .completion = completion};
}

void Side::put_bytes(const void* wqe, std::size_t bytes) {
  const auto blocks = (bytes + wire::kWqebbBytes - 1) / wire::kWqebbBytes;
  for (std::size_t done = 0; done < bytes; done += wire::kWqebbBytes) {
    const auto slot = (pi + done / wire::kWqebbBytes) % kSqWqebbs;
    const auto part = std::min<std::size_t>(wire::kWqebbBytes, bytes - done);
    std::memcpy(sq.data + slot * wire::kWqebbBytes, static_cast<const std::byte*>(wqe) + done, part);
  }
  pi += blocks;
}

void Side::ring_word(std::uint64_t word, std::size_t at) {
  const std::atomic_ref<std::uint64_t> reg(*reinterpret_cast<std::uint64_t*>(page.data + at));
  reg.store(word, std::memory_order_release);
}

void Side::post_recv(std::size_t offset, std::uint32_t bytes) {
  auto* const list = reinterpret_cast<wire::DataSegment*>(rq.data + (recv_pi % kRqEntries) * kRqStride);
  list[0] = wire::data_segment(local(offset), bytes);
  list[1] = {wire::be32(0), wire::be32(wire::kInvalidLkey), wire::be64(0)};
  ++recv_pi;
  dbrec->receive = wire::dbrec_value(recv_pi);
}

namespace {

const wire::Cqe* next_cqe(const Aligned& cq, std::uint64_t& ci, wire::CqDbrec* record) {
  const auto* cqe = reinterpret_cast<const wire::Cqe*>(cq.data) + (ci & ((1u << kLogCq) - 1));
  if (!wire::cqe_is_valid(cqe->op_own, ci, kLogCq)) return nullptr;
  ++ci;
  record->consumer = wire::be32(static_cast<std::uint32_t>(ci & 0xffffff));
  return cqe;
}

}  // namespace

const wire::Cqe* Side::poll() {
  return next_cqe(send_cq, ci, send_cq_dbrec);
}
const wire::Cqe* Side::poll_recv() {
  return next_cqe(recv_cq, recv_ci, recv_cq_dbrec);
}

TwoSides::TwoSides(Checking checking, const QpAttributes& attributes)
    : engine("hca-test-" + std::to_string(getpid()), checking), a(engine, 0), b(engine, 1) {
  a.connect_to(b, attributes);
  b.connect_to(a, attributes);
}

bool TwoSides::step() {
  now += std::chrono::microseconds(1);
  return engine.step(now);
}

void TwoSides::run() {
  while (step()) {
  }
}

void TwoSides::run_for(Time time) {
  for (const auto end = now + time; now < end; now += std::chrono::microseconds(100)) engine.step(now);
}

}  // namespace marrow::cx7::test
