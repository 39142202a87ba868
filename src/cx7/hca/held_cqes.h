// SPDX-License-Identifier: Apache-2.0
// CQEs that a fault holds back (device_faults.h). A CQ's CQEs keep their order: behind one that is held all wait.
#pragma once

#include <algorithm>
#include <vector>

#include "cx7/hca/data_path.h"

namespace marrow::cx7 {

class HeldCqes {
 public:
  struct Held {
    Cq* cq = nullptr;
    std::uint8_t device = 0;
    Time due{0};
    CqeContent content;
  };

  [[nodiscard]] bool empty() const { return held_.empty(); }
  /// The last one of a CQ, or null.
  [[nodiscard]] const Held* last_of(const Cq& cq) const {
    const auto at = std::find_if(held_.rbegin(), held_.rend(), [&](const Held& held) { return held.cq == &cq; });
    return at == held_.rend() ? nullptr : &*at;
  }
  void add(const Held& held) { held_.push_back(held); }
  /// Takes out those that `wanted` names, oldest first.
  template <class Wanted>
  [[nodiscard]] std::vector<Held> take(Wanted wanted) {
    std::vector<Held> taken;
    std::copy_if(held_.begin(), held_.end(), std::back_inserter(taken), wanted);
    std::erase_if(held_, wanted);
    return taken;
  }

 private:
  std::vector<Held> held_;
};

}  // namespace marrow::cx7
