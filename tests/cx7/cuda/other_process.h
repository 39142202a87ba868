// SPDX-License-Identifier: Apache-2.0
// A second process with a software NIC and GPU memory of its own, which does what it is told. It is this same program
// started anew: CUDA does not survive a fork.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "marrow/gda/requests.h"
#include "util/fd.h"
#include "verbs/address.h"

namespace marrow::cx7::test {

inline constexpr std::size_t kFarBytes = 2u << 20;

enum class Order : std::uint32_t {
  kOpen,       // an end with queues and payload in GPU memory: `address`, `remote`
  kConnect,    // that end to `address`
  kRead,       // the first word of its payload: `value`
  kWrite,      // `value` there
  kSum,        // of the first `value` bytes: `value`
  kAddGpu,     // one more region in memory of cudaMalloc: `remote`
  kAddHost,    // one in host memory
  kAddMapped,  // one in memory of cuMemCreate
  kAddFreed,   // one in memory of cudaMalloc that is given back although it is registered
  kRemove,     // the last added region, then its memory
};

struct Message {
  Order order{};
  bool done = false;
  verbs::Address address;
  gda::Remote remote;
  std::uint64_t value = 0;
};

class OtherProcess {
 public:
  OtherProcess();
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  /// Throws util::Error when there is no good answer within 20 s.
  Message tell(Message order) const;
  Message tell(Order order, std::uint64_t value = 0) const { return tell({.order = order, .value = value}); }
  void kill();

 private:
  pid_t pid_ = -1;
  util::UniqueFd socket_;
};

}  // namespace marrow::cx7::test
