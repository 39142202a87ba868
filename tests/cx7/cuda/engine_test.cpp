// SPDX-License-Identifier: Apache-2.0
// The engine made of GPU threads, driven by a GPU lane: what it refuses first, then each operation, then what must hold
// while it works. Waived where there is no GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <vector>

#include "cx7/shim/control.h"
#include "ends.h"
#include "gpu/memory.h"
#include "lanes.h"

namespace marrow::cx7::test {
namespace {

using namespace std::chrono_literals;

TEST_F(GpuEngine, RefusesAForeignKeyAndChangesNoByte) {
  Ends ends;
  auto job = ends.job(What::kInlineWrite);
  job.there.rkey ^= 1;
  const auto result = ends.run(job);
  EXPECT_EQ(result.status, gda::Status::kRemoteAccess) << gda::status_name(result.status);
  EXPECT_EQ(ends.word(*ends.pair.b), 0u);
}

TEST_F(GpuEngine, RefusesAWriteBehindTheRegion) {
  Ends ends;
  auto job = ends.job(What::kPointerWrite);
  job.there.addr += kBufferBytes - 4;
  EXPECT_EQ(ends.run(job).status, gda::Status::kRemoteAccess);
}

TEST_F(GpuEngine, RefusesALocalKeyThatIsNoOnesOwn) {
  Ends ends;
  auto job = ends.job(What::kPointerWrite);
  job.here.lkey ^= 1;
  EXPECT_EQ(ends.run(job).status, gda::Status::kLocalProtection);
}

TEST_F(GpuEngine, AfterAnErrorEverythingIsFlushed) {
  Ends ends;
  auto job = ends.job(What::kInlineWrite);
  job.there.rkey ^= 1;
  ASSERT_FALSE(ends.run(job).ok());
  EXPECT_EQ(ends.pair.a->queue.query().state, wire::prm::QpState::kError);
}

TEST_F(GpuEngine, WritesInlineByPointerAndLarge) {
  Ends ends;
  EXPECT_TRUE(ends.run(ends.job(What::kInlineWrite)).ok());
  EXPECT_EQ(ends.word(*ends.pair.b), 1u);
  for (const std::uint32_t bytes : {1u, 7u, 8u, 200u, 257u, 4096u, 1'000'003u}) {
    std::vector<std::byte> sent(bytes);
    for (std::uint32_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + bytes);
    ends.pair.a->buffer.write(0, sent);
    auto job = ends.job(What::kPointerWrite);
    job.bytes = bytes;
    ASSERT_TRUE(ends.run(job).ok()) << bytes;
    std::vector<std::byte> arrived(bytes + 1);
    ends.pair.b->buffer.read(0, arrived);
    arrived.resize(bytes);
    EXPECT_EQ(arrived, sent) << bytes;
  }
}

TEST_F(GpuEngine, ReadsAndAtomics) {
  Ends ends;
  ends.set_word(*ends.pair.b, 41);
  EXPECT_TRUE(ends.run(ends.job(What::kRead)).ok());
  EXPECT_EQ(ends.word(*ends.pair.a), 41u);
  auto add = ends.job(What::kFetchAdd);
  add.operand = 2;
  EXPECT_TRUE(ends.run(add).ok());
  EXPECT_EQ(ends.word(*ends.pair.a), 41u);
  EXPECT_EQ(ends.word(*ends.pair.b), 43u);
  auto swap = ends.job(What::kCompareSwap);
  swap.compare = 43;
  swap.operand = 7;
  EXPECT_TRUE(ends.run(swap).ok());
  EXPECT_EQ(ends.word(*ends.pair.a), 43u);
  EXPECT_EQ(ends.word(*ends.pair.b), 7u);
  EXPECT_TRUE(ends.run(swap).ok());  // no match: nothing is swapped
  EXPECT_EQ(ends.word(*ends.pair.b), 7u);
}

struct MaskedCase {
  What what;
  std::uint64_t before, operand, compare, compare_mask, swap_mask, boundary, after;
};

TEST_F(GpuEngine, MaskedAtomics) {
  constexpr std::uint64_t kHigh = 0xaaaa'aaaa'0000'0000;  // what a 4-byte atomic at the low end leaves alone
  const MaskedCase cases[] = {
      {What::kAdd4, kHigh | 0xffff'ffff, 1, 0, 0, 0, 0, kHigh},
      {What::kAdd4, kHigh | 0x0f0f, 0x00ff, 0, 0, 0, 0xffff'ffff, kHigh | 0x0ff0},  // xor
      {What::kAdd4, kHigh | 0x00ff, 0x0001, 0, 0, 0, 0x80, kHigh},                  // a carry stops
      {What::kAdd8, ~0ull, 2, 0, 0, 0, 0, 1},
      {What::kSwap4, kHigh | 0x1234, 0x5678, 0, 0, 0xffff'ffff, 0, kHigh | 0x5678},  // always
      {What::kSwap4, kHigh | 0x1234, 0x5678, 0x1200, 0xff00, 0x00ff, 0, kHigh | 0x1278},
      {What::kSwap4, kHigh | 0x1234, 0x5678, 0x1300, 0xff00, 0x00ff, 0, kHigh | 0x1234},  // no match
      {What::kSwap8, 0x1111'2222'3333'4444, 0x9999'0000'0000'8888, 0x4444, 0xffff, 0xffff'0000'0000'ffff, 0,
       0x9999'2222'3333'8888},
  };
  Ends ends;
  for (const auto& c : cases) {
    auto job = ends.job(c.what);
    job.operand = c.operand;
    job.compare = c.compare;
    job.compare_mask = c.compare_mask;
    job.swap_mask = c.swap_mask;
    job.boundary = c.boundary;
    ends.set_word(*ends.pair.b, c.before);
    const auto result = ends.run(job);
    EXPECT_TRUE(result.ok()) << gda::status_name(result.status);
    EXPECT_EQ(ends.word(*ends.pair.b), c.after) << static_cast<int>(c.what);
    const bool four = c.what == What::kAdd4 || c.what == What::kSwap4;
    const auto old = ends.word(*ends.pair.a);
    EXPECT_EQ(four ? wire::swap_bytes(static_cast<std::uint32_t>(old)) : old,
              four ? static_cast<std::uint32_t>(c.before) : c.before);
  }
}

TEST_F(GpuEngine, CarriesOnPastTheWrapOfEveryIndex) {
  for (const auto layout : {gda::CqLayout::kCollapsed, gda::CqLayout::kRing}) {
    Ends ends({.sq_wqebbs = 64, .cq_layout = layout});
    auto job = ends.job(What::kInlineWrite);
    job.batch = 48;
    job.times = 3 * 65'536;
    const auto result = ends.run(job);
    EXPECT_TRUE(result.ok()) << gda::status_name(result.status);
    EXPECT_EQ(ends.word(*ends.pair.b), job.times);
  }
}

TEST_F(GpuEngine, QueuesInPinnedHostMemoryBesideACqOnTheGpu) {
  Ends ends({}, gpu::pinned_source(*the_gpu()));
  // All of it in host memory and no GPU asked for: the CPU engine's, which cannot reach the payload on the GPU.
  EXPECT_FALSE(ends.run(ends.job(What::kInlineWrite)).ok());
}

TEST_F(GpuEngine, SynchronisingTheDeviceEndsWhileTheEngineWorks) {
  Ends ends;
  ASSERT_TRUE(ends.run(ends.job(What::kInlineWrite)).ok());
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
  }
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1 << 20), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_TRUE(ends.run(ends.job(What::kInlineWrite)).ok());
}

TEST_F(GpuEngine, SeesQueuesComeAndGoWhileItWorks) {
  Ends first;
  for (int i = 0; i < 5; ++i) {
    Ends second;
    EXPECT_TRUE(second.run(second.job(What::kInlineWrite)).ok());
    EXPECT_TRUE(first.run(first.job(What::kInlineWrite)).ok());
  }
}

TEST_F(GpuEngine, WritesIntoAMemoryRegionMadeFromADmaBuf) {
  Ends ends;
  const auto memory = gpu::gpu_memory(ends.gpu, kBufferBytes);
  const auto dma_buf = memory->dma_buf();
  if (!dma_buf) GTEST_SKIP() << "waived: this GPU's driver exports no DMA-BUF";
  const auto address = reinterpret_cast<std::uint64_t>(memory->data());
  ibv_mr* const mr = ibv_reg_dmabuf_mr(ends.pair.b->pd.get(), 0, kBufferBytes, address, dma_buf.get(),
                                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ASSERT_NE(mr, nullptr);
  auto job = ends.job(What::kInlineWrite);
  job.there = {address, mr->rkey};
  EXPECT_TRUE(ends.run(job).ok());
  std::uint64_t word = 0;
  memory->read(0, std::as_writable_bytes(std::span(&word, 1)));
  EXPECT_EQ(word, 1u);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(GpuEngine, AKeyThatIsGoneIsRefusedFromThenOn) {
  Ends ends;
  const auto memory = gpu::gpu_memory(ends.gpu, kBufferBytes);
  auto job = ends.job(What::kInlineWrite);
  {
    const verbs::Mr mr(ends.pair.b->pd, *memory);
    job.there = mr.remote();
    ASSERT_TRUE(ends.run(job).ok());
  }
  EXPECT_EQ(ends.run(job).status, gda::Status::kRemoteAccess);
}

TEST_F(GpuEngine, CountsWhatItDid) {
  const auto count = [](std::string_view name) {
    std::vector<marrow_cx7_stat> stats(128);
    const int n = marrow_cx7_stats(0, stats.data(), 128);
    for (int i = 0; i < n; ++i) {
      if (stats[static_cast<std::size_t>(i)].name == name) return stats[static_cast<std::size_t>(i)].value;
    }
    return std::uint64_t{0};
  };
  Ends ends;
  const auto wqes = count("wqes_fetched");
  const auto cqes = count("cqes_written");
  auto job = ends.job(What::kInlineWrite);
  job.batch = 10;
  job.times = 1000;
  ASSERT_TRUE(ends.run(job).ok());
  EXPECT_EQ(count("wqes_fetched") - wqes, 1000u);
  EXPECT_EQ(count("cqes_written") - cqes, 100u);
}

}  // namespace
}  // namespace marrow::cx7::test
