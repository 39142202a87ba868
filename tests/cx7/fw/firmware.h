// SPDX-License-Identifier: Apache-2.0
// A firmware client with one PD, one doorbell page and one umem, and mailboxes that succeed. A test changes one field
// and looks at the status.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/port.h"
#include "cx7/fw/world.h"

namespace marrow::cx7::fw {

namespace prm = wire::prm;
using Mailbox = std::vector<std::byte>;

class Firmware : public testing::Test {
 protected:
  Firmware() : Firmware(Checking::kStrict) {}
  explicit Firmware(Checking checking)
      : engine_("test-" + std::to_string(::getpid()), checking),
        client_(engine_, engine_.device(0)),
        memory_(new (std::align_val_t{4096}) Bytes{}) {
    give_world(client_, registers_.data(), memory_->data());
  }
  void TearDown() override { override_link_layer(LinkLayer::kInfiniBand); }

  static Mailbox box(Command command, std::size_t bytes) {
    Mailbox in(bytes);
    prm::set(in.data(), prm::in::opcode, static_cast<std::uint32_t>(command));
    return in;
  }
  static Mailbox about(Command command, std::uint32_t number) {
    auto in = box(command, 0x10);
    prm::set(in.data(), prm::destroy::object, number);
    return in;
  }
  CommandStatus run(const Mailbox& in, std::size_t out_bytes = 0x110) {
    out_.assign(out_bytes, std::byte{0xee});
    const auto reply = execute(client_, in, out_);
    if (out_bytes >= 8) {
      EXPECT_EQ(prm::get(out_.data(), prm::out::status), static_cast<std::uint32_t>(reply.status));
      EXPECT_EQ(prm::get(out_.data(), prm::out::syndrome), reply.ok() ? 0 : syndrome_of(reply.reason));
    }
    return reply.status;
  }
  [[nodiscard]] std::uint32_t made() const { return prm::get(out_.data(), prm::out::object); }

  static Mailbox good_cq() {
    auto in = box(Command::kCreateCq, 0x110);
    prm::set(in.data(), prm::create_cq::umem_id, kUmem);
    prm::set(in.data(), prm::create_cq::umem_valid, 1);
    std::byte* const c = in.data() + prm::create_cq::kContext;
    prm::set(c, prm::cqc::dbr_umem_valid, 1);
    prm::set(c, prm::cqc::dbr_umem_id, kUmem);
    prm::set(c, prm::cqc::dbr_addr, kDbrecAt);
    prm::set(c, prm::cqc::log_size, 4);
    prm::set(c, prm::cqc::uar_page, kUarPage);
    prm::set(c, prm::cqc::eqn, kEqn);
    return in;
  }
  Mailbox good_qp() {
    if (cqn_ == 0) {
      EXPECT_EQ(run(good_cq()), CommandStatus::kOk);
      cqn_ = made();
    }
    auto in = box(Command::kCreateQp, 0x110);
    prm::set(in.data(), prm::create_qp::wq_umem_offset, kQueueAt);
    prm::set(in.data(), prm::create_qp::wq_umem_id, kUmem);
    prm::set(in.data(), prm::create_qp::wq_umem_valid, 1);
    std::byte* const c = in.data() + prm::create_qp::kContext;
    prm::set(c, prm::qpc::pm_state, 3);
    prm::set(c, prm::qpc::pd, kPdn);
    prm::set(c, prm::qpc::log_sq_size, 5);
    prm::set(c, prm::qpc::rq_type, 3);
    prm::set(c, prm::qpc::uar_page, kUarPage);
    prm::set(c, prm::qpc::user_index, 0xabc);
    prm::set(c, prm::qpc::cqn_snd, cqn_);
    prm::set(c, prm::qpc::dbr_umem_valid, 1);
    prm::set(c, prm::qpc::dbr_umem_id, kUmem);
    prm::set(c, prm::qpc::dbr_addr, kDbrecAt + 64);
    return in;
  }
  std::uint32_t make_qp() {
    EXPECT_EQ(run(good_qp()), CommandStatus::kOk);
    return made();
  }

  using Bytes = std::array<std::byte, kUmemBytes>;
  struct Free {
    void operator()(Bytes* bytes) const { ::operator delete (bytes, std::align_val_t{4096}); }
  };
  Engine engine_;
  Client client_;
  alignas(64) std::array<std::byte, 4096> registers_{};
  std::unique_ptr<Bytes, Free> memory_;
  Mailbox out_;
  std::uint32_t cqn_ = 0;
};

}  // namespace marrow::cx7::fw
