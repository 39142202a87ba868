// SPDX-License-Identifier: Apache-2.0
// The host's half of the engine: keeps the GPU's copy of the firmware's tables, and makes each change seen by all warps
// before the call returns. One class, over 300 lines: each of its calls changes the same tables under the same order of
// write and publish. Facts: none of hardware; what CUDA promises of copies beside a running kernel [obs].
#include "cx7/cuda/cuda_engine.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cx7/cuda/cuda_call.cuh"
#include "cx7/cuda/entries.h"
#include "cx7/cuda/far_sides.h"
#include "cx7/cuda/inboxes.h"
#include "cx7/cuda/mapped_memory.h"
#include "cx7/cuda/seats.h"
#include "cx7/cuda/shifts.cuh"
#include "cx7/cuda/table_memory.cuh"
#include "cx7/cuda/tables.h"
#include "cx7/hca/table.h"
#include "util/error.h"

namespace marrow::cx7::cuda {
namespace {

constexpr int kOldestMajor = 9;  // the kernel is compiled for sm_90 and newer

std::uint64_t id_of(std::uint8_t device, std::uint32_t number) {
  return std::uint64_t{device} << 32 | number;
}

}  // namespace

class CudaEngine final : public GpuEngine {
 public:
  explicit CudaEngine(const EngineOptions& options) : options_(options), keys_(kDevices), peers_(kDevices) {}

  bool is_gpu_memory(const void* at, std::uint64_t bytes) override {
    const auto* const first = static_cast<const std::byte*>(at);
    return place_of(first).home == Home::kGpu && place_of(first + bytes - 1).home == Home::kGpu;
  }

  bool read(void* to, const void* from, std::size_t bytes) override {
    if (memory_ == nullptr) return false;
    bool done = false;
    guarded([&] {
      const Current current(gpu_);
      memory_->read(to, from, bytes);
      done = true;
    });
    return done;
  }

  std::string adopt(const Qp& qp, const Uar& uar) override try {
    const auto& lids = qp.config.routing.lids;
    if (qp.dci != nullptr && lids[0] == 0) return "GPU threads serve a DCI on an InfiniBand port only";
    start(qp);
    const Current current(gpu_);
    Adopted adopted;
    if (qp.dci != nullptr) adopted.entry.dc_lids = std::uint32_t{lids[1]} << 16 | lids[0];
    try {
      describe(qp, uar, adopted);
    } catch (const util::Error&) {
      unmap(adopted);
      throw;
    }
    const auto cq = id_of(qp.attributes.device, qp.config.send_cq->cqn);
    if (inboxes_->number_entries_of(cq)) {
      unmap(adopted);
      return "its send CQ takes another queue pair's receives, and GPU threads write CQEs of one kind into a CQ";
    }
    const auto seat = seats_.take(cq);
    if (!seat) {
      unmap(adopted);
      return "the CUDA engine has no seat left for this queue pair (2,048, and 32 that share a CQ)";
    }
    adopted.seat = *seat;
    adopted.entry.cq_lane = seat->cq_lane;
    if (seat->new_cq) cq_lives_[seat->warp][seat->cq_lane] = ++life_;
    adopted.entry.life = ++life_;
    open_inbox(qp, adopted);
    const auto id = id_of(qp.attributes.device, qp.config.qpn);
    shifts_->await_later_shift();
    adopted_[id] = adopted;
    by_seat_[seat->warp][seat->lane] = id;
    write_seat(seat->warp, seat->lane);
    write_seat(seat->warp, seat->cq_lane);
    if (!shifts_->working() && !shifts_->start()) return "the GPU refused the engine: " + shifts_->failure();
    publish();
    return {};
  } catch (const util::Error& error) {
    return error.what();
  }

