// SPDX-License-Identifier: Apache-2.0
// See shifts.cuh.
#include "cx7/cuda/shifts.cuh"

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "cx7/cuda/cuda_call.cuh"
#include "cx7/cuda/shift.cuh"

namespace marrow::cx7::cuda {
namespace {

constexpr auto kLook = std::chrono::microseconds(200);
constexpr auto kPatience = std::chrono::milliseconds(50);  // and a shift; where the GPU is full none comes

}  // namespace

Shifts::Shifts(int gpu, const ShiftOrder& order) : gpu_(gpu), order_(order) {
  int least = 0;
  int greatest = 0;
  require(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities of the engine's streams");
  for (cudaStream_t& stream : streams_) {
    require(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "a stream for the engine");
  }
  require(load_kernel(), "the engine's kernel");
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Shifts::start() {
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) return false;
  wanted_ = true;
  ended_ = false;
  changed_.notify_all();
  changed_.wait(lock, [this] { return working() || !failure_.empty(); });
  return failure_.empty();
}

void Shifts::stop() {
  std::unique_lock lock(mutex_);
  wanted_ = false;
  changed_.notify_all();
  changed_.wait(lock, [this] { return ended_ || !failure_.empty(); });
}

std::string Shifts::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Shifts::fail(cudaError_t error, const char* what) {
  const std::lock_guard lock(mutex_);
  failure_ = std::string(what) + ": " + cudaGetErrorString(error);
  working_.store(false, std::memory_order_release);
  changed_.notify_all();
}

void Shifts::run() {
  pthread_setname_np(pthread_self(), "marrow-cx7-gpu");
  if (const auto error = cudaSetDevice(gpu_); error != cudaSuccess) return fail(error, "the engine's GPU");
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return wanted_; });
    }
    work();
    std::unique_lock lock(mutex_);
    if (!failure_.empty()) return;
    working_.store(false, std::memory_order_release);
    ended_ = !wanted_;
    changed_.notify_all();
  }
}

/// Shift after shift until nobody wants them; then waits for the last one's end.
void Shifts::work() {
  Board& board = *order_.board;
  std::atomic_ref(board.stop).store(0, std::memory_order_relaxed);
  if (!set_turn()) return;
  const std::uint32_t first = order_.shift;
  for (;; ++order_.shift) {
    if (const auto error = launch(); error != cudaSuccess) return fail(error, "launch of the engine");
    while (order_.shift != first && !ended(order_.shift - 1)) {
      if (!failure().empty()) return;
      std::this_thread::sleep_for(kLook);
    }
    std::unique_lock lock(mutex_);
    working_.store(true, std::memory_order_release);
    changed_.notify_all();
    if (!wanted_) break;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(order_.length_us));
  }
  std::atomic_ref(board.stop).store(1, std::memory_order_release);
  while (!ended(order_.shift)) {
    if (!failure().empty()) return;
    std::this_thread::sleep_for(kLook);
  }
  ++order_.shift;
}

cudaError_t Shifts::launch() {
  const std::lock_guard lock(launch_);
  const auto error = launch_shift(order_, streams_[order_.shift % 2]);
  launched_ = order_.shift;
  return error;
}

void Shifts::await_later_shift() const {
  if (!working()) return;
  std::uint32_t before = 0;
  {
    const std::lock_guard lock(launch_);
    before = launched_;
  }
  const auto end = std::chrono::steady_clock::now() + kPatience + std::chrono::microseconds(2 * order_.length_us);
  for (std::uint32_t& shift : order_.board->shift) {
    while (static_cast<std::int32_t>(std::atomic_ref(shift).load(std::memory_order_acquire) - before) <= 0) {
      if (!working() || std::chrono::steady_clock::now() > end) return;
      std::this_thread::sleep_for(kLook);
    }
  }
}

/// Whose turn it is, in memory of the GPU, before the first shift of a row.
bool Shifts::set_turn() {
  std::array<std::uint32_t, kWarps> turns;
  turns.fill(order_.shift);
  auto* const to = reinterpret_cast<std::byte*>(order_.tables) + offsetof(Tables, turn);
  auto error = cudaMemcpyAsync(to, turns.data(), sizeof turns, cudaMemcpyHostToDevice, streams_[0]);
  if (error == cudaSuccess) error = cudaStreamSynchronize(streams_[0]);
  if (error != cudaSuccess) fail(error, "the engine's first shift");
  return error == cudaSuccess;
}

bool Shifts::ended(std::uint32_t shift) {
  const cudaError_t state = cudaStreamQuery(streams_[shift % 2]);
  if (state == cudaErrorNotReady) return false;
  if (state != cudaSuccess) fail(state, "the engine on the GPU");
  return state == cudaSuccess;
}

}  // namespace marrow::cx7::cuda
