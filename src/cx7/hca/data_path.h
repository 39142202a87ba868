// SPDX-License-Identifier: Apache-2.0
// The data path of one device during one step: stops 5 to 8 (docs/one-message.md) are its public functions, each in
// the file named after it. Lives on the stack of Engine::step(), which holds the lock.
#pragma once

#include <span>

#include "cx7/fabric/roce_format.h"
#include "cx7/hca/engine.h"
#include "cx7/hca/memory_key.h"
#include "marrow/wire/cqe.h"

namespace marrow::cx7 {

/// What a CQE says; owner bit and layout are completion.cpp's business.
struct CqeContent {
  wire::CqeOpcode opcode{};
  wire::Opcode wqe_opcode{};
  std::uint32_t qpn = 0;
  std::uint32_t user_index = 0;
  std::uint16_t wqe_counter = 0;
  std::uint32_t byte_count = 0;
  std::uint32_t imm = 0;  // as in memory
  bool solicited = false;
  /// Of a datagram alone.
  std::uint32_t source_qpn = 0;
  std::uint16_t source_lid = 0;
  std::uint8_t service_level = 0;
  std::uint8_t grh = 0;  // 0: none; 1: a GRH or an IPv6 header; 2: an IPv4 header
  wire::Syndrome syndrome = wire::Syndrome::kNone;
  std::uint8_t vendor = 0;
};

/// Why a WQE cannot be executed.
struct Refusal {
  wire::Syndrome syndrome = wire::Syndrome::kNone;
  std::uint8_t vendor = 0;
  explicit operator bool() const { return syndrome != wire::Syndrome::kNone; }
};

class DataPath {
 public:
  DataPath(Engine& engine, Device& device, Time now) : engine_(engine), device_(device), now_(now) {}

  // Stop 5, doorbell.cpp.
  bool poll_doorbells();
  /// Slow scan of one QP: a record that moved and was never rung; work posted to a QP in error.
  void scan_record(Qp& qp);
  /// Puts `qp` on the list of those that this step serves, or the next when this one is past that.
  void mark_ready(Qp& qp) {
    if (qp.ready) return;
    qp.ready = true;
    engine_.ready_.push_back(&qp);
  }

  // Stop 6, requester.cpp. True when it moved.
  bool send(Qp& qp);

  // Stop 7, responder.cpp and responder_answer.cpp.
  void on_request(Qp& qp, const Packet& packet);
  /// A send to a UD QP (datagram.cpp).
  void on_datagram(Qp& qp, const Packet& packet);
  void trace_received(const Packet& packet) {
    if (is_tracing()) [[unlikely]]
      add_to_trace({.kind = TraceEvent::Kind::kPacketReceived,
                    .opcode = static_cast<std::uint8_t>(packet.opcode),
                    .peer = packet.from_device,
                    .qpn = packet.dest_qpn,
                    .a = packet.dest_qpn,
                    .b = packet.psn,
                    .c = static_cast<std::uint8_t>(packet.opcode)});
  }
  /// A request, or one of the two packets around it, to a DCT (dc.cpp).
  void on_dc_packet(Qp& dct, const Packet& packet);
  /// Sends the answers owed. False when the link is full and some remain.
  bool answer(Qp& qp);

  // Stop 8, completer.cpp.
  void on_response(Qp& qp, const Packet& packet);
  void on_timer(Qp& qp);
  /// Reports a failure that waited for its turn, once everything before it is retired.
  void settle_failure(Qp& qp);

  /// Of a DCI that goes: tells its DCT, if it has one (dc.cpp).
  void disconnect(Qp& qp);

  // error.cpp: everything that ends a QP.
  void enter_error(Qp& qp);
  /// The send queue failed: ends the QP, or of an unreliable one the send queue alone.
  void enter_send_error(Qp& qp);
  /// Its CQ is dead.
  void lose_cq(Qp& qp);
  void tell(Qp& qp, AsyncEvent event);
  void flush_send(Qp& qp);
  void flush_recv(Qp& qp);

  // completion.cpp.
  void write_cqe(Cq& cq, const CqeContent& content) {
    if (engine_.held_cqes_ != nullptr && hold_cqe(cq, content)) [[unlikely]]
      return;
    put_cqe(cq, content);
  }
  void put_cqe(Cq& cq, const CqeContent& content);
  /// What comes from now on goes to other memory; the last CQE of the old one says so. False: no room for that CQE, or
  /// more CQEs are unread than the new memory holds.
  bool resize_cq(Cq& cq, const CqMemory& to);
  void fire_if_armed(Cq& cq);

  // held_cqes.cpp, where faults hold CQEs back.
  /// Writes what waits for this CQ, null for none.
  void write_held(const Cq* cq);

 private:
  bool hold_cqe(Cq& cq, const CqeContent& content);
  // doorbell.cpp
  struct Rung {
    std::uint32_t at = 0;  // register
    wire::Doorbell doorbell;
  };
  void take_page(Uar& uar, std::span<const Rung> rung);
  bool is_overlooked(Uar& uar);
  void look_for_late(Qp& qp, std::uint64_t doorbell);
  void ring(Uar& uar, const Rung& rung);
  void accept(Qp& qp, bool named);

  // dc.cpp
  bool aim(Qp& qp);
  bool connect(Qp& qp);
  bool send_dc(Qp& qp, PacketOpcode opcode);
  void on_dc_connect(Qp& dct, const Packet& packet);

  // wqe_decode.cpp
  Refusal decode(const Qp& qp, std::uint32_t index, DecodedWqe& wqe);
  Refusal take_av(std::span<const std::byte>& segments, DecodedWqe& wqe);
  Refusal parse_segments(const Qp& qp, std::span<const std::byte> segments, DecodedWqe& wqe);
  Refusal add_data(const Qp& qp, std::span<const std::byte> segments, DecodedWqe& wqe);

