// SPDX-License-Identifier: Apache-2.0
// Who means no good: processes of another user at the sockets by which ours find each other, and packets with keys,
// addresses and lengths that nobody gave out. Neither sees or changes a byte. Strangers need root to be made: waived
// without.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../hca/two_sides.h"
#include "cx7/fabric/fabric.h"
#include "cx7/fabric/ring_memory.h"
#include "util/clock.h"
#include "util/fd.h"

namespace marrow::cx7::test {
namespace {

using std::chrono::milliseconds;
constexpr uid_t kNobody = 65534;
constexpr int kMilliseconds = 5000;

/// The abstract name of a slot, as decision 0008 has it: anybody can know it.
struct Name {
  Name(const std::string& domain, unsigned slot) {
    const auto text = "marrow-cx7-" + std::to_string(::geteuid()) + "-" + domain + "-" + std::to_string(slot);
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, text.data(), text.size());
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  sockaddr_un address{};
  socklen_t bytes = 0;
};

util::UniqueFd seqpacket() {
  return util::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}
bool readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, kMilliseconds) == 1;
}

/// What a process of ours would say first, with a ring that is as it must be.
bool introduce(int socket) {
  util::UniqueFd ring;
  if (!RingMemory::make_shared(ring)) return false;
  std::uint32_t hello[] = {0x6d777837, 1, 7};
  iovec part{hello, sizeof hello};
  alignas(cmsghdr) char rights[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = rights;
  message.msg_controllen = sizeof rights;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  *header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  const int fd = ring.get();
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof hello;
}

class Stranger : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "waived: only root can become another user";
  }
  void TearDown() override {
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }
  /// `body` as another user; its result is the exit code.
  template <class Body>
  void act(Body body) {
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) return;
    const bool changed = ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
    ::_exit(changed ? body() : 99);
  }
  int result() {
    int status = -1;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string domain_ = "attack" + std::to_string(::getpid());
  pid_t child_ = -1;
};