  void qp_changed(const Qp& qp) override {
    guarded([&] {
      const auto device = qp.attributes.device;
      PeerEntry& peer = at(peers_[device], qp.config.qpn);
      peer = peer_of(qp);
      if (gpu_ < 0) return;
      const Current current(gpu_);
      const auto found = adopted_.find(id_of(device, qp.config.qpn));
      if (found != adopted_.end()) peer.inbox = found->second.inbox;
      memory_->write(memory_->there().sides[device].peers[qp.config.qpn & 0xffff], peer);
      if (found != adopted_.end()) {
        QueueEntry& entry = found->second.entry;
        if (qp.state == QpState::kReset) {
          entry.life = ++life_;
          inboxes_->reset(peer.inbox);
        }
        inboxes_->set_pause(peer.inbox, rnr_pause_us(qp.attributes));
        entry.rnr_tries = rnr_tries(qp.attributes);
        entry.serve = service_of(qp);
        entry.remote_qpn = qp.attributes.remote_qpn;
        entry.remote_device = qp.attributes.remote_device;
        entry.far = far_side(qp);
        entry.retry_us = retry_us(qp.attributes);
        write_seat(found->second.seat.warp, found->second.seat.lane);
      }
      publish();
    });
  }

  void qp_gone(const Qp& qp) override {
    guarded([&] {
      const auto device = qp.attributes.device;
      at(peers_[device], qp.config.qpn) = {};
      if (gpu_ < 0) return;
      const Current current(gpu_);
      memory_->write(memory_->there().sides[device].peers[qp.config.qpn & 0xffff], PeerEntry{});
      const auto found = adopted_.find(id_of(device, qp.config.qpn));
      if (found == adopted_.end()) return publish();
      const Adopted gone = found->second;
      adopted_.erase(found);
      by_seat_[gone.seat.warp][gone.seat.lane] = 0;
      inboxes_->close(gone.inbox);
      seats_.give_back(gone.seat, id_of(device, qp.config.send_cq->cqn));
      write_seat(gone.seat.warp, gone.seat.lane);
      publish();
      tell_of_refusals(read_counters(device));
      unmap(gone);
      if (adopted_.empty()) shifts_->stop();
    });
  }

  void look_at(Qp& qp) override {
    guarded([&] {
      const auto found = adopted_.find(id_of(qp.attributes.device, qp.config.qpn));
      if (found == adopted_.end()) return;
      const Current current(gpu_);
      publish();  // each warp writes down where it is
      Progress progress;
      const Seat& seat = found->second.seat;
      memory_->read(&progress, &memory_->there().progress[seat.warp][seat.lane], sizeof progress);
      if (progress.life != found->second.entry.life) return;
      qp.requester.rung = progress.rung;
      qp.requester.posted = progress.posted;
      qp.requester.next = qp.requester.done = progress.next;
      if (progress.failed != 0 && qp.state == QpState::kRts) qp.state = QpState::kError;
      if (progress.failed != 0) tell_of_refusals(read_counters(qp.attributes.device));
    });
  }

  void key_added(std::uint8_t device, const Mkey& key) override {
    guarded([&] {
      KeyEntry& entry = at(keys_[device], key.key >> 8);
      entry = {
          .iova = key.iova, .bytes = key.bytes, .at = key.host, .key = key.key, .pdn = key.pdn, .access = key.access};
      if (gpu_ < 0) return;
      const Current current(gpu_);
      reach(entry);
      shifts_->await_later_shift();
      memory_->write(memory_->there().sides[device].keys[key.key >> 8 & 0xffff], entry);
      publish();
    });
  }

  void key_gone(std::uint8_t device, const Mkey& key) override {
    guarded([&] {
      at(keys_[device], key.key >> 8) = {};
      if (gpu_ < 0) return;
      const Current current(gpu_);
      memory_->write(memory_->there().sides[device].keys[key.key >> 8 & 0xffff], KeyEntry{});
      publish();
      if (place_of(key.host).home == Home::kHost) host_.unmap(key.host, key.bytes);
    });
  }

  Counters counters(std::uint8_t device) override {
    GpuCounters theirs;
    if (gpu_ >= 0) {
      guarded([&] {
        const Current current(gpu_);
        publish();  // warps bring what they have counted
        theirs = read_counters(device);
      });
    }
    tell_of_refusals(theirs);
    return as_counters(theirs);
  }

