// SPDX-License-Identifier: Apache-2.0
// All that one side of a measurement needs: device, protection domain, registered buffer, queue. Two of them,
// connected, are what an experiment is written against.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "verbs/address.h"
#include "verbs/context.h"
#include "verbs/devx_qp.h"
#include "verbs/memory.h"
#include "verbs/verbs_qp.h"

namespace marrow::verbs {

/// One end. Queue is DevxQp (its SQ is ours) or VerbsQp (libmlx5's). Stays where it was made: the queue refers to the
/// context.
template <class Queue>
struct EndpointOf {
  EndpointOf(const std::string& device, std::unique_ptr<Memory> payload, const typename Queue::Options& options)
      : context(device), pd(context), memory(std::move(payload)), mr(pd, *memory), queue(context, pd, options) {}
  EndpointOf(const std::string& device, std::size_t buffer_bytes, const typename Queue::Options& options)
      : EndpointOf(device, std::make_unique<HostBuffer>(buffer_bytes), options) {}
  EndpointOf(const EndpointOf&) = delete;
  EndpointOf& operator=(const EndpointOf&) = delete;

  [[nodiscard]] gda::Local local() const { return mr.local(); }
  [[nodiscard]] gda::Remote remote() const { return mr.remote(); }
  [[nodiscard]] std::byte* data() const { return memory->data(); }

  Context context;
  Pd pd;
  std::unique_ptr<Memory> memory;
  Memory& buffer{*memory};
  Mr mr;
  Queue queue;
};

using Endpoint = EndpointOf<DevxQp>;
using VerbsEndpoint = EndpointOf<VerbsQp>;

template <class Queue>
struct PairOf {
  std::unique_ptr<EndpointOf<Queue>> a;
  std::unique_ptr<EndpointOf<Queue>> b;
};

struct PairOptions {
  std::array<std::string, 2> devices;  // the same name twice is loopback
  std::size_t buffer_bytes = Memory::kAlign;
  MemorySource payload = {};  // none: host memory
};

/// Two connected ends in this process. Throws util::Error.
template <class Queue = DevxQp>
[[nodiscard]] PairOf<Queue> pair_of_endpoints(const PairOptions& pair, const typename Queue::Options& options = {}) {
  const auto end = [&](const std::string& device) {
    return std::make_unique<EndpointOf<Queue>>(device, take(pair.payload, pair.buffer_bytes), options);
  };
  PairOf<Queue> made{end(pair.devices[0]), end(pair.devices[1])};
  connect(made.a->queue, made.b->queue);
  return made;
}

}  // namespace marrow::verbs
