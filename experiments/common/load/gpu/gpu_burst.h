// SPDX-License-Identifier: Apache-2.0
// Bursts by lanes of a GPU: filled, sent and compared by three kernels, of which one is timed, by globaltimer.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "experiments/common/load/gpu/gpu_transports.h"
#include "experiments/common/load/host_sender.h"

namespace marrow::experiments {

/// The lanes of the near end.
/// \tparam T  GpuGda, with a queue for each lane, or GpuProxy.
template <class T>
class GpuBurst {
  using Handle = typename T::Handle;

 public:
  /// `threads` are host lanes' and mean nothing here.
  GpuBurst(const Context& context, T& transport, unsigned /*threads*/)
      : context_(context),
        places_(transport.ends().shape().places),
        count_(transport.ends().shape().lanes),
        kernel_(transport.kernels().burst),
        lanes_(*context.gpu, count_),
        cargos_(*context.gpu, count_),
        failures_(*context.gpu, count_),
        times_(*context.gpu, 2) {
    std::vector<LaneOf<Handle>> lanes;
    std::vector<Cargo> cargos;
    for (std::uint32_t i = 0; i < count_; ++i) {
      lanes.push_back(transport.lane(End::kNear, i));
      cargos.push_back(lanes.back().cargo);
    }
    lanes_.write(lanes);
    cargos_.write(cargos);
  }

  [[nodiscard]] std::uint64_t messages() const { return std::uint64_t{places_} * count_; }

  /// One repetition. \returns its nanoseconds. \throws util::Error when a message failed or is not what was sent.
  double run() {
    constexpr unsigned kThreads = 128;
    const CargoJob cargo{cargos_.data(), places_, repetition_, failures_.data()};
    failures_.write(std::vector<SendFailure>(count_));
    times_.write(std::array{std::numeric_limits<std::uint64_t>::max(), std::uint64_t{0}});
    start(cargo_kernels().load, {.blocks = count_, .threads = kThreads}, cargo);
    start(kernel_, {.blocks = count_},
          BurstJob<Handle>{lanes_.data(), places_, repetition_, times_.data(), times_.data() + 1, failures_.data()});
    require_all();
    start(cargo_kernels().check, {.blocks = count_, .threads = kThreads}, cargo);
    require_all();
    ++repetition_;
    const auto times = times_.read();
    return static_cast<double>(times[1] - times[0]);
  }

 private:
  template <class Job>
  void start(const gpu::Kernel<Job>& kernel, const gpu::Grid& grid, const Job& job) {
    gpu::run(*context_.gpu, kernel, grid, job, {.limit = context_.limit, .stop = context_.stop});
  }
  void require_all() const {
    const auto failures = failures_.read();
    for (std::uint32_t i = 0; i < count_; ++i) require_sent(failures[i], i);
  }

  const Context& context_;
  std::uint32_t places_;
  std::uint32_t count_;
  gpu::Kernel<BurstJob<Handle>> kernel_;
  gpu::Array<LaneOf<Handle>> lanes_;
  gpu::Array<Cargo> cargos_;
  gpu::Array<SendFailure> failures_;
  gpu::Array<std::uint64_t> times_;
  std::uint64_t repetition_ = 0;
};

}  // namespace marrow::experiments
