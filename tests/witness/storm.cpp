// SPDX-License-Identifier: Apache-2.0
// RC traffic whose every byte is checked: writes, reads, both atomics and sends of many sizes, 64 at a time, between
// two queue pairs of one process or (with "processes") of two. Run under faults it ends with every byte right, or tells
// the first error and how long that took; told to expect one ("expect STATUS"), it fails without it, or when flushes do
// not follow. The memory of both ends is shared between the two processes, so that the driver sees both sides of it.
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "loopback.h"

namespace {

using Clock = std::chrono::steady_clock;
using witness::need;
using witness::Side;

constexpr std::uint32_t kPlaces = 64;  // operations at once, each with a place of its own at both ends
constexpr std::uint32_t kReceives = 128;
constexpr std::size_t kPlaceBytes = 8192;
constexpr std::chrono::seconds kPatience{120};  // for one completion

/// Both ends' memory.
struct Memory {
  std::uint8_t near[kPlaces][kPlaceBytes];
  std::uint8_t far[kPlaces][kPlaceBytes];
  std::uint8_t received[kReceives][kPlaceBytes];
  alignas(8) std::uint64_t results[kPlaces];
  alignas(8) std::uint64_t added;
  std::uint64_t swapped;
  std::atomic<std::uint32_t> sends;  // that the far end has seen and checked
  std::atomic<bool> over;
};

struct Wishes {
  std::uint32_t operations = 0;
  bool processes = false;
  std::string expected;  // ibv_wc_status_str() of the first error
  witness::Patience patience;
};

/// What the two ends tell each other.
struct Card {
  witness::Address address;
  std::uint32_t rkey = 0;
};

enum class Kind : std::uint8_t { kWrite, kRead, kSend, kAdd, kSwap };

struct Operation {
  Kind kind{};
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;
};

std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

Operation operation_of(std::uint32_t number) {
  const std::uint32_t dice = scrambled(number);
  const bool long_one = dice >> 28 == 0;
  return {static_cast<Kind>(dice % 5), 1 + (dice >> 4) % (long_one ? 5000u : 600u), number};
}

void fill(std::uint8_t* to, const Operation& operation) {
  for (std::uint32_t i = 0; i < operation.bytes; ++i)
    to[i] = static_cast<std::uint8_t>(operation.number + i * 31 + (i >> 8));
}
bool is_filled(const std::uint8_t* from, const Operation& operation) {
  for (std::uint32_t i = 0; i < operation.bytes; ++i) {
    if (from[i] != static_cast<std::uint8_t>(operation.number + i * 31 + (i >> 8))) return false;
  }
  return true;
}

[[noreturn]] void complain(const Operation& operation, const char* what) {
  std::fprintf(stderr, "operation %u (kind %d, %u bytes): %s\n", operation.number, static_cast<int>(operation.kind),
               operation.bytes, what);
  std::_Exit(1);
}

/// The end that receives: every send must come once, in order, whole.
class FarEnd {
 public:
  FarEnd(Side& side, Memory& memory)
      : side_(side), memory_(memory), mr_(need(side.expose(&memory, sizeof memory), "ibv_reg_mr")) {}
  [[nodiscard]] Card card() const { return {side_.address(), mr_->rkey}; }

  void serve() {
    for (std::uint32_t k = 0; k < kReceives; ++k) post(k);
    while (!memory_.over) {
      ibv_wc completion{};
      if (ibv_poll_cq(side_.cq, 1, &completion) != 1) {
        std::this_thread::yield();
        continue;
      }
      if (completion.status != IBV_WC_SUCCESS) return;  // the driver says what happened
      check(completion);
      post(static_cast<std::uint32_t>(completion.wr_id));
    }
  }

 private:
  void post(std::uint32_t place) {
    ibv_sge sge{reinterpret_cast<std::uint64_t>(memory_.received[place]), kPlaceBytes, mr_->lkey};
    ibv_recv_wr request{.wr_id = place, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    need(ibv_post_recv(side_.qp, &request, &bad) == 0, "ibv_post_recv");
  }
  void check(const ibv_wc& completion) {
    const Operation operation = operation_of(completion.imm_data);
    if (operation.kind != Kind::kSend || (memory_.sends != 0 && operation.number <= last_)) {
      complain(operation, "a send came twice, or out of order");
    }
    if (completion.byte_len != operation.bytes || !is_filled(memory_.received[completion.wr_id], operation)) {
      complain(operation, "a send came with wrong bytes");
    }
    last_ = operation.number;
    ++memory_.sends;
  }

  Side& side_;
  Memory& memory_;
  ibv_mr* mr_;
  std::uint32_t last_ = 0;
};

/// The end that acts.
class Driver {
 public:
  Driver(Side& side, Memory& memory, const Card& peer)
      : side_(side), memory_(memory), mr_(need(side.expose(&memory, sizeof memory), "ibv_reg_mr")), peer_(peer) {}

