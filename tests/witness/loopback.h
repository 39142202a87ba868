// SPDX-License-Identifier: Apache-2.0
// Two connected RC queue pairs, one on each of the first two devices, for the witness programs: plain libibverbs.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace witness {

inline constexpr int kWaived = 77;

/// Ends the program with a sentence: these programs have nothing to clean up.
[[noreturn]] inline void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}
template <class T>
T* need(T* pointer, const char* what) {
  if (pointer == nullptr) fail(what);
  return pointer;
}
inline void need(bool right, const char* what) {
  if (!right) fail(what);
}

/// What the other end must know.
struct Address {
  std::uint32_t qpn = 0;
  std::uint16_t lid = 0;
  ibv_gid gid{};
};

/// How long an end tries.
struct Patience {
  std::uint8_t retries = 7;
  std::uint8_t rnr_retries = 7;  // 7: for ever
};

/// One side: a device with a PD, a CQ and a QP.
class Side {
 public:
  explicit Side(ibv_device* device) : context(need(ibv_open_device(device), "ibv_open_device")) {
    pd = need(ibv_alloc_pd(context), "ibv_alloc_pd");
    cq = need(ibv_create_cq(context, 512, nullptr, nullptr, 0), "ibv_create_cq");
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.cap = {.max_send_wr = 128, .max_recv_wr = 128, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64};
    qp = need(ibv_create_qp(pd, &init), "ibv_create_qp");
    need(ibv_query_port(context, 1, &port) == 0, "ibv_query_port");
    gid_index = port.link_layer == IBV_LINK_LAYER_ETHERNET ? 3 : 0;
    need(ibv_query_gid(context, 1, gid_index, &gid) == 0, "ibv_query_gid");
  }

  /// Registers memory with all rights.
  ibv_mr* expose(void* at, std::size_t bytes) {
    return ibv_reg_mr(
        pd, at, bytes,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  }

  using Address = witness::Address;
  [[nodiscard]] Address address() const { return {qp->qp_num, port.lid, gid}; }

  void connect(const Side& peer) { connect(peer.address()); }
  void connect(const Address& peer, Patience patience = {}) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    modify(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    attr = {};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = peer.qpn;
    attr.max_dest_rd_atomic = 16;
    attr.min_rnr_timer = 1;  // 10 us
    attr.ah_attr.port_num = 1;
    attr.ah_attr.dlid = peer.lid;
    attr.ah_attr.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET ? 1 : 0;
    attr.ah_attr.grh.dgid = peer.gid;
    attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
    attr.ah_attr.grh.hop_limit = 1;
    modify(attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    attr = {};
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = patience.retries;
    attr.rnr_retry = patience.rnr_retries;
    attr.max_rd_atomic = 16;
    modify(attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                     IBV_QP_MAX_QP_RD_ATOMIC);
  }

  struct Write {
    ibv_mr* from;
    void* from_address;
    ibv_mr* to;
    void* to_address;
    std::uint32_t bytes;
  };
  void post(const Write& write) {
    post({.lkey = write.from->lkey,
          .from = write.from_address,
          .rkey = write.to->rkey,
          .to = reinterpret_cast<std::uint64_t>(write.to_address),
          .bytes = write.bytes});
  }
  /// The same to another process.
  struct FarWrite {
    std::uint32_t lkey;
    void* from;
    std::uint32_t rkey;
    std::uint64_t to;
    std::uint32_t bytes;
  };
  void post(const FarWrite& write) {
    ibv_sge sge{reinterpret_cast<std::uint64_t>(write.from), write.bytes, write.lkey};
    ibv_send_wr request{};
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = write.to;
    request.wr.rdma.rkey = write.rkey;
    ibv_send_wr* bad = nullptr;
    need(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
  }

  /// The next completion; the program fails when there is none within ten seconds.
  ibv_wc wait() {
    ibv_wc completion{};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < deadline) {
      if (ibv_poll_cq(cq, 1, &completion) == 1) return completion;
    }
    std::fputs("no completion after 10 s\n", stderr);
    std::exit(1);
  }

  ibv_context* context;
  ibv_pd* pd;
  ibv_cq* cq;
  ibv_qp* qp;
  ibv_port_attr port{};
  int gid_index = 0;
  ibv_gid gid{};

 private:
  void modify(ibv_qp_attr& attr, int mask) { need(ibv_modify_qp(qp, &attr, mask) == 0, "ibv_modify_qp"); }
};

/// At least two.
inline ibv_device** devices() {
  int n = 0;
  ibv_device** list = ibv_get_device_list(&n);
  if (n < 2) {
    std::fprintf(stderr, "needs two RDMA devices, there are %d\n", n);
    std::exit(1);
  }
  return list;
}

struct Loopback {
  Loopback() : Loopback(devices()) {}

  Side a;
  Side b;

 private:
  explicit Loopback(ibv_device** list) : a(list[0]), b(list[1]) {
    a.connect(b.address());
    b.connect(a.address());
  }
};

}  // namespace witness
