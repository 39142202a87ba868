// SPDX-License-Identifier: Apache-2.0
// Firmware mailboxes, whole or nearly right, and then whatever bytes stand in the queues that they made: no input may
// crash, hang or be answered with a status that the reply does not hold.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/mkc.h"
#include "cx7/fw/world.h"
#include "cx7/hca/key_layout.h"
#include "fuzz/input.h"
#include "marrow/wire/doorbell.h"
#include "verbs/mailboxes.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;

constexpr std::uint32_t kKey = 0x300;
constexpr std::uint32_t kSqWqebbs = 32;
constexpr int kMostCommands = 24;
constexpr int kStepsOfARing = 6;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::uint32_t> known_commands() {
  std::vector<std::uint32_t> found;
  for (std::uint32_t opcode = 0; opcode < 0x1000; ++opcode) {
    if (find_command(opcode) != nullptr) found.push_back(opcode);
  }
  return found;
}

/// What outlives an input, because making it takes longer than all else.
struct Nic {
  static constexpr std::size_t kPage = 4096;
  Engine engine{"fuzz-" + std::to_string(::getpid()), Checking::kStrict};
  alignas(kPage) std::array<std::byte, kUmemBytes> memory{};
  alignas(64) std::array<std::byte, wire::kUarBytes> registers{};
  Time now{1};
};
Nic& nic() {
  static Nic* const kept = new Nic;
  return *kept;
}

/// One client with memory, a doorbell page and a key, and the last CQ and QP that it made.
class World {
 public:
  World() : client_(nic().engine, nic().engine.device(0)) {
    memory().fill(std::byte{});
    nic().registers.fill(std::byte{});
    give_world(client_, nic().registers.data(), memory().data());
    engine().add_mkey(client_.device, {.key = kKey,
                                       .pdn = kPdn,
                                       .access = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic,
                                       .iova = 0,
                                       .bytes = kUmemBytes,
                                       .host = memory().data()});
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    Device& device = client_.device;
    for (const auto& qpn : client_.qps) engine().remove_qp(device, *device.qps.find(qpn.first));
    for (const auto dctn : client_.dcts) engine().remove_qp(device, *device.qps.find(dctn));
    for (const auto& rmp : client_.rmps) engine().remove_srq(device, *device.srqs.find(rmp.first));
    for (const auto& mkey : client_.mkeys) engine().remove_mkey(device, device.mkeys.find(mkey.first)->key);
    for (const auto& cqn : client_.cqs) engine().remove_cq(device, *device.cqs.find(cqn.first));
    engine().remove_mkey(device, kKey);
    engine().remove_uar(device, kUarPage);
    device.pds.erase(kPdn);
  }

  void step(fuzz::Input& input) {
    switch (input.word<std::uint8_t>() % 9) {
      case 0:
        return run(cq(), input, &cqn_);
      case 1:
        posted_ = 0;
        return run(qp(), input, &qpn_);
      case 2:
        return run(bytes_of(verbs::rst2init(qpn_, 1, {})), input, nullptr);
      case 3:
        return run(bytes_of(verbs::init2rtr(to_itself())), input, nullptr);
      case 4:
        return run(bytes_of(verbs::rtr2rts(to_itself())), input, nullptr);
      case 5:
        return run(any(input), input, nullptr);
      case 6:
        return bring_up();
      case 7:
        return run(list_key(input), input, &mkey_);
      default:
        return ring(input);
    }
  }

 private:
  using Box = std::vector<std::byte>;

  static Engine& engine() { return nic().engine; }
  static std::array<std::byte, kUmemBytes>& memory() { return nic().memory; }

  template <class Mailbox>
  static Box bytes_of(const Mailbox& mailbox) {
    return {mailbox.bytes.begin(), mailbox.bytes.end()};
  }
  static Box cq() {
    return bytes_of(verbs::create_cq({.log_cqes = 4,
                                      .uar_page = kUarPage,
                                      .eqn = kEqn,
                                      .umem_id = kUmem,
                                      .dbrec_umem_id = kUmem,
                                      .dbrec_offset = kDbrecAt}));
  }
  [[nodiscard]] Box qp() const {
    auto box = verbs::create_qp({.pdn = kPdn,
                                 .log_sq_wqebbs = 5,  // kSqWqebbs
                                 .uar_page = kUarPage,
                                 .cqn = cqn_,
                                 .umem_id = kUmem,
                                 .dbrec_umem_id = kUmem,
                                 .dbrec_offset = kDbrecAt + 64});
    prm::set(box.bytes.data(), prm::create_qp::wq_umem_offset, kQueueAt);
    return bytes_of(box);
  }
  /// A key that shows whatever the input says, or nothing yet.
  static Box list_key(fuzz::Input& input) {
    const std::uint32_t entries = input.word<std::uint8_t>() % 4;
    Box box(create_mkey_at::kInBytes + std::size_t{entries} * kOctowordBytes);
    prm::set(box.data(), prm::in::opcode, static_cast<std::uint32_t>(Command::kCreateMkey));
    prm::set(box.data(), create_mkey_at::list_octowords, entries);
    std::byte* const context = box.data() + create_mkey_at::kContext;
    prm::set(context, mkc::free, entries == 0 ? 1 : 0);
    prm::set(context, mkc::umr_en, 1);
    for (const auto right : {mkc::local_read, mkc::local_write, mkc::remote_read, mkc::remote_write, mkc::atomic}) {
      prm::set(context, right, 1);
    }
    prm::set(context, mkc::access_mode, 2 + input.word<std::uint8_t>() % 2);
    prm::set(context, mkc::qpn, kAnyQp);
    prm::set(context, mkc::pd, kPdn);
    prm::set(context, mkc::length, kUmemBytes);
    prm::set(context, mkc::log_entity_bytes, input.word<std::uint8_t>());
    prm::set(context, mkc::octowords, 4);
    const auto list = std::span(box).subspan(create_mkey_at::kInBytes);
    input.fill(list);
    for (std::uint32_t k = 0; k < entries; ++k) {
      const wire::be32 key((input.word<std::uint8_t>() & 1) != 0 ? kKey : 0x400);
      std::memcpy(list.data() + k * kOctowordBytes + 4, &key, sizeof key);
    }
    return box;
  }
  [[nodiscard]] verbs::Connection to_itself() const {
    verbs::Connection c;
    c.local.qpn = c.remote.qpn = qpn_;
    c.local.lid = c.remote.lid = 1;
    c.port = 1;
    return c;
  }
  [[nodiscard]] Box any(fuzz::Input& input) const {
    static const auto known = known_commands();
    const auto opcode = known[input.word<std::uint8_t>() % known.size()];
    Box box(find_command(opcode)->in_bytes);
    prm::set(box.data(), prm::in::opcode, opcode);
    prm::set(box.data(), prm::destroy::object, (input.word<std::uint8_t>() & 1) != 0 ? qpn_ : cqn_);
    return box;
  }