  Refusal take_atomic(std::span<const std::byte>& segments, DecodedWqe& wqe);

  // key_change.cpp
  Refusal parse_key_change(std::span<const std::byte> segments, DecodedWqe& wqe);
  Refusal change_key(const Qp& qp, const DecodedWqe& wqe);
  bool invalidate(const Qp& qp, std::uint32_t key);

  // requester.cpp
  bool fetch(Qp& qp);
  [[nodiscard]] bool window_is_open(const Qp& qp, const SentWqe& wqe) const;
  bool send_packet(Qp& qp);
  void sent(Qp& qp, const SentWqe& wqe);
  bool fill(Qp& qp, const SentWqe& wqe, Packet& packet);
  bool gather(const DecodedWqe& wqe, std::uint32_t offset, std::span<std::byte> to);
  void arm_timer(Qp& qp);
  void refuse(Qp& qp, const Requester::Failure& failure);
  bool refuse_next(Qp& qp, const Refusal& refusal);

  // datagram.cpp
  bool send_datagram(Qp& qp);
  bool fill_datagram(Qp& qp, std::uint32_t grh_bytes, Packet& packet);

  // responder.cpp and responder_recv.cpp
  enum class Taken : std::uint8_t { kYes, kNone, kRefused };
  void establish(Qp& qp);
  bool check_order(Qp& qp, const Packet& packet);
  bool check_message(Qp& qp, const Packet& packet);
  void on_duplicate(Qp& qp, const Packet& packet);
  void on_write(Qp& qp, const Packet& packet);
  void on_send(Qp& qp, const Packet& packet);
  void on_read(Qp& qp, const Packet& packet);
  void on_atomic(Qp& qp, const Packet& packet);
  Taken take_recv_wqe(Qp& qp);
  void complete_recv(Qp& qp, CqeContent content);
  bool scatter_recv(Qp& qp, const Packet& packet);
  void finish_recv(Qp& qp, const Packet& packet);
  void advance(Qp& qp, const Packet& packet, std::uint32_t psns);
  void nak(Qp& qp, std::uint32_t psn, std::uint8_t syndrome);
  void nak_not_ready(Qp& qp, const Packet& packet);
  void refuse_recv(Qp& qp, const Refusal& refusal);

  // responder_answer.cpp
  void fail_responder(Qp& qp);
  bool answer_resource(Qp& qp, ResponderResource& resource);
  bool send_ack(Qp& qp, std::uint32_t psn, std::uint8_t syndrome);
  Packet* reserve_answer(Qp& qp, std::uint32_t bytes, bool& full);

  // completer.cpp
  void on_ack(Qp& qp, const Packet& packet);
  void on_read_response(Qp& qp, const Packet& packet);
  void on_atomic_response(Qp& qp, const Packet& packet);
  SentWqe* awaited_response(Qp& qp, const Packet& packet);
  void progress(Qp& qp);
  void retire_through(Qp& qp, std::uint32_t psn);
  void retire(Qp& qp, const SentWqe& wqe);
  void trace_retired(const Qp& qp, const SentWqe& wqe, wire::Syndrome syndrome);
  void rewind(Qp& qp);
  void fail_oldest(Qp& qp, const Refusal& refusal);

  [[nodiscard]] bool is_tracing() const { return engine_.trace_.is_on(); }
  /// Fills in device and time. Behind is_tracing() alone, so that nothing is put together for nobody.
  void add_to_trace(TraceEvent event) {
    event.device = device_.index;
    event.time_ns = static_cast<std::uint64_t>(now_.count());
    engine_.trace_.add(event);
  }
  void trace_sent(TraceEvent::Kind kind, std::uint32_t qpn, const Packet& packet, std::uint64_t c) {
    if (is_tracing()) [[unlikely]]
      add_to_trace({.kind = kind,
                    .opcode = static_cast<std::uint8_t>(packet.opcode),
                    .peer = packet.to_device,
                    .qpn = qpn,
                    .a = packet.dest_qpn,
                    .b = packet.psn,
                    .c = c});
  }
  /// Before its commit: from then on it is the receiver's.
  void count_sent(const Packet& packet) {
    ++device_.counters.packets_sent;
    device_.counters.words_sent += wire_words(packet);
  }
  void count_error_cqe(const CqeContent& content);
  [[nodiscard]] bool strict() const { return engine_.checking_ == Checking::kStrict; }

  Engine& engine_;
  Device& device_;
  Time now_;
};

/// Window element by free-running index.
inline SentWqe& window_at(Requester& requester, std::uint32_t at) {
  return requester.window[at & requester.window_mask];
}

/// Where the peer's packets go.
inline unsigned route_of(const Qp& qp) {
  return route_to(qp.attributes.remote_device, qp.attributes.remote_qpn);
}

/// The domain whose keys packets to `qp` may use: its own, with XRC that of the SRQ they name.
inline std::uint32_t pdn_of(const Qp& qp) {
  const bool xrc = qp.config.service == ServiceType::kXrc && qp.responder.srq != nullptr;
  return xrc ? qp.responder.srq->pdn : qp.config.pdn;
}

/// Where a receive of `qp` completes; with XRC only while there is an SRQ.
inline Cq* recv_cq_of(const Qp& qp) {
  return qp.config.service == ServiceType::kXrc ? qp.responder.srq->cq : qp.config.recv_cq;
}

/// Signed distance of two 16-bit queue indices.
constexpr std::int16_t distance16(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int16_t>(a - b);
}

}  // namespace marrow::cx7
