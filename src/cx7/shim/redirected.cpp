// SPDX-License-Identifier: Apache-2.0
// See redirected.h.
#include "cx7/shim/redirected.h"

#include <string>

#include "cx7/shim/path_map.h"
#include "cx7/shim/settings.h"

namespace marrow::cx7 {

void Redirected::redirect() {
  const auto tidy = tidy_path(path_, room_);
  if (!tidy || !is_in_tree(*tidy)) return;
  node_ = device_of_node(*tidy);
  const std::string& tree = settings_or_exit().tree;
  if (tree.size() + tidy->size() + 1 > sizeof room_) return;  // then the real path is as absent as ours
  std::memmove(room_ + tree.size(), tidy->data(), tidy->size());
  std::memcpy(room_, tree.data(), tree.size());
  room_[tree.size() + tidy->size()] = '\0';
  path_ = room_;
}

}  // namespace marrow::cx7