TEST_F(Stranger, IsTurnedAwayAtOurSocket) {
  Fabric fabric(domain_);
  const Name name(domain_, fabric.slot());
  act([&name] {
    const auto socket = seqpacket();
    if (::connect(socket.get(), name.get(), name.bytes) != 0) return 1;
    if (!introduce(socket.get())) return errno == EPIPE || errno == ECONNRESET ? 0 : 4;  // turned away before a word
    char byte = 0;
    if (!readable(socket.get())) return 2;
    return ::recv(socket.get(), &byte, 1, 0) <= 0 ? 0 : 3;
  });
  const auto end = util::now() + milliseconds(kMilliseconds);
  unsigned came = 0;
  int status = -1;
  while (util::now() < end && ::waitpid(child_, &status, WNOHANG) == 0) {
    fabric.maintain();
    came += fabric.deliver(16, {}, [](const Packet&) {});
  }
  child_ = -1;
  EXPECT_EQ(came, 0u);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(Stranger, WhoHoldsAnotherSlotsNameGetsNothing) {
  Fabric fabric(domain_);
  const Name name(domain_, 1);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  act([&] {
    const auto socket = seqpacket();
    if (::bind(socket.get(), name.get(), name.bytes) != 0 || ::listen(socket.get(), 8) != 0) return 1;
    (void)!::write(ready[1], "r", 1);
    if (!readable(socket.get())) return 0;  // nobody came at all
    const util::UniqueFd link(::accept(socket.get(), nullptr, nullptr));
    char byte = 0;
    return readable(link.get()) && ::recv(link.get(), &byte, 1, 0) > 0 ? 2 : 0;
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(fabric.reserve(1, 64).state, Reservation::State::kLost);
  EXPECT_EQ(result(), 0) << "a ring or a word went to another user";
  for (const int end : ready) ::close(end);
}

TEST_F(Stranger, CannotOpenOurMemory) {
  Fabric fabric(domain_);
  const auto directory = "/proc/" + std::to_string(::getpid()) + "/fd/";
  act([&directory] {
    for (int fd = 0; fd < 64; ++fd) {
      if (::open((directory + std::to_string(fd)).c_str(), O_RDWR) >= 0) return 1;
      if (errno != EACCES) return 2;
    }
    return 0;
  });
  EXPECT_EQ(result(), 0);
}

Packet forged(std::mt19937& random, const Side& victim) {
  constexpr PacketOpcode kOpcodes[] = {PacketOpcode::kWriteOnly,   PacketOpcode::kWriteFirst,
                                       PacketOpcode::kReadRequest, PacketOpcode::kFetchAdd,
                                       PacketOpcode::kCompareSwap, PacketOpcode::kSendOnlyInvalidate};
  constexpr std::uint32_t kLengths[] = {8, 1024, 4096, 1u << 30, 0xffffffff};
  Packet packet{.payload_bytes = 1024, .dest_qpn = victim.qp->config.qpn, .psn = victim.qp->responder.expected_psn};
  packet.opcode = kOpcodes[random() % std::size(kOpcodes)];
  packet.from_device = victim.qp->attributes.remote_device;
  packet.to_device = victim.device.index;
  packet.va = victim.remote().addr + random() % (kBufferBytes + 64) * (random() % 4 == 0 ? 0x10001 : 1);
  packet.dma_bytes = kLengths[random() % std::size(kLengths)];
  packet.swap_add = random();
  packet.ack_request = true;
  // Nearly right, or anything; never the key itself.
  packet.rkey = random() % 2 == 0 ? victim.mkey->key ^ (1u << random() % 32) : static_cast<std::uint32_t>(random());
  if (packet.rkey == victim.mkey->key) packet.rkey ^= 1;
  return packet;
}

TEST(Forged, KeysThatNobodyGaveOutTouchNoByte) {
  TwoSides two;
  std::mt19937 random(7);
  for (std::size_t k = 0; k < kBufferBytes; ++k) two.b.buffer.data[k] = static_cast<std::byte>(random());
  const std::vector<std::byte> before(two.b.buffer.data, two.b.buffer.data + kBufferBytes);
  Fabric& fabric = two.engine.fabric();
  for (int round = 0; round < 4000; ++round) {
    const Packet packet = forged(random, two.b);
    const auto room = fabric.reserve(fabric.slot(), packet.payload_bytes);
    ASSERT_EQ(room.state, Reservation::State::kRoom);
    *room.packet = packet;
    std::memset(room.packet->payload(), 0xee, packet.payload_bytes);
    fabric.commit(fabric.slot());
    two.run();
    ASSERT_EQ(std::memcmp(before.data(), two.b.buffer.data, kBufferBytes), 0) << "round " << round;
    if (two.b.qp->state == QpState::kRts) continue;
    for (Side* side : {&two.a, &two.b}) {
      ASSERT_EQ(two.engine.modify_qp(side->device, *side->qp, QpState::kReset, {}), Engine::Modify::kOk);
    }
    two.a.connect_to(two.b, kUsual);
    two.b.connect_to(two.a, kUsual);
  }
  EXPECT_GT(two.b.device.counters.naks_sent, 1000u);
}

// A PSN that is not the one expected, or another source, changes nothing either, whatever its key.
TEST(Forged, ARightKeyOutsideTheSequenceTouchesNoByte) {
  TwoSides two;
  std::mt19937 random(8);
  Fabric& fabric = two.engine.fabric();
  for (int round = 0; round < 1000; ++round) {
    Packet packet = forged(random, two.b);
    packet.opcode = PacketOpcode::kWriteOnly;
    packet.rkey = two.b.mkey->key;
    packet.va = two.b.remote().addr;
    packet.dma_bytes = packet.payload_bytes;
    const auto off = 1 + random() % 0xfffffe;
    const auto way = random() % 3;
    if (way == 0) packet.psn = psn_add(packet.psn, static_cast<std::uint32_t>(off));
    if (way == 1) packet.from_device ^= 1;
    if (way == 2) packet.dest_qpn += static_cast<std::uint32_t>(1 + random() % 60);
    const auto room = fabric.reserve(fabric.slot(), packet.payload_bytes);
    ASSERT_EQ(room.state, Reservation::State::kRoom);
    *room.packet = packet;
    std::memset(room.packet->payload(), 0xee, packet.payload_bytes);
    fabric.commit(fabric.slot());
    two.run();
    for (std::size_t k = 0; k < 1024; ++k) ASSERT_EQ(two.b.buffer.data[k], std::byte{0}) << "round " << round;
  }
}

}  // namespace
}  // namespace marrow::cx7::test
