// SPDX-License-Identifier: Apache-2.0
// See other_process.h.
#include "other_process.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "cx7/shim/control.h"
#include "gpu/memory.h"
#include "util/error.h"
#include "verbs/endpoint.h"

namespace marrow::cx7::test {
namespace {

constexpr const char* kSocketVariable = "OTHER_PROCESS_SOCKET";

/// Memory of cuMemCreate, which programs with heaps of their own use. Leaked: the process does not live long.
class MappedMemory final : public verbs::Memory {
 public:
  explicit MappedMemory(int gpu) {
    CUmemAllocationProp what{};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    what.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr at = 0;
    const CUmemAccessDesc access{.location = what.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const bool made =
        call<PFN_cuMemCreate_v10020>("cuMemCreate")(&handle, kFarBytes, &what, 0) == CUDA_SUCCESS &&
        call<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve")(&at, kFarBytes, 0, 0, 0) == CUDA_SUCCESS &&
        call<PFN_cuMemMap_v10020>("cuMemMap")(at, kFarBytes, 0, handle, 0) == CUDA_SUCCESS &&
        call<PFN_cuMemSetAccess_v10020>("cuMemSetAccess")(at, kFarBytes, &access, 1) == CUDA_SUCCESS;
    if (!made) throw util::Error("no memory of cuMemCreate");
    set(reinterpret_cast<void*>(at), kFarBytes);  // NOLINT(performance-no-int-to-ptr)
  }
  void fill(std::byte) override {}
  void write(std::size_t, std::span<const std::byte>) override {}
  void read(std::size_t, std::span<std::byte>) const override {}
  [[nodiscard]] std::string kind() const override { return "mapped memory"; }

 private:
  template <class Function>
  static Function call(const char* name) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion(name, &address, 10020, cudaEnableDefault, &found) != cudaSuccess ||
        address == nullptr) {
      throw util::Error(std::string("the driver has no ") + name);
    }
    return reinterpret_cast<Function>(address);
  }
};

class Obedient {
 public:
  Obedient() : gpu_(gpu::open(0)) {}

  void obey(Message& message) {
    switch (message.order) {
      case Order::kOpen:
        open(message);
        break;
      case Order::kConnect:
        end_->queue.connect(message.address);
        break;
      case Order::kRead:
        end_->buffer.read(0, std::as_writable_bytes(std::span(&message.value, 1)));
        break;
      case Order::kWrite:
        end_->buffer.write(0, std::as_bytes(std::span(&message.value, 1)));
        break;
      case Order::kSum:
        message.value = sum(message.value);
        break;
      case Order::kAddGpu:
        add(message, gpu::gpu_memory(*gpu_, kFarBytes));
        break;
      case Order::kAddHost:
        add(message, std::make_unique<verbs::HostBuffer>(kFarBytes));
        break;
      case Order::kAddMapped:
        add(message, std::make_unique<MappedMemory>(gpu_->index()));
        break;
      case Order::kAddFreed:
        add(message, gpu::gpu_memory(*gpu_, kFarBytes));
        memory_.reset();
        break;
      case Order::kRemove:
        region_.reset();
        memory_.reset();
        break;
    }
    message.done = true;
  }

 private:
  void open(Message& message) {
    const auto source = gpu::gpu_source(*gpu_);
    verbs::DevxQpOptions options;
    options.memory = {source, source, source, source};
    region_.reset();
    memory_.reset();
    end_.reset();
    end_ = std::make_unique<verbs::Endpoint>("mlx5_sim1", gpu::gpu_memory(*gpu_, kFarBytes), options);
    message.address = end_->queue.address();
    message.remote = end_->remote();
  }
  void add(Message& message, std::unique_ptr<verbs::Memory> memory) {
    region_.reset();
    memory_ = std::move(memory);
    region_ = std::make_unique<verbs::Mr>(end_->pd, *memory_);
    message.remote = region_->remote();
  }
  [[nodiscard]] std::uint64_t sum(std::uint64_t bytes) const {
    std::vector<std::uint8_t> there(bytes);
    end_->buffer.read(0, std::as_writable_bytes(std::span(there)));
    return std::accumulate(there.begin(), there.end(), std::uint64_t{0});
  }

  std::shared_ptr<gpu::Device> gpu_;
  std::unique_ptr<verbs::Endpoint> end_;
  std::unique_ptr<verbs::Memory> memory_;
  std::unique_ptr<verbs::Mr> region_;
};

bool receive(int socket, Message& message) {
  return ::recv(socket, &message, sizeof message, 0) == sizeof message;
}
bool send(int socket, const Message& message) {
  return ::send(socket, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

void serve(int socket) {
  if (marrow_cx7_enable() != 0) return;
  Obedient end;
  for (Message message; receive(socket, message);) {
    try {
      end.obey(message);
    } catch (const util::Error& error) {
      std::fprintf(stderr, "the other process: %s\n", error.what());
      message.done = false;
    }
    if (!send(socket, message)) return;
  }
}

}  // namespace

// Not a test: what the other process runs.
TEST(DISABLED_OtherProcess, Obeys) {
  const char* const socket = std::getenv(kSocketVariable);
  if (socket != nullptr) serve(std::atoi(socket));
}

OtherProcess::OtherProcess() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw util::system_error("socketpair", errno);
  socket_.reset(ends[0]);
  const util::UniqueFd theirs(ends[1]);
  const std::string variable = std::to_string(theirs.get());
  pid_ = ::fork();
  if (pid_ == 0) {
    ::fcntl(theirs.get(), F_SETFD, 0);
    ::setenv(kSocketVariable, variable.c_str(), 1);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execl("/proc/self/exe", "other_process", "--gtest_also_run_disabled_tests",
            "--gtest_filter=DISABLED_OtherProcess.Obeys", nullptr);
    ::_exit(127);
  }
}

OtherProcess::~OtherProcess() {
  socket_.reset();  // it ends by itself
  for (int i = 0; pid_ > 0 && i < 100 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) ::usleep(50'000);
  kill();
}

void OtherProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Message OtherProcess::tell(Message order) const {
  if (!send(socket_.get(), order)) throw util::Error("the other process is gone");
  pollfd answer{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  const bool answered = ::poll(&answer, 1, 20'000) == 1 && receive(socket_.get(), order);
  if (!answered || !order.done) throw util::Error("the other process did not do as it was told");
  return order;
}

}  // namespace marrow::cx7::test
