// SPDX-License-Identifier: Apache-2.0
// A device of the software NIC opened in a test, and the everyday calls on it, each with the values that succeed.
// A test changes one value and looks at the errno.
#pragma once

#include <gmock/gmock.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <array>
#include <cerrno>
#include <memory>
#include <set>
#include <vector>

#include "cx7/abi/call.h"
#include "cx7/fw/port.h"
#include "cx7/hca/engine.h"

namespace marrow::cx7 {

/// Doorbell pages in plain memory. `left` bounds how many there are.
class TestPages final : public DevicePages {
 public:
  std::optional<DevicePage> allocate() override;
  void release(const DevicePage& page) override;
  [[nodiscard]] std::byte* registers_at(std::uint64_t file_offset) const;

  int left = 64;
  std::set<std::uint64_t> taken;

 private:
  struct alignas(4096) Page {
    std::array<std::byte, 4096> bytes{};
  };
  std::vector<std::unique_ptr<Page>> pages_{64};
};

/// An address below what the kernel lets anybody map.
inline constexpr std::uint64_t kUnmapped = 4096;

/// Page-aligned memory of the "application".
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] std::byte* at(std::size_t offset = 0) const { return base_ + offset; }
  [[nodiscard]] std::uint64_t address(std::size_t offset = 0) const {
    return reinterpret_cast<std::uintptr_t>(base_ + offset);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  std::size_t bytes_;
};

/// A core part and a driver part of a command inside INVOKE_WRITE.
struct WriteParts {
  std::span<const std::byte> core_in;
  std::span<std::byte> core_out;
  std::span<const std::byte> own_in;
  std::span<std::byte> own_out;
};
int invoke_write(File& file, std::uint32_t command, const WriteParts& parts);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
std::span<std::byte> room_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

struct MrRequest {
  std::uint32_t pd = 0;
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  std::uint64_t iova = 0;
  std::uint32_t access = IB_UVERBS_ACCESS_LOCAL_WRITE;
};

struct CqRequest {
  std::uint32_t cqe = 7;
  std::uint32_t vector = 0;
  std::uint32_t flags = 0;
  int channel = -1;
  mlx5_ib_create_cq own{};
};

struct QpRequest {
  std::uint32_t pd = 0;
  std::uint32_t send_cq = 0;
  std::uint32_t recv_cq = 0;
  std::uint32_t type = IB_UVERBS_QPT_RC;
  std::uint32_t flags = 0;
  std::uint32_t srq = 0;
  ib_uverbs_qp_cap cap{
      .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  mlx5_ib_create_qp own{};
};

/// What a call gave: 0 or -errno, the handle, and the number by which the device knows the object.
struct Made {
  int result = 0;
  std::uint32_t handle = 0;
  std::uint32_t number = 0;
};

/// One engine with one opened device, context made.
class Nic {
 public:
  explicit Nic(std::uint8_t device = 0);
  /// Without GET_CONTEXT.
  static std::unique_ptr<Nic> unopened();

  int get_context(std::uint32_t flags = MLX5_IB_ALLOC_UCTX_DEVX);
  Made alloc_pd();
  Made reg_mr(const MrRequest& request);
  Made alloc_uar(unsigned type = MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
  [[nodiscard]] CqRequest good_cq();
  Made create_cq(const CqRequest& request);
  [[nodiscard]] QpRequest good_qp();  // makes a PD and a CQ
  Made create_qp(const QpRequest& request);
  int destroy(unsigned object, unsigned method, unsigned attr, std::uint32_t handle);
  int destroy_pd(std::uint32_t handle);
  int destroy_mr(std::uint32_t handle);
  int destroy_cq(std::uint32_t handle, ib_uverbs_destroy_cq_resp* reported = nullptr);
  int destroy_qp(std::uint32_t handle);
  int destroy_uar(std::uint32_t handle);
  int comp_channel();  // the descriptor, or -errno
  int async_events();
  int modify(const ib_uverbs_modify_qp& request);
  ib_uverbs_query_qp_resp query(std::uint32_t qp, int& result);

  std::unique_ptr<Engine> engine;
  TestPages pages;
  std::unique_ptr<File> file;
  Memory memory{1 << 20};  // queues at the front
  std::uint32_t uar_number = 0;
  std::uint32_t uar_handle = 0;
  std::uint64_t uar_offset = 0;

 private:
  struct Unopened {};
  Nic(Unopened, std::uint8_t device);
};

}  // namespace marrow::cx7
