// SPDX-License-Identifier: Apache-2.0
// Two processes, each with its own software NIC and one end: addresses travel over a socket, bytes over the NICs. The
// second process is this program again, started as one disabled test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "marrow/gda/send_queue.h"
#include "util/clock.h"
#include "util/fd.h"
#include "verbs/endpoint.h"

namespace marrow::verbs {
namespace {

constexpr char kSocketVariable[] = "MARROW_TEST_PEER_SOCKET";
constexpr gda::Solo kTeam;
using Policy = gda::Pointer<gda::SystemFence>;

struct Hello {
  Address address;
  gda::Remote memory;
};

template <class Message>
bool send(int socket, const Message& message) {
  return ::write(socket, &message, sizeof message) == sizeof message;
}
template <class Message>
bool receive(int socket, Message& message) {
  return ::read(socket, &message, sizeof message) == sizeof message;
}

DevxQpOptions options() {
  DevxQpOptions chosen;
  chosen.behaviour.ack_timeout = 12;
  chosen.behaviour.retry_count = 3;
  chosen.timeout = std::chrono::seconds(10);
  return chosen;
}

/// Exchanges hellos and connects; the answer is the peer's memory.
gda::Remote meet(Endpoint& endpoint, int socket) {
  Hello theirs;
  const Hello ours{endpoint.queue.address(), endpoint.remote()};
  EXPECT_TRUE(send(socket, ours));
  EXPECT_TRUE(receive(socket, theirs));
  endpoint.queue.connect(theirs.address);
  char ready = 1;
  EXPECT_TRUE(send(socket, ready));
  EXPECT_TRUE(receive(socket, ready));
  return theirs.memory;
}

gda::Result put(Endpoint& from, const gda::Put& put) {
  gda::SendQueue<Policy> sq(from.queue.handle());
  const auto slots = sq.reserve(kTeam, 1);
  sq.write(slots[0], put);
  return sq.wait(kTeam, sq.submit(kTeam, slots));
}

/// The second process: for each byte on the socket it writes its buffer, incremented, back to the first.
TEST(PeerProcess, DISABLED_Answers) {
  const char* const variable = std::getenv(kSocketVariable);
  ASSERT_NE(variable, nullptr);
  const int socket = std::atoi(variable);
  Endpoint endpoint("mlx5_sim1", 4096, options());
  const gda::Remote peer = meet(endpoint, socket);
  for (char go = 0; receive(socket, go);) {
    for (std::size_t i = 0; i < 4096; ++i) endpoint.data()[i] = std::byte(std::to_integer<int>(endpoint.data()[i]) + 1);
    const auto result = put(endpoint, {.to = peer + 8192, .from = endpoint.local(), .bytes = 4096});
    ASSERT_TRUE(send(socket, result.status));
  }
}

class TwoProcesses : public ::testing::Test {
 protected:
  void SetUp() override {
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    socket_.reset(sockets[0]);
    ::fcntl(sockets[0], F_SETFD, FD_CLOEXEC);  // or the peer would never see us hang up
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    for (const int socket : sockets) ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    util::UniqueFd theirs(sockets[1]);
    ::setenv(kSocketVariable, std::to_string(theirs.get()).c_str(), 1);
    char self[] = "/proc/self/exe";
    char filter[] = "--gtest_filter=PeerProcess.DISABLED_Answers";
    char also[] = "--gtest_also_run_disabled_tests";
    char brief[] = "--gtest_brief=1";
    char* arguments[] = {self, filter, also, brief, nullptr};
    ASSERT_EQ(::posix_spawn(&child_, self, nullptr, nullptr, arguments, environ), 0);
  }
  void TearDown() override {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  util::UniqueFd socket_;
  pid_t child_ = -1;
};

TEST_F(TwoProcesses, WriteEachOthersMemory) {
  Endpoint endpoint("mlx5_sim0", 64 << 10, options());
  const gda::Remote peer = meet(endpoint, socket_.get());
  for (int round = 0; round < 50; ++round) {
    std::memset(endpoint.data(), round, 4096);
    ASSERT_EQ(put(endpoint, {.to = peer, .from = endpoint.local(), .bytes = 4096}).status, gda::Status::kOk);
    ASSERT_TRUE(send(socket_.get(), 'g'));
    auto status = gda::Status::kTimeout;
    ASSERT_TRUE(receive(socket_.get(), status));
    ASSERT_EQ(status, gda::Status::kOk);
    for (std::size_t i = 0; i < 4096; ++i) ASSERT_EQ(endpoint.data()[8192 + i], std::byte(round + 1)) << round;
  }
  socket_.reset();
  int exit_status = -1;
  ASSERT_EQ(::waitpid(child_, &exit_status, 0), child_);
  child_ = -1;
  EXPECT_EQ(exit_status, 0);
}

TEST_F(TwoProcesses, WriteToAKilledPeerEndsInRetriesExceeded) {
  Endpoint endpoint("mlx5_sim0", 4096, options());
  const gda::Remote peer = meet(endpoint, socket_.get());
  ASSERT_EQ(put(endpoint, {.to = peer, .from = endpoint.local(), .bytes = 8}).status, gda::Status::kOk);
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
  const auto start = util::now();
  EXPECT_EQ(put(endpoint, {.to = peer, .from = endpoint.local(), .bytes = 8}).status, gda::Status::kRetryExceeded);
  EXPECT_LT(util::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace marrow::verbs
