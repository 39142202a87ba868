// SPDX-License-Identifier: Apache-2.0
// Two processes: the other one is killed while lanes put. Every lane hears of it in bounded time, by the name of what
// the NIC found out; routes to others go on; stop is clean. The second process is this program, started as one disabled
// test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "proxy/nic/two_ends.h"
#include "util/fd.h"

namespace marrow::proxy::testing {
namespace {

using gda::Status;
constexpr char kSocketVariable[] = "MARROW_TEST_PEER_SOCKET";
constexpr std::size_t kBytes = 1 << 16;

struct Hello {
  verbs::Address address;
  gda::Remote memory;
};

Hello meet(verbs::VerbsQp& queue, const End& end, int socket) {
  const Hello ours{queue.address(), end.mr.remote()};
  Hello theirs{};
  EXPECT_EQ(::write(socket, &ours, sizeof ours), static_cast<ssize_t>(sizeof ours));
  EXPECT_EQ(::read(socket, &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
  queue.connect(theirs.address);
  char ready = 1;
  EXPECT_EQ(::write(socket, &ready, 1), 1);
  EXPECT_EQ(::read(socket, &ready, 1), 1);
  return theirs;
}

TEST(PeerProcess, DISABLED_IsThere) {
  const char* const variable = std::getenv(kSocketVariable);
  ASSERT_NE(variable, nullptr);
  const int socket = std::atoi(variable);
  End end("mlx5_sim1", kBytes);
  Routes routes({end.context, end.pd, 1, impatient()}, {});
  meet(routes.queue(0, 0), end, socket);
  char nothing = 0;
  (void)!::read(socket, &nothing, 1);  // until the end
}

class KilledPeer : public ::testing::Test {
 protected:
  void SetUp() override {
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    socket_.reset(sockets[0]);
    ::fcntl(sockets[0], F_SETFD, FD_CLOEXEC);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    util::UniqueFd theirs(sockets[1]);
    ::setenv(kSocketVariable, std::to_string(theirs.get()).c_str(), 1);
    char self[] = "/proc/self/exe";
    char filter[] = "--gtest_filter=PeerProcess.DISABLED_IsThere";
    char also[] = "--gtest_also_run_disabled_tests";
    char brief[] = "--gtest_brief=1";
    char* arguments[] = {self, filter, also, brief, nullptr};
    ASSERT_EQ(::posix_spawn(&child_, self, nullptr, nullptr, arguments, environ), 0);
  }
  void kill_peer() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  void TearDown() override { kill_peer(); }

  util::UniqueFd socket_;
  pid_t child_ = -1;
};

TEST_F(KilledPeer, IsToldToEveryLaneByNameAndTheOtherPeerIsServedOn) {
  const auto options = crowded(1, 4);
  End here("mlx5_sim0", kBytes), near("mlx5_sim1", kBytes);
  Routes routes({here.context, here.pd, 2, impatient()}, options), nears({near.context, near.pd, 1}, options);
  const auto peer = meet(routes.queue(0, 0), here, socket_.get());
  verbs::connect(routes.queue(0, 1), nears.queue(0, 0));
  auto far = route_between(here, near, 0);
  far.to = peer.memory;
  routes.add(far);
  routes.add(route_between(here, near, 1));

  Rings<Tuned> rings(3);
  Workers<Tuned> workers(options, routes.table(), rings.list);
  workers.start();
  std::atomic<bool> killed{false};
  std::atomic<std::uint64_t> before{0};
  Status ends[2] = {Status::kOk, Status::kOk};
  std::thread lanes[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    lanes[i] = std::thread([&, i] {
      Producer<Tuned> lane(rings.ring(i));
      do {
        ends[i] = lane.wait(lane.put({.route = 0, .bytes = 64}));
        before += !killed;
      } while (ends[i] == Status::kOk);
    });
  }
  while (before < 100) std::this_thread::yield();
  kill_peer();
  killed = true;
  const auto start = util::now();
  for (auto& lane : lanes) lane.join();
  EXPECT_LT(util::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(ends[0] == Status::kRetryExceeded || ends[1] == Status::kRetryExceeded);
  for (const auto end : ends) EXPECT_TRUE(end == Status::kRetryExceeded || end == Status::kFlushed);
  Producer<Tuned> other(rings.ring(2));
  EXPECT_EQ(other.wait(other.put({.route = 1, .bytes = 64})), Status::kOk);
  EXPECT_EQ(other.wait(other.flush(1, FlushScope::kConnection)), Status::kOk);
  EXPECT_EQ(other.wait(other.flush(1, FlushScope::kAllPeers)), Status::kFlushed) << "a peer of all is gone";
  workers.stop();
}

}  // namespace
}  // namespace marrow::proxy::testing