  SharedRange share(const Mkey& key) override { return share_memory(key.host, key.bytes); }

  bool hear(const FarNews& news) override {
    bool heard = gpu_ < 0 || stopped_.load(std::memory_order_acquire);
    guarded([&] {
      if (heard) return;
      const Current current(gpu_);
      far_->hear(news);
      heard = true;
    });
    return heard;
  }

  /// The process ends: no GPU thread acts any more, and CUDA is about to go.
  void stop() {
    if (shifts_ && shifts_->working()) shifts_->stop();
    stopped_.store(true, std::memory_order_release);
  }

 private:
  struct Adopted {
    Seat seat;
    QueueEntry entry;
    std::uint32_t inbox = 0;
    std::vector<std::pair<const void*, std::uint64_t>> mapped = {};  // host memory registered for it
  };

  template <class Entry>
  static Entry& at(std::unique_ptr<std::vector<Entry>>& table, std::uint32_t number) {
    if (!table) table = std::make_unique<std::vector<Entry>>(kNumbers);
    return (*table)[number & 0xffff];
  }

  void warn(const char* sentence) const {
    if (options_.warn != nullptr) options_.warn(sentence);
  }

  GpuCounters read_counters(std::uint8_t device) const {
    GpuCounters theirs;
    memory_->read(&theirs, &memory_->there().counters[device], sizeof theirs);
    return theirs;
  }
  void tell_of_refusals(const GpuCounters& theirs) {
    if (theirs.unmodelled_opcodes != 0 && !std::exchange(told_of_opcodes_, true)) {
      warn("the CUDA engine refused WQEs whose opcode it does not model (all but write, read, atomics and NOP)");
    }
    if (theirs.unmodelled_receivers != 0 && !std::exchange(told_of_receivers_, true)) {
      warn(
          "the CUDA engine refused a write with immediate: the queue pair at the other end must be in the same "
          "process, "
          "have an RQ, and a receive CQ for receives alone, without a completion channel, that GPU threads reach");
    }
    if (theirs.unreachable_targets != 0 && !std::exchange(told_of_unreachable_, true)) {
      const std::string& why = far_->unreachable();
      warn(("the CUDA engine refused a WQE whose target no GPU thread reaches: " +
            (why.empty() ? "host memory that CUDA cannot register; allocate it with cudaHostAlloc" : why))
               .c_str());
    }
  }

  const Side* far_side(const Qp& qp) {
    const unsigned slot = slot_of(qp.attributes.remote_qpn);
    const bool receives = qp.state == QpState::kRtr || qp.state == QpState::kRts;
    const auto device = qp.attributes.remote_device;
    const bool on_host = device < kDevices;  // no GPU thread reaches another host: serve.cuh counts it as absent
    const bool elsewhere = receives && on_host && qp.dci == nullptr && slot != slot_of(qp.config.qpn);
    return elsewhere ? far_->side_of(slot, device) : &memory_->there().sides[device % kDevices];
  }

  /// Where the first queue lies decides which GPU works.
  int choose_gpu(const Qp& qp) const {
    if (options_.gpu >= 0) return options_.gpu;
    for (const void* queue :
         {static_cast<const void*>(qp.config.sq.base), static_cast<const void*>(qp.config.send_cq->entries),
          static_cast<const void*>(qp.config.dbrec)}) {
      if (const int gpu = place_of(queue).gpu; gpu >= 0) return gpu;
    }
    return 0;
  }

