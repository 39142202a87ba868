// SPDX-License-Identifier: Apache-2.0
// The kernels of gdaki-publication: the library's own sequences.
#include "experiments/gdaki_publication/publication_kernel.cuh"

namespace marrow::experiments {

PutKernels like_gdaki_puts(std::string_view policy) {
  return publication_puts<gda::List<Gdaki228, Gdaki230, GdakiReliable, GdakiHostRung>>(policy);
}

}  // namespace marrow::experiments
