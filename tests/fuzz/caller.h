// SPDX-License-Identifier: Apache-2.0
// A process with a device open, perhaps twice, that makes objects with sound calls or with calls that the input has
// spoiled, and keeps the numbers of those it made last. When it ends, nothing of it may be left.
// Long, for a call is a dozen attributes, and a device wants a dozen kinds of object.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "cx7/abi/file.h"
#include "cx7/abi/schema_table.h"
#include "cx7/hca/engine.h"
#include "cx7/hca/memory.h"
#include "cx7/shim/next.h"
#include "cx7/shim/open_device.h"
#include "fuzz/application.h"
#include "marrow/wire/doorbell.h"
#include "verbs/mailboxes.h"

namespace marrow::cx7 {

using fuzz::Application;
using fuzz::Call;
using fuzz::Input;
using fuzz::require;

inline constexpr int kMostSteps = 24;
inline constexpr int kStepsOfARing = 6;
inline constexpr std::size_t kWatchedFds = 2 * kMostSteps;
inline constexpr int kMostErrno = 133;  // the kernel's largest
inline constexpr std::uint32_t kSqWqebbs = 32;
inline constexpr std::uint32_t kRqEntries = 16;
inline constexpr std::size_t kDevxDbrecs = 0x4000;  // in the umem
inline constexpr std::size_t kUmemBytes = Application::kRecords - Application::kUmem;

/// What outlives an input, because making it takes longer than all else.
struct Nic {
  Nic() {
    Application::make();
    require(::ftruncate(memfd, kDeviceBytes) == 0);
    pages.emplace(0, memfd);
  }
  Engine engine{"fuzz-" + std::to_string(::getpid()), Checking::kStrict};
  int memfd = ::memfd_create("fuzz", MFD_CLOEXEC);
  std::optional<MemfdPages> pages;
  Time now{1};
};
inline Nic& nic() {
  static Nic* const kept = new Nic;
  return *kept;
}

inline std::uint64_t address(std::size_t offset) {
  return Application::kAt + offset;
}

inline const abi::AttrSpec* spec_of(const ib_uverbs_ioctl_hdr& header, std::uint16_t id) {
  for (const auto& method : abi::table::kMethods) {
    if (method.object != header.object_id || method.method != header.method_id) continue;
    for (const auto& attr : method.attrs) {
      if (attr.id == id) return &attr;
    }
  }
  return nullptr;
}

/// A call's attributes, or as many as the kernel would look at.
inline std::span<ib_uverbs_attr> attributes() {
  constexpr std::size_t kMost = (Application::kPage - sizeof(ib_uverbs_ioctl_hdr)) / sizeof(ib_uverbs_attr);
  return {Call::attrs(), std::min<std::size_t>(Call::header().num_attrs, kMost)};
}

/// An input may name any address, but what the kernel's interface has it write to must be the application's memory or
/// none: addresses of this very process become the application's.
inline void keep_pointers_inside() {
  const auto& header = Call::header();
  constexpr std::uint64_t kShadow = 0x7fff8000;
  for (auto& attr : attributes()) {
    const auto* const spec = spec_of(header, attr.attr_id);
    const bool points = spec != nullptr && (spec->type == abi::AttrType::kOut ||
                                            (spec->type == abi::AttrType::kIn && attr.len > sizeof attr.data));
    if (points && attr.data >= kShadow && attr.data < std::uint64_t{1} << 47) {
      attr.data = Application::kAt + attr.data % Application::kBytes;
    }
  }
}

inline bool makes_channel() {
  const auto& header = Call::header();
  if (header.object_id == UVERBS_OBJECT_ASYNC_EVENT) return true;
  if (header.object_id != UVERBS_OBJECT_DEVICE || header.method_id != UVERBS_METHOD_INVOKE_WRITE) return false;
  for (const auto& attr : attributes()) {
    if (attr.attr_id != UVERBS_ATTR_WRITE_CMD) continue;
    std::uint64_t command = 0;
    std::memcpy(&command, &attr.data, std::min<std::size_t>(attr.len, sizeof command));
    return command == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL;
  }
  return false;
}

template <class Mailbox>
std::span<const std::byte> bytes_of(const Mailbox& mailbox) {
  return mailbox.bytes;
}

class Caller {
 public:
  explicit Caller(Input& input) : file_(open(input)) {
    if (input.word<std::uint8_t>() % 16 != 0) get_context();
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() {
    file_.reset();
    other_.reset();
    for (std::uint8_t k = 0; k < kDevices; ++k) check_empty(nic().engine.device(k));
    if (channels_tried_) check_descriptors();
    Application::reset(protected_);
  }

 protected:
  static std::unique_ptr<File> open(Input& input) {
    return std::make_unique<File>(nic().engine, input.word<std::uint8_t>() & 1, *nic().pages);
  }
  static Engine& engine() { return nic().engine; }
  [[nodiscard]] Device& device() const { return engine().device(file_->device()); }

  static void check_empty(const Device& device) {
    require(device.pds.count() == 0 && device.mkeys.count() == 0 && device.cqs.count() == 0);
    require(device.srqs.count() == 0 && device.qps.count() == 0);
    require(device.uars.empty() && device.channel_cqs.empty() && device.dcts.empty());
    require(device.windows.empty() && device.port_watchers.empty());
  }
  /// The ends that were given out are the application's to close; nothing else may be open.
  void check_descriptors() const {
    int given = 0;
    for (std::size_t k = 0; k < kWatchedFds; ++k) {
      const int fd = first_fd_ + static_cast<int>(k);
      if (open_before_[k] || ::fcntl(fd, F_GETFD) < 0) continue;
      ++given;
      ::close(fd);
    }
    require(given == channels_);
  }

  int ask() {
    keep_pointers_inside();
    const bool channel = makes_channel();
    if (channel && !channels_tried_) {
      first_fd_ = ::dup(nic().memfd);
      ::close(first_fd_);
      for (std::size_t k = 0; k < kWatchedFds; ++k) {
        open_before_[k] = ::fcntl(first_fd_ + static_cast<int>(k), F_GETFD) >= 0;
      }
      channels_tried_ = true;
    }
    const int result = file_->ioctl(&Call::header());
    require(result <= 0 && result >= -kMostErrno);
    if (channel && result == 0) ++channels_;
    return result;
  }
  /// Spoils the call unless this is an application that means well.
  int ask(Call& call) {
    fuzz::Input nothing(nullptr, 0);
    call.spoil(well_meant_ ? nothing : *input_);
    return ask();
  }
  template <class T>
  static T read_back(const std::byte* at) {
    T value{};
    if (at == nullptr || !dma::copy(&value, at, sizeof value)) return T{};
    return value;
  }
  /// Of the new object, which is the first attribute of all creations here.
  static void keep(int result, const Call& call, std::uint32_t& handle) {
    if (result == 0) handle = static_cast<std::uint32_t>(call.word_of(0));
  }

  void get_context() {
    mlx5_ib_alloc_ucontext_req_v2 req{};
    req.flags = MLX5_IB_ALLOC_UCTX_DEVX;
    req.max_cqe_version = 1;
    req.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
    Call call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
    call.in(UVERBS_ATTR_UHW_IN, req).out(UVERBS_ATTR_UHW_OUT, sizeof(mlx5_ib_alloc_ucontext_resp));
    well_meant_ = true;
    require(ask(call) == 0);
    well_meant_ = false;
  }

  struct Write {
    Call call;
    std::byte* core_out = nullptr;
    std::byte* own_out = nullptr;
  };
  template <class Core>
  static Write write(std::uint32_t command, const Core& core, std::size_t core_out, std::size_t own_out = 0) {
    Write made{Call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE)};
    made.call.in(UVERBS_ATTR_WRITE_CMD, std::uint64_t{command}).in(UVERBS_ATTR_CORE_IN, core);
    if (core_out != 0) made.core_out = made.call.out(UVERBS_ATTR_CORE_OUT, core_out);
    if (own_out != 0) made.own_out = made.call.out(UVERBS_ATTR_UHW_OUT, own_out);
    return made;
  }

