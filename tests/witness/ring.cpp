// SPDX-License-Identifier: Apache-2.0
// Many processes at once in a ring: each writes to the next, round after round, and checks what the one before it
// wrote. With "kill SEED" one of them is killed at a random moment: the one before it must end in retry exceeded, and
// all others must end. Prints what each process saw that was not a success.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <random>
#include <string_view>
#include <vector>

#include "loopback.h"

namespace {

using Clock = std::chrono::steady_clock;
using witness::need;
using witness::Side;

constexpr int kMostProcesses = 200;
constexpr std::uint32_t kWords = 128;
constexpr std::chrono::seconds kPatience{100};
constexpr int kRetryExceeded = 10;  // exit codes of members
constexpr int kBroken = 11;         // another member is gone

struct Slot {
  std::uint32_t words[kWords];
};

struct Card {
  witness::Address in;   // of the queue pair that the one before connects to
  witness::Address out;  // ... and of the one that goes to the next
  std::uint64_t slots = 0;
  std::uint32_t rkey = 0;
};

/// What the processes share besides what the NIC moves.
struct Shared {
  Card cards[kMostProcesses];
  std::atomic<std::uint32_t> consumed[kMostProcesses];  // rounds that a member has checked
  std::atomic<int> ready;
  std::atomic<bool> broken;
};

struct Wishes {
  int processes = 0;
  std::uint32_t rounds = 0;
  bool kill = false;
  std::uint32_t seed = 0;
};

ibv_device* device(int index) {
  int n = 0;
  ibv_device** const list = ibv_get_device_list(&n);
  need(n >= 2, "two RDMA devices");
  return list[index];
}

std::uint32_t word_of(std::uint32_t round, int writer, std::uint32_t at) {
  return round * 0x9e3779b1u + static_cast<std::uint32_t>(writer) * 0x85ebca6bu + at;
}

class Member {
 public:
  Member(Shared& shared, const Wishes& wishes, int index)
      : shared_(shared), wishes_(wishes), index_(index), in_(device(index % 2)), out_(device(index % 2)) {
    to_ = need(in_.expose(slots_, sizeof slots_), "ibv_reg_mr");
    from_ = need(out_.expose(&outgoing_, sizeof outgoing_), "ibv_reg_mr");
    shared_.cards[index_] = {in_.address(), out_.address(), reinterpret_cast<std::uint64_t>(slots_), to_->rkey};
    ++shared_.ready;
  }

  /// An exit code.
  int run() {
    if (!all(wishes_.processes)) return kBroken;
    const Card& next = shared_.cards[(index_ + 1) % wishes_.processes];
    const Card& before = shared_.cards[(index_ + wishes_.processes - 1) % wishes_.processes];
    in_.connect(before.out, {.retries = 1});
    out_.connect(next.in, {.retries = 1});
    ++shared_.ready;
    if (!all(2 * wishes_.processes)) return kBroken;
    for (std::uint32_t round = 1; round <= wishes_.rounds; ++round) {
      for (auto& word : outgoing_.words)
        word = word_of(round, index_, static_cast<std::uint32_t>(&word - outgoing_.words));
      int code = await_room(round, next);
      if (code == 0) code = send(round, next);
      if (code != 0) return code;
      if (!receive(round)) return kBroken;
      shared_.consumed[index_] = round;
    }
    return 0;
  }

 private:
  bool wait(const char* what, bool (*done)(Member&, std::uint32_t), std::uint32_t argument) {
    for (const auto deadline = Clock::now() + kPatience; !done(*this, argument); ::sched_yield()) {
      if (shared_.broken) return false;
      if (Clock::now() > deadline) {
        std::fprintf(stderr, "member %d: %s not within its time\n", index_, what);
        std::_Exit(1);
      }
    }
    return true;
  }
  bool all(int count) {
    return wait(
        "the others", [](Member& me, std::uint32_t n) { return me.shared_.ready >= static_cast<int>(n); },
        static_cast<std::uint32_t>(count));
  }

  /// Until the next has read what stands in the slot. Who waits long asks with an empty write whether it still lives.
  int await_room(std::uint32_t round, const Card& next) {
    const auto& consumed = shared_.consumed[(index_ + 1) % wishes_.processes];
    const auto deadline = Clock::now() + kPatience;
    for (auto ask_at = Clock::now() + std::chrono::milliseconds(100); consumed + 2 < round; ::sched_yield()) {
      if (Clock::now() > deadline) return std::fprintf(stderr, "member %d: the next does not go on\n", index_), 1;
      if (Clock::now() < ask_at) continue;
      if (const int code = send(round, next, 0); code != 0) return code;
      if (shared_.broken) return kBroken;
      ask_at = Clock::now() + std::chrono::milliseconds(100);
    }
    return 0;
  }