  /// The first error, or a success when there was none.
  ibv_wc run(std::uint32_t operations) {
    std::uint32_t posted = 0;
    for (std::uint32_t done = 0; done < operations; ++done) {
      while (posted < operations && posted - done < kPlaces) post(operation_of(posted++));
      const ibv_wc completion = wait(operation_of(done));
      if (completion.status != IBV_WC_SUCCESS) {
        left_ = posted - done - 1;
        return completion;
      }
      if (completion.wr_id != done) complain(operation_of(done), "completed out of order");
      check(operation_of(done));
    }
    return {};
  }
  /// After an error: all that was posted behind is flushed, and nothing else.
  void expect_flushes() {
    for (; left_ != 0; --left_) {
      if (wait({}).status != IBV_WC_WR_FLUSH_ERR) complain({}, "what stands behind the error was not flushed");
    }
  }
  [[nodiscard]] std::uint32_t sends() const { return sends_; }

 private:
  void post(const Operation& operation) {
    const auto place = operation.number % kPlaces;
    const bool atomic = operation.kind == Kind::kAdd || operation.kind == Kind::kSwap;
    prepare(operation, place);
    void* const local = atomic ? static_cast<void*>(&memory_.results[place]) : memory_.near[place];
    ibv_sge sge{reinterpret_cast<std::uint64_t>(local), atomic ? 8 : operation.bytes, mr_->lkey};
    ibv_send_wr request{};
    request.wr_id = operation.number;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
    constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND_WITH_IMM,
                                          IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP};
    request.opcode = kOpcodes[static_cast<int>(operation.kind)];
    if (operation.kind == Kind::kSend) request.imm_data = operation.number;
    if (operation.kind == Kind::kWrite || operation.kind == Kind::kRead) {
      request.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(memory_.far[place]);
      request.wr.rdma.rkey = peer_.rkey;
    }
    if (atomic) {
      const bool swap = operation.kind == Kind::kSwap;
      request.wr.atomic.remote_addr = reinterpret_cast<std::uint64_t>(swap ? &memory_.swapped : &memory_.added);
      request.wr.atomic.rkey = peer_.rkey;
      request.wr.atomic.compare_add = swap ? swaps_posted_ : 1;
      request.wr.atomic.swap = swaps_posted_ + 1;
      swaps_posted_ += swap ? 1 : 0;
    }
    ibv_send_wr* bad = nullptr;
    need(ibv_post_send(side_.qp, &request, &bad) == 0, "ibv_post_send");
  }
  void prepare(const Operation& operation, std::uint32_t place) {
    const bool read = operation.kind == Kind::kRead;
    if (operation.kind == Kind::kSend) ++sends_;
    if (operation.kind > Kind::kSend) return;
    fill(read ? memory_.far[place] : memory_.near[place], operation);
    if (operation.kind != Kind::kSend) std::memset(read ? memory_.near[place] : memory_.far[place], 0, operation.bytes);
  }
  void check(const Operation& operation) {
    const auto place = operation.number % kPlaces;
    if (operation.kind == Kind::kWrite && !is_filled(memory_.far[place], operation)) complain(operation, "wrong bytes");
    if (operation.kind == Kind::kRead && !is_filled(memory_.near[place], operation)) complain(operation, "wrong bytes");
    if (operation.kind == Kind::kAdd && memory_.results[place] != adds_done_++)
      complain(operation, "done twice, or not");
    if (operation.kind == Kind::kSwap && memory_.results[place] != swaps_done_++)
      complain(operation, "done twice, or not");
  }
  ibv_wc wait(const Operation& operation) {
    ibv_wc completion{};
    const auto deadline = Clock::now() + kPatience;
    for (std::uint32_t tries = 1; ibv_poll_cq(side_.cq, 1, &completion) != 1; ++tries) {
      if (tries % 256 == 0) std::this_thread::yield();
      if (tries % 1024 == 0 && Clock::now() > deadline) complain(operation, "no completion");
    }
    return completion;
  }

