// SPDX-License-Identifier: Apache-2.0
// The proxy's own headers, unchanged, with each atomic access of theirs made on the model's machine, and a wait that
// gives up after one look, so that the explorer decides when to look again. Only for a program that is all model.
#pragma once

#include "marrow/gda/policy.h"
#include "marrow/gda/team.h"
#include "proxy/model/machine.h"

namespace marrow::gda {

struct OneLook {
  explicit OneLook(std::uint64_t) {}
  [[nodiscard]] static bool expired() { return true; }
};

}  // namespace marrow::gda

#define atomic_ref model_atomic_ref
#define SpinLimit OneLook
#include "proxy/hand_offs.h"
#undef SpinLimit
#undef atomic_ref