  void start(const Qp& qp) {
    if (gpu_ >= 0) return;
    const int gpu = choose_gpu(qp);
    int gpus = 0;
    require(cudaGetDeviceCount(&gpus), "GPUs for the engine");
    if (gpu >= gpus) throw util::Error(fmt::format("MARROW_SIM_ENGINE names GPU {}, and there are {}", gpu, gpus));
    cudaDeviceProp facts{};
    require(cudaGetDeviceProperties(&facts, gpu), "the engine's GPU");
    if (facts.major < kOldestMajor) {
      throw util::Error(fmt::format("GPU {} ({}) has compute capability {}.{}; the CUDA engine needs 9.0 or newer", gpu,
                                    facts.name, facts.major, facts.minor));
    }
    const Current current(gpu);
    reach_other_gpus(gpu, gpus);
    memory_ = std::make_unique<TableMemory>();
    gpu_ = gpu;
    inboxes_ = std::make_unique<Inboxes>(*memory_);
    upload_all();
    shifts_ = std::make_unique<Shifts>(gpu, ShiftOrder{.tables = &memory_->there(),
                                                       .board = &memory_->board(),
                                                       .shift = 1,
                                                       .length_us = options_.shift_ms * 1000,
                                                       .strict = options_.strict});
    far_ = std::make_unique<FarSides>(*memory_, *shifts_, options_.warn);
  }

  static void reach_other_gpus(int gpu, int gpus) {
    for (int other = 0; other < gpus; ++other) {
      int can = 0;
      if (other == gpu || cudaDeviceCanAccessPeer(&can, gpu, other) != cudaSuccess || can == 0) continue;
      const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
      if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled) require(error, "peer access");
      static_cast<void>(cudaGetLastError());
    }
  }

  void upload_all() {
    for (std::uint32_t device = 0; device < kDevices; ++device) {
      if (keys_[device]) {
        for (KeyEntry& entry : *keys_[device]) {
          if (entry.key == 0) continue;
          reach(entry);
          memory_->write(memory_->there().sides[device].keys[entry.key >> 8 & 0xffff], entry);
        }
      }
      if (!peers_[device]) continue;
      for (const PeerEntry& entry : *peers_[device]) {
        if (entry.qpn != 0) memory_->write(memory_->there().sides[device].peers[entry.qpn & 0xffff], entry);
      }
    }
  }

  /// Makes a key's memory reachable for the GPU. What is not stays registered: a WQE that names it is refused.
  void reach(KeyEntry& entry) {
    const Place place = place_of(entry.at);
    entry.near = place.home == Home::kGpu && place.gpu == gpu_ ? 1 : 0;
    if (place.home == Home::kHost) entry.at = host_.map(entry.at, entry.bytes);
  }

  struct Part {
    const void* at = nullptr;
    std::uint64_t bytes = 0;
    const char* name = "";
  };
  /// The GPU's address of a part of a queue; throws where no engine reaches it.
  std::byte* reach(const Part& part, Adopted& adopted) {
    const Place place = place_of(part.at);
    if (place.home != Home::kGpu || place.gpu != gpu_) adopted.entry.near_only = 0;
    if (place.home == Home::kGpu) return static_cast<std::byte*>(const_cast<void*>(part.at));
    std::byte* const mapped = host_.map(part.at, part.bytes);
    if (mapped == nullptr) {
      throw util::Error(fmt::format(
          "the {} lies in host memory that CUDA cannot register, so GPU threads cannot reach it; allocate it with "
          "cudaHostAlloc, or put all of the queue's memory in host memory for the CPU engine",
          part.name));
    }
    adopted.mapped.emplace_back(part.at, part.bytes);
    return mapped;
  }

  void unmap(const Adopted& adopted) {
    for (const auto& [address, bytes] : adopted.mapped) host_.unmap(address, bytes);
  }

  void describe(const Qp& qp, const Uar& uar, Adopted& adopted) {
    const auto& config = qp.config;
    const Cq& cq = *config.send_cq;
    QueueEntry& entry = adopted.entry;
    entry.qpn = config.qpn;
    entry.registers = reach({uar.registers, wire::kUarBytes, "UAR page"}, adopted) + wire::kUarBlueFlame;
    entry.near_only = 1;  // registers are only read
    entry.sq = reach({config.sq.base, std::uint64_t{config.sq.wqebbs} * wire::kWqebbBytes, "SQ"}, adopted);
    entry.dbrec_send = reinterpret_cast<const std::uint32_t*>(
        reach({&config.dbrec->send, sizeof config.dbrec->send, "dbrec"}, adopted));
    entry.cq = reach({cq.entries, std::uint64_t{cq.entry_bytes} << cq.log_entries, "CQ"}, adopted);
    entry.sq_mask = config.sq.wqebbs - 1;
    entry.cq_log = cq.log_entries;
    entry.cqe_bytes = cq.entry_bytes;
    entry.pdn = config.pdn;
    entry.user_index = config.user_index;
    entry.device = qp.attributes.device;
    entry.cq_collapsed = cq.collapsed ? 1 : 0;
  }