  void run(Box in, fuzz::Input& input, std::uint32_t* made) {
    const unsigned how = input.word<std::uint8_t>();
    for (unsigned k = 0; k < (how & 3); ++k) in[input.word<std::uint16_t>() % in.size()] ^= input.word<std::byte>();
    if ((how & 4) != 0) in.resize(input.word<std::uint16_t>() % (in.size() + 16));
    const auto* const spec = find_command(opcode_of(in));
    Box out((how & 8) != 0 ? input.word<std::uint8_t>() : spec != nullptr ? spec->out_bytes : 16, std::byte{0xee});
    const auto reply = execute(client_, in, out);
    if (out.size() >= 8) {
      require(prm::get(out.data(), prm::out::status) == static_cast<std::uint32_t>(reply.status));
      require(reply.ok() || prm::get(out.data(), prm::out::syndrome) == syndrome_of(reply.reason));
    }
    if (reply.ok() && made != nullptr && out.size() >= 12) *made = prm::get(out.data(), prm::out::object);
  }

  /// A queue pair that may send to itself, as far as what came before lets it.
  void bring_up() {
    fuzz::Input as_it_is(nullptr, 0);
    posted_ = 0;
    run(cq(), as_it_is, &cqn_);
    run(qp(), as_it_is, &qpn_);
    run(bytes_of(verbs::rst2init(qpn_, 1, {})), as_it_is, nullptr);
    run(bytes_of(verbs::init2rtr(to_itself())), as_it_is, nullptr);
    run(bytes_of(verbs::rtr2rts(to_itself())), as_it_is, nullptr);
  }

  /// A WQE in its place of the ring: whatever bytes come next, and mostly the segments that reach further than those.
  void put(std::uint32_t index, fuzz::Input& input) {
    auto* const at = memory().data() + kQueueAt + index % kSqWqebbs * wire::kWqebbBytes;
    input.fill({at, wire::kWqebbBytes});
    const unsigned how = input.word<std::uint8_t>();
    const auto opcode = static_cast<wire::Opcode>(how & 0x1f);
    auto post = wire::Post{qpn_, index, wire::Completion::kAlways};
    post.imm = mkey_ << 8;
    const auto ctrl = wire::ctrl_segment(post, opcode, 2 + (how >> 6));
    const auto key = (input.word<std::uint8_t>() & 1) != 0 ? mkey_ << 8 : kKey;
    const auto remote = wire::remote_segment({input.word<std::uint16_t>(), key});
    const auto data = wire::data_segment({input.word<std::uint16_t>(), key}, input.word<std::uint16_t>());
    if ((how & 0x20) != 0) return;
    std::memcpy(at, &ctrl, sizeof ctrl);
    std::memcpy(at + wire::kDsBytes, &remote, sizeof remote);
    std::memcpy(at + 2 * wire::kDsBytes, &data, sizeof data);
  }

  /// Some WQEs, a record and a doorbell, and the engine's time to work on them.
  void ring(fuzz::Input& input) {
    const auto more = input.word<std::uint8_t>() % 8;
    for (int k = 0; k < more; ++k) put(posted_ + static_cast<std::uint32_t>(k), input);
    posted_ += input.word<std::uint8_t>() % 16 == 0 ? input.word<std::uint8_t>() : static_cast<std::uint32_t>(more);
    const auto record = wire::dbrec_value(posted_).raw;
    std::memcpy(memory().data() + kDbrecAt + 64 + 4, &record, sizeof record);
    const std::uint64_t word = wire::doorbell_word(qpn_, posted_);
    std::memcpy(nic().registers.data() + wire::kUarBlueFlame, &word, sizeof word);
    for (int k = 0; k < kStepsOfARing; ++k) engine().step(nic().now += std::chrono::milliseconds(1));
  }

  Client client_;
  std::uint32_t cqn_ = 0;
  std::uint32_t qpn_ = 0;
  std::uint32_t mkey_ = 0;  // its index
  std::uint32_t posted_ = 0;
};

}  // namespace
}  // namespace marrow::cx7::fw

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  marrow::fuzz::Input input(data, size);
  marrow::cx7::fw::World world;
  for (int k = 0; k < marrow::cx7::fw::kMostCommands && !input.empty(); ++k) world.step(input);
  return 0;
}