  Side& side_;
  Memory& memory_;
  ibv_mr* mr_;
  Card peer_;
  std::uint32_t left_ = 0;
  std::uint32_t sends_ = 0;
  std::uint64_t adds_done_ = 0, swaps_done_ = 0, swaps_posted_ = 0;
};

ibv_device* device(int index) {
  int n = 0;
  ibv_device** const list = ibv_get_device_list(&n);
  if (n < 2) {
    std::fprintf(stderr, "needs two RDMA devices, there are %d\n", n);
    std::exit(1);
  }
  return list[index];
}

/// Runs the operations against a far end that is ready; the program's exit code.
int drive(Driver& driver, Memory& memory, const Wishes& wishes) {
  const auto start = Clock::now();
  const ibv_wc first = driver.run(wishes.operations);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::string status = ibv_wc_status_str(first.status);
  if (first.status != IBV_WC_SUCCESS) {
    std::printf("operation %llu: %s, vendor syndrome 0x%x, after %.2f s\n",
                static_cast<unsigned long long>(first.wr_id), status.c_str(), first.vendor_err, seconds);
    if (status != wishes.expected) return 1;
    driver.expect_flushes();
    return 0;
  }
  if (!wishes.expected.empty()) {
    std::printf("no error, where '%s' was expected\n", wishes.expected.c_str());
    return 1;
  }
  for (const auto deadline = Clock::now() + kPatience; memory.sends != driver.sends();) {
    if (Clock::now() > deadline) complain({}, "sends are missing at the far end");
  }
  std::printf("%u operations, every byte right, %u of them sends; %.1f s\n", wishes.operations, driver.sends(),
              seconds);
  return 0;
}

int in_one_process(Memory& memory, const Wishes& wishes) {
  Side a(device(0));
  Side b(device(1));
  a.connect(b.address(), wishes.patience);
  b.connect(a.address(), wishes.patience);
  FarEnd far(b, memory);
  Driver driver(a, memory, far.card());
  std::jthread server([&far] { far.serve(); });
  const int code = drive(driver, memory, wishes);
  memory.over = true;
  return code;
}

void exchange(int socket, const Card& own, Card& other) {
  need(::write(socket, &own, sizeof own) == sizeof own, "write");
  need(::read(socket, &other, sizeof other) == sizeof other, "read");
}

int in_two_processes(Memory& memory, const Wishes& wishes) {
  int sockets[2];
  need(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0, "socketpair");
  const pid_t child = ::fork();
  need(child >= 0, "fork");
  Side side(device(child == 0 ? 1 : 0));
  Card peer;
  if (child == 0) {
    FarEnd far(side, memory);
    exchange(sockets[1], far.card(), peer);
    side.connect(peer.address, wishes.patience);
    exchange(sockets[1], {}, peer);  // ready
    far.serve();
    std::exit(0);
  }
  exchange(sockets[0], {side.address(), 0}, peer);
  side.connect(peer.address, wishes.patience);
  Driver driver(side, memory, peer);
  exchange(sockets[0], {}, peer);
  const int code = drive(driver, memory, wishes);
  memory.over = true;
  int status = -1;
  need(::waitpid(child, &status, 0) == child, "waitpid");
  return code != 0 || status == 0 ? code : 1;
}

Wishes read_command_line(int argc, char** argv) {
  Wishes wishes;
  for (int k = 1; k < argc; ++k) {
    const std::string_view word(argv[k]);
    const bool more = k + 1 < argc;
    if (word == "processes") {
      wishes.processes = true;
    } else if (word == "expect" && more) {
      wishes.expected = argv[++k];
    } else if (word == "retries" && more) {
      wishes.patience.retries = static_cast<std::uint8_t>(std::atoi(argv[++k]));
    } else if (word == "rnr-retries" && more) {
      wishes.patience.rnr_retries = static_cast<std::uint8_t>(std::atoi(argv[++k]));
    } else {
      wishes.operations = static_cast<std::uint32_t>(std::atoi(argv[k]));
    }
  }
  return wishes;
}

}  // namespace

int main(int argc, char** argv) {
  const Wishes wishes = read_command_line(argc, argv);
  if (wishes.operations == 0) {
    std::fputs("usage: storm OPERATIONS [processes] [expect STATUS] [retries N] [rnr-retries N]\n", stderr);
    return 2;
  }
  void* const at = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(at != MAP_FAILED, "mmap");
  auto& memory = *new (at) Memory;
  return wishes.processes ? in_two_processes(memory, wishes) : in_one_process(memory, wishes);
}