  /// Where its immediates go, if GPU threads reach that place; if not, one that comes is refused.
  void open_inbox(const Qp& qp, Adopted& adopted) {
    const auto& config = qp.config;
    Cq* const cq = config.recv_cq;
    const auto id = cq != nullptr ? id_of(qp.attributes.device, cq->cqn) : 0;
    if (config.rq.entries == 0 || cq == nullptr || cq->has_channel || cq->collapsed || seats_.keeps(id)) return;
    Inbox entry{
        .cq_log = cq->log_entries, .cqe_bytes = cq->entry_bytes, .qpn = config.qpn, .user_index = config.user_index};
    try {
      const auto* const record = reach({&config.dbrec->receive, sizeof config.dbrec->receive, "record"}, adopted);
      entry.dbrec_recv = reinterpret_cast<const std::uint32_t*>(record);
      entry.cq = reach({cq->entries, std::uint64_t{cq->entry_bytes} << cq->log_entries, "receive CQ"}, adopted);
    } catch (const util::Error&) {
      return;
    }
    adopted.inbox = inboxes_->open(adopted.seat, entry, id, *cq);
  }

  void write_seat(std::uint32_t warp, std::uint32_t lane) {
    const auto found = adopted_.find(by_seat_[warp][lane]);
    QueueEntry entry = found != adopted_.end() ? found->second.entry : QueueEntry{};
    entry.kept_cq_life = cq_lives_[warp][lane];
    memory_->write(memory_->there().queues[warp][lane], entry);
  }
  void publish() { memory_->publish(*shifts_); }

  /// What must not throw, because the device has done its part already: the sentence goes to the log.
  template <class Action>
  void guarded(Action action) {
    try {
      action();
    } catch (const util::Error& error) {
      warn(error.what());
    }
  }

  EngineOptions options_;
  int gpu_ = -1;  // once started
  std::unique_ptr<TableMemory> memory_;
  std::unique_ptr<Shifts> shifts_;
  std::unique_ptr<FarSides> far_;
  std::unique_ptr<Inboxes> inboxes_;
  HostRegistrations host_;
  Seats seats_;
  std::vector<std::unique_ptr<std::vector<KeyEntry>>> keys_;
  std::vector<std::unique_ptr<std::vector<PeerEntry>>> peers_;
  std::unordered_map<std::uint64_t, Adopted> adopted_;
  std::uint64_t by_seat_[kWarps][kLanes] = {};
  std::uint32_t cq_lives_[kWarps][kLanes] = {};
  std::uint32_t life_ = 0;
  bool told_of_opcodes_ = false;
  bool told_of_receivers_ = false;
  bool told_of_unreachable_ = false;
  std::atomic<bool> stopped_{false};
};

}  // namespace marrow::cx7::cuda

marrow::cx7::GpuEngine* marrow_cx7_cuda_engine(const marrow::cx7::cuda::EngineOptions* options, const char** why) {
  using marrow::cx7::cuda::CudaEngine;
  static CudaEngine* const engine = [&]() -> CudaEngine* {
    int gpus = 0;
    const cudaError_t error = cudaGetDeviceCount(&gpus);
    if (error != cudaSuccess || gpus == 0) {
      *why = error != cudaSuccess ? cudaGetErrorString(error) : "there is no GPU";
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    auto* const made = new CudaEngine(*options);
    static CudaEngine* at_exit = made;
    std::atexit([] { at_exit->stop(); });  // a kernel that never ends would keep the process
    return made;
  }();
  return engine;
}
