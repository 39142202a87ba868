// SPDX-License-Identifier: Apache-2.0
// Who serves a queue pair: this engine, or GPU threads (gpu_engine.h). Decided once, when it is made, by where its
// queues lie. A UAR page belongs to one of the two: this engine takes doorbells out of the registers, GPU threads only
// read them.
#include "cx7/hca/engine.h"
#include "cx7/hca/neighbours.h"

namespace marrow::cx7 {
namespace {

bool has_gpu_queues(GpuEngine& gpu, const QpConfig& config) {
  const auto is_gpu = [&gpu](const void* at) { return at != nullptr && gpu.is_gpu_memory(at, 8); };
  const bool cq = config.send_cq != nullptr && is_gpu(config.send_cq->entries);
  return cq || is_gpu(config.sq.base) || is_gpu(config.dbrec);
}

constexpr const char* kSharedPage =
    "this UAR page has queue pairs in GPU memory and in host memory, and one engine must watch it alone";

}  // namespace

GpuEngine* Engine::gpu() {
  if (gpu_ != nullptr || !gpu_choice_.load) return gpu_;
  gpu_ = gpu_choice_.load();
  if (gpu_ == nullptr) return nullptr;
  for (auto& device : devices_) {
    device->mkeys.for_each([&](const Mkey& key) {
      if (is_told(key)) gpu_->key_added(device->index, key);
    });
    device->qps.for_each([&](const Qp& qp) { gpu_->qp_changed(qp); });
  }
  return gpu_;
}

std::string Engine::place_qp(Device& device, Qp& qp) {
  const auto& config = qp.config;
  Uar* const uar = find_uar(device, config.uar_page);
  GpuEngine* const gpu_engine = gpu();
  if (gpu_engine == nullptr && gpu_choice_.every_queue) {
    return "MARROW_SIM_ENGINE asks for GPU threads, and this process has none";
  }
  const bool wanted = gpu_engine != nullptr && config.sq.wqebbs != 0 &&
                      (gpu_choice_.every_queue || has_gpu_queues(*gpu_engine, config));
  if (!wanted) return uar != nullptr && uar->gpu_qps != 0 ? kSharedPage : "";
  if (uar == nullptr) return "no UAR page to watch";
  if (uar->qps.size() > 1) return kSharedPage;  // the QP itself is on the list
  if (auto why = gpu_engine->adopt(qp, *uar); !why.empty()) return why;
  qp.on_gpu = true;
  ++uar->gpu_qps;
  std::erase(uar->qps, &qp);
  return {};
}

void Engine::refresh(Qp& qp) {
  if (qp.on_gpu && gpu_ != nullptr) gpu_->look_at(qp);
}

Mkey& Engine::add_mkey(Device& device, const Mkey& mkey) {
  Mkey& added = device.mkeys.put(mkey.key >> 8, std::make_unique<Mkey>(mkey));
  if (!is_told(added)) return added;
  if (added.kind == Mkey::Kind::kWindow) device.windows.push_back(&added);
  if (gpu_ != nullptr) gpu_->key_added(device.index, added);
  neighbours_->key_added(device.index, added);
  return added;
}

Counters Engine::counters(std::uint8_t device) {
  Counters sum = devices_[device]->counters;
  if (gpu_ == nullptr) return sum;
  return sum += gpu_->counters(device);
}

}  // namespace marrow::cx7