  int send(std::uint32_t round, const Card& next, std::uint32_t bytes = sizeof(Slot)) {
    ibv_mr target{};
    target.rkey = next.rkey;
    void* const at = reinterpret_cast<Slot*>(next.slots) + round % 2;  // NOLINT(performance-no-int-to-ptr): a peer's
    out_.post({.from = from_, .from_address = &outgoing_, .to = &target, .to_address = at, .bytes = bytes});
    ibv_wc completion{};
    const auto deadline = Clock::now() + kPatience;
    while (ibv_poll_cq(out_.cq, 1, &completion) != 1) {
      if (Clock::now() > deadline) return std::fprintf(stderr, "member %d: no completion\n", index_), 1;
      ::sched_yield();
    }
    if (completion.status == IBV_WC_SUCCESS) return 0;
    shared_.broken = true;
    std::printf("member %d: %s\n", index_, ibv_wc_status_str(completion.status));
    std::fflush(stdout);
    return completion.status == IBV_WC_RETRY_EXC_ERR ? kRetryExceeded : 1;
  }

  /// The last word arrives last.
  bool receive(std::uint32_t round) {
    const int writer = (index_ + wishes_.processes - 1) % wishes_.processes;
    writer_ = writer;
    const bool came = wait(
        "a write",
        [](Member& me, std::uint32_t r) {
          const std::atomic_ref<std::uint32_t> last(me.slots_[r % 2].words[kWords - 1]);
          return last.load(std::memory_order_acquire) == word_of(r, me.writer_, kWords - 1);
        },
        round);
    for (std::uint32_t i = 0; came && i < kWords; ++i) {
      if (slots_[round % 2].words[i] == word_of(round, writer, i)) continue;
      std::fprintf(stderr, "member %d: wrong bytes in round %u\n", index_, round);
      std::_Exit(1);
    }
    return came;
  }

  Shared& shared_;
  const Wishes& wishes_;
  int index_;
  int writer_ = 0;
  Side in_;
  Side out_;
  alignas(64) Slot slots_[2]{};  // rounds take turns
  alignas(64) Slot outgoing_{};
  ibv_mr* to_ = nullptr;
  ibv_mr* from_ = nullptr;
};

/// Kills a member once all are connected, after up to 30 ms.
int kill_one(const std::vector<pid_t>& members, Shared& shared, const Wishes& wishes) {
  std::mt19937 random(wishes.seed);
  const int victim = static_cast<int>(random() % members.size());
  for (const auto deadline = Clock::now() + kPatience; shared.ready < 2 * wishes.processes; ::usleep(1000)) {
    need(Clock::now() < deadline, "the members are not ready in time");
  }
  ::usleep(static_cast<useconds_t>(random() % 30'000));
  need(::kill(members[static_cast<std::size_t>(victim)], SIGKILL) == 0, "kill");
  return victim;
}

int judge(const std::vector<int>& statuses, int victim) {
  const int n = static_cast<int>(statuses.size());
  int failures = 0;
  for (int k = 0; k < n; ++k) {
    const int code =
        WIFEXITED(statuses[static_cast<std::size_t>(k)]) ? WEXITSTATUS(statuses[static_cast<std::size_t>(k)]) : -1;
    const bool before = victim >= 0 && (k + 1) % n == victim;
    // Who was told ends too, and so others may write to it in vain.
    const bool told = code == kRetryExceeded || code == kBroken;
    const bool right = victim < 0 ? code == 0 : k == victim ? code == -1 : before ? code == kRetryExceeded : told;
    if (right) continue;
    std::printf("member %d ended with %d\n", k, code);
    ++failures;
  }
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  Wishes wishes;
  if (argc >= 3) wishes = {.processes = std::atoi(argv[1]), .rounds = static_cast<std::uint32_t>(std::atoi(argv[2]))};
  if (argc == 5 && std::string_view(argv[3]) == "kill") {
    wishes.kill = true;
    wishes.seed = static_cast<std::uint32_t>(std::atoi(argv[4]));
  }
  if (wishes.processes < 2 || wishes.processes > kMostProcesses || wishes.rounds == 0) {
    std::fputs("usage: ring PROCESSES ROUNDS [kill SEED]\n", stderr);
    return 2;
  }
  void* const at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(at != MAP_FAILED, "mmap");
  auto& shared = *new (at) Shared;
  const auto start = Clock::now();
  std::vector<pid_t> members;
  for (int k = 0; k < wishes.processes; ++k) {
    const pid_t child = ::fork();
    need(child >= 0, "fork");
    if (child == 0) {
      static Member member(shared, wishes, k);
      std::exit(member.run());
    }
    members.push_back(child);
  }
  const int victim = wishes.kill ? kill_one(members, shared, wishes) : -1;
  std::vector<int> statuses;
  for (const pid_t member : members) {
    int status = -1;
    need(::waitpid(member, &status, 0) == member, "waitpid");
    statuses.push_back(status);
  }
  const int failures = judge(statuses, victim);
  std::printf("%d processes, %u rounds, %d ended wrongly; %.1f s\n", wishes.processes, wishes.rounds, failures,
              std::chrono::duration<double>(Clock::now() - start).count());
  return failures == 0 ? 0 : 1;
}