  int alloc_pd() {
    auto made =
        write(IB_USER_VERBS_CMD_ALLOC_PD, std::uint64_t{0}, sizeof(std::uint32_t), sizeof(mlx5_ib_alloc_pd_resp));
    const int result = ask(made.call);
    if (result == 0) {
      pd_ = read_back<std::uint32_t>(made.core_out);
      pdn_ = read_back<std::uint32_t>(made.own_out);
    }
    return result;
  }

  int alloc_uar() {
    Call call(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
    call.word(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0).in(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, std::uint64_t{0});
    call.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8);
    call.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4);
    const auto* const page = call.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4);
    const int result = ask(call);
    keep(result, call, uar_);
    if (result == 0) uar_page_ = read_back<std::uint32_t>(page);
    return result;
  }

  int create_cq() {
    mlx5_ib_create_cq own{};
    own.buf_addr = address(Application::kQueues);
    own.db_addr = address(Application::kRecords);
    own.cqe_size = 64;
    own.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
    own.uar_page_index = static_cast<std::uint16_t>(uar_page_);
    Call call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
    call.word(UVERBS_ATTR_CREATE_CQ_HANDLE, 0)
        .in(UVERBS_ATTR_CREATE_CQ_CQE, std::uint32_t{15})
        .in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, std::uint64_t{0xc0c0})
        .in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, std::uint32_t{0})
        .in(UVERBS_ATTR_UHW_IN, own);
    call.out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4);
    call.out(UVERBS_ATTR_UHW_OUT, sizeof(mlx5_ib_create_cq_resp));
    if (!well_meant_ && channels_ > 0) call.word(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, first_fd());
    const int result = ask(call);
    keep(result, call, cq_);
    return result;
  }
  [[nodiscard]] std::uint64_t first_fd() const {
    return static_cast<std::uint64_t>(first_fd_ + (input_->word<std::uint8_t>() & 3));
  }

  int create_srq() {
    mlx5_ib_create_srq own{};
    own.buf_addr = address(Application::kQueues + 0x6000);
    own.db_addr = address(Application::kRecords + 0x80);
    Call call(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
    call.word(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0)
        .word(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, pd_)
        .in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, std::uint64_t{0x77})
        .in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, std::uint32_t{15})
        .in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, std::uint32_t{1})
        .in(UVERBS_ATTR_CREATE_SRQ_LIMIT, std::uint32_t{0})
        .in(UVERBS_ATTR_CREATE_SRQ_TYPE, std::uint32_t{IB_UVERBS_SRQT_BASIC})
        .in(UVERBS_ATTR_UHW_IN, own);
    call.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4);
    call.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4);
    call.out(UVERBS_ATTR_UHW_OUT, sizeof(mlx5_ib_create_srq_resp));
    const int result = ask(call);
    keep(result, call, srq_);
    return result;
  }

  /// \param kind  chooses type and objects; 0 is an RC queue pair with both rings.
  int create_qp(unsigned kind) {
    constexpr std::array<std::uint32_t, 6> kTypes{IB_UVERBS_QPT_RC,      IB_UVERBS_QPT_UC,      IB_UVERBS_QPT_UD,
                                                  IB_UVERBS_QPT_XRC_INI, IB_UVERBS_QPT_XRC_TGT, IB_UVERBS_QPT_DRIVER};
    const auto type = kTypes[kind % kTypes.size()];
    const bool shared = (kind & 0x40) != 0;
    mlx5_ib_create_qp own{};
    own.buf_addr = address(Application::kQueues + 0x4000);
    own.db_addr = address(Application::kRecords + 0x40);
    own.sq_wqe_count = kSqWqebbs;
    own.rq_wqe_count = shared || type == IB_UVERBS_QPT_XRC_INI ? 0 : kRqEntries;
    own.rq_wqe_shift = 4;
    own.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX;
    if (type == IB_UVERBS_QPT_DRIVER && shared) own.flags = MLX5_QP_FLAG_TYPE_DCT;
    if (type == IB_UVERBS_QPT_DRIVER && !shared) own.flags |= MLX5_QP_FLAG_TYPE_DCI;
    own.bfreg_index = uar_page_;
    const ib_uverbs_qp_cap cap{.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1};
    Call call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
    call.word(UVERBS_ATTR_CREATE_QP_HANDLE, 0)
        .in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, std::uint64_t{0x4040})
        .in(UVERBS_ATTR_CREATE_QP_CAP, cap)
        .in(UVERBS_ATTR_CREATE_QP_TYPE, type)
        .in(UVERBS_ATTR_UHW_IN, own);
    if (type == IB_UVERBS_QPT_XRC_TGT) {
      call.word(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, xrcd_);
    } else {
      call.word(UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd_).word(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq_);
      if (type != IB_UVERBS_QPT_XRC_INI) call.word(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq_);
      if (shared) call.word(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, srq_);
    }
    call.out(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof cap);
    const auto* const number = call.out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4);
    call.out(UVERBS_ATTR_UHW_OUT, sizeof(mlx5_ib_create_qp_resp));
    const int result = ask(call);
    keep(result, call, qp_);
    if (result == 0) qpn_ = read_back<std::uint32_t>(number);
    posted_ = 0;
    return result;
  }

  int modify_qp(unsigned state) {
    // What RC wants in each transition; other types want less, so the input takes some away.
    constexpr std::array<std::uint32_t, 4> kMasks{0x1, 0x39, 0x121181 | 0x20000, 0x12e01};
    ib_uverbs_modify_qp r{};
    r.qp_handle = qp_;
    r.qp_state = static_cast<std::uint8_t>(state);
    r.attr_mask = state < kMasks.size() ? kMasks[state] : 1;
    r.port_num = 1;
    r.qp_access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
    r.path_mtu = 3;
    r.dest_qp_num = qpn_;
    r.max_rd_atomic = r.max_dest_rd_atomic = 4;
    r.min_rnr_timer = 1;
    r.timeout = 14;
    r.retry_cnt = r.rnr_retry = 1;
    r.dest.dlid = static_cast<std::uint16_t>(1 + file_->device());
    r.dest.port_num = 1;
    if (state == 2) r.attr_mask |= 0x8000;
    if (!well_meant_ && (input_->word<std::uint8_t>() & 3) == 0)
      r.attr_mask ^= input_->word<std::uint32_t>() & 0x1fffff;
    if (!well_meant_ && (input_->word<std::uint8_t>() & 7) == 0) {
      auto made =
          write(IB_USER_VERBS_CMD_FLAG_EXTENDED | std::uint32_t{IB_USER_VERBS_EX_CMD_MODIFY_QP},
                ib_uverbs_ex_modify_qp{.base = r}, sizeof(ib_uverbs_ex_modify_qp_resp), sizeof(mlx5_ib_modify_qp_resp));
      return ask(made.call);
    }
    auto made = write(IB_USER_VERBS_CMD_MODIFY_QP, r, 0);
    return ask(made.call);
  }

  int reg_mr() {
    ib_uverbs_reg_mr req{};
    req.start = req.hca_va = address(Application::kPayload);
    req.length = Application::kCall - Application::kPayload;
    req.pd_handle = pd_;
    req.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
                       IB_UVERBS_ACCESS_REMOTE_ATOMIC | IB_UVERBS_ACCESS_MW_BIND;
    auto made = write(IB_USER_VERBS_CMD_REG_MR, req, sizeof(ib_uverbs_reg_mr_resp));
    const int result = ask(made.call);
    if (result == 0) {
      const auto resp = read_back<ib_uverbs_reg_mr_resp>(made.core_out);
      mr_ = resp.mr_handle;
      key_ = resp.lkey;
    }
    return result;
  }

  int reg_umem() {
    Call call(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
    call.word(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0)
        .in(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, address(Application::kUmem))
        .in(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, std::uint64_t{kUmemBytes})
        .in(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, std::uint32_t{IB_UVERBS_ACCESS_LOCAL_WRITE});
    const auto* const id = call.out(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4);
    const int result = ask(call);
    keep(result, call, umem_);
    if (result == 0) umem_id_ = read_back<std::uint32_t>(id);
    return result;
  }

  void create_devx() {
    Call call(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
    call.word(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0);
    const bool cq = (input_->word<std::uint8_t>() & 1) != 0;
    if (cq) {
      call.in_bytes(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, bytes_of(verbs::create_cq({.log_cqes = 4,
                                                                                    .uar_page = uar_page_,
                                                                                    .eqn = 0,
                                                                                    .umem_id = umem_id_,
                                                                                    .dbrec_umem_id = umem_id_,
                                                                                    .dbrec_offset = kDevxDbrecs})));
    } else {
      call.in_bytes(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
                    bytes_of(verbs::create_qp({.pdn = pdn_,
                                               .log_sq_wqebbs = 5,
                                               .uar_page = uar_page_,
                                               .cqn = cqn_,
                                               .umem_id = umem_id_,
                                               .dbrec_umem_id = umem_id_,
                                               .dbrec_offset = kDevxDbrecs + 64})));
    }
    const auto* const reply = call.out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, 16);
    const int result = ask(call);
    keep(result, call, devx_);
    if (result != 0) return;
    (cq ? cqn_ : qpn_) = wire::swap_bytes(read_back<std::uint32_t>(reply + 8)) & 0xffffff;
    posted_ = 0;
  }

  /// Mailboxes through the three calls that carry them.
  void through_devx() {
    const unsigned way = input_->word<std::uint8_t>() % 3;
    std::array<std::byte, 512> in{};
    input_->fill(in);
    const std::array<verbs::ModifyMailbox, 3> steps{verbs::rst2init(qpn_, 1, {}), verbs::init2rtr(to_itself()),
                                                    verbs::rtr2rts(to_itself())};
    const auto step = input_->word<std::uint8_t>() % 4u;
    const auto mailbox = step < steps.size() ? bytes_of(steps[step]) : std::span<const std::byte>(in);
    constexpr std::array<unsigned, 3> kMethods{MLX5_IB_METHOD_DEVX_OBJ_MODIFY, MLX5_IB_METHOD_DEVX_OBJ_QUERY,
                                               MLX5_IB_METHOD_DEVX_OTHER};
    Call call(way == 2 ? unsigned{MLX5_IB_OBJECT_DEVX} : unsigned{MLX5_IB_OBJECT_DEVX_OBJ}, kMethods[way]);
    if (way == 0) call.word(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, devx_);
    if (way == 1) call.word(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, devx_);
    constexpr std::array<unsigned, 3> kIn{MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
                                          MLX5_IB_ATTR_DEVX_OTHER_CMD_IN};
    constexpr std::array<unsigned, 3> kOut{MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT,
                                           MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT};
    call.in_bytes(kIn[way], mailbox).out(kOut[way], 512);
    static_cast<void>(ask(call));
  }
  [[nodiscard]] verbs::Connection to_itself() const {
    verbs::Connection c;
    c.local.qpn = c.remote.qpn = qpn_;
    c.local.lid = c.remote.lid = static_cast<std::uint16_t>(1 + file_->device());
    c.port = 1;
    return c;
  }

  std::unique_ptr<File> file_;
  std::unique_ptr<File> other_;
  Input* input_ = nullptr;
  bool well_meant_ = false;
  bool protected_ = false;
  bool channels_tried_ = false;
  int channels_ = 0;
  int first_fd_ = 0;
  std::array<bool, kWatchedFds> open_before_{};                                                           // inherited
  std::uint32_t pd_ = 0, mr_ = 0, cq_ = 0, qp_ = 0, srq_ = 0, uar_ = 0, umem_ = 0, devx_ = 0, xrcd_ = 0;  // handles
  std::uint32_t pdn_ = 0, uar_page_ = 0, umem_id_ = 0, cqn_ = 0, qpn_ = 0, key_ = 0;                      // numbers
  std::uint32_t posted_ = 0;
};

}  // namespace marrow::cx7
