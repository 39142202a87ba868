// SPDX-License-Identifier: Apache-2.0
// Queues and payload in memory that somebody else hands out: what the device cannot reach is refused in a sentence, and
// what it can is used, part by part.
#include "verbs/memory.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <utility>
#include <vector>

#include "marrow/gda/send_queue.h"
#include "util/error.h"
#include "verbs/endpoint.h"

namespace marrow::verbs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Memory that is not there under its address, as a GPU's may be for a kernel that cannot pin it.
class Unreachable final : public Memory {
 public:
  explicit Unreachable(bool has_dma_buf) : has_dma_buf_(has_dma_buf) {
    auto* const gone = ::mmap(nullptr, kAlign, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::munmap(gone, kAlign);
    set(gone, kAlign);
  }
  void fill(std::byte) override {}
  void write(std::size_t, std::span<const std::byte>) override {}
  void read(std::size_t, std::span<std::byte>) const override {}
  [[nodiscard]] util::UniqueFd dma_buf() const override {
    return has_dma_buf_ ? util::UniqueFd(::memfd_create("no real DMA-BUF", MFD_CLOEXEC)) : util::UniqueFd();
  }
  [[nodiscard]] std::string kind() const override { return "memory of nobody"; }

 private:
  bool has_dma_buf_;
};

/// Host memory under another name.
class Named final : public Memory {
 public:
  Named(std::string name, std::size_t bytes) : host_(bytes), name_(std::move(name)) {
    set(host_.data(), host_.bytes());
  }
  void fill(std::byte value) override { host_.fill(value); }
  void write(std::size_t at, std::span<const std::byte> from) override { host_.write(at, from); }
  void read(std::size_t at, std::span<std::byte> to) const override { host_.read(at, to); }
  [[nodiscard]] std::string kind() const override { return name_; }

 private:
  HostBuffer host_;
  std::string name_;
};

template <class Act>
std::string refusal(Act&& act) {
  try {
    act();
  } catch (const util::Error& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

TEST(Registering, WhatCannotBePinnedIsRefusedByItsName) {
  const Context context("mlx5_sim0");
  const Pd pd(context);
  const Unreachable memory(/*has_dma_buf=*/false);
  EXPECT_THAT(refusal([&] { const Umem umem(context, memory); }), HasSubstr("memory of nobody"));
}

TEST(Registering, ADmaBufIsTriedNextAndBothRefusalsAreTold) {
  const Context context("mlx5_sim0");
  const Pd pd(context);
  const Unreachable memory(/*has_dma_buf=*/true);
  const auto of_queues = refusal([&] { const Umem umem(context, memory); });
  EXPECT_THAT(of_queues, ::testing::AllOf(HasSubstr("by address"), HasSubstr("as a DMA-BUF")));
}

TEST(QueueMemory, EachPartComesFromItsSourceAndTheQueueWorks) {
  std::vector<std::string> taken;
  const auto source = [&](const char* name) {
    return [&taken, name](std::size_t bytes) {
      taken.emplace_back(name);
      return std::make_unique<Named>(name, bytes);
    };
  };
  DevxQpOptions options;
  options.memory = {
      .sq = source("here"), .cq = source("there"), .dbrec = source("there"), .counters = source("beside")};
  auto pair = pair_of_endpoints({.devices = {"mlx5_sim0", "mlx5_sim1"}, .payload = source("payload")}, options);
  EXPECT_THAT(
      taken, ElementsAre("payload", "here", "there", "there", "beside", "payload", "here", "there", "there", "beside"));
  EXPECT_EQ(pair.a->queue.describe_memory(), "SQ in here by address, CQ, dbrec in there by address");
  EXPECT_EQ(pair.a->mr.registration(), Registration::kAddress);

  const gda::Solo team;
  gda::SendQueue<gda::SystemFence> sq(pair.a->queue.handle());
  const auto slots = sq.reserve(team, 1);
  sq.write_value(slots[0], pair.b->remote(), 0x1122334455667788);
  EXPECT_TRUE(sq.wait(team, sq.submit(team, slots)).ok());
  EXPECT_EQ(pair.b->data()[0], std::byte{0x88});
}

TEST(HostMemory, IsZeroedAndBeginsOn64KiB) {
  HostBuffer buffer(1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % Memory::kAlign, 0U);
  EXPECT_EQ(buffer.bytes(), Memory::kAlign);
  std::byte last{1};
  buffer.read(Memory::kAlign - 1, {&last, 1});
  EXPECT_EQ(last, std::byte{0});
}

}  // namespace
}  // namespace marrow::verbs
