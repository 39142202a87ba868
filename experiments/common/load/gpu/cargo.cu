// SPDX-License-Identifier: Apache-2.0
// Before and behind a burst: the sources are filled, and every place at the far side is compared.
#include "experiments/common/load/burst.h"
#include "experiments/common/load/gpu/load_jobs.h"

namespace marrow::experiments {
namespace {

__global__ void load_cargo(CargoJob job) {
  load_burst(job.cargos[blockIdx.x], job.repetition, job.places, threadIdx.x, blockDim.x);
  __threadfence_system();  // the NIC's processor reads them, whoever posts
}

__global__ void check_cargo(CargoJob job) {
  const auto failure = check_burst(job.cargos[blockIdx.x], job.repetition, job.places, threadIdx.x, blockDim.x);
  if (!failure.ok()) job.failures[blockIdx.x] = failure;  // any one of them will do
}

}  // namespace

CargoKernels cargo_kernels() {
  return {.load = gpu::kernel_of(&load_cargo, "sources of a burst"),
          .check = gpu::kernel_of(&check_cargo, "check of a burst")};
}

}  // namespace marrow::experiments
