// SPDX-License-Identifier: Apache-2.0
#include "cx7/abi/objects.h"

#include <array>
#include <cstring>
#include <utility>

#include "cx7/abi/refusal.h"
#include "cx7/fw/limits.h"

namespace marrow::cx7::abi {
namespace {

namespace prm = wire::prm;

bool post_async(const std::shared_ptr<EventChannel>& channel, std::uint64_t element, AsyncEvent type) {
  if (!channel) return false;
  const ib_uverbs_async_event_desc event{
      .element = element, .event_type = static_cast<std::uint32_t>(type), .reserved = 0};
  return channel->post(std::as_bytes(std::span(&event, 1)));
}

std::uint32_t take_number(std::uint32_t number) {
  require(number != 0, ENOMEM);
  return number;
}

// The low byte changes from key to key, so that a stale one rarely fits the next owner of its number.
std::uint32_t next_key(Device& device) {
  static std::uint8_t variant = 0;
  return take_number(device.mkeys.next_number()) << 8 | ++variant;
}

std::uint32_t next_umem_id() {
  static std::uint32_t last = 0;  // the engine's lock is held
  return ++last;
}

}  // namespace

PdObject::PdObject(fw::Client& client) : Object(kKind, client) {
  const auto pdn = take_number(client.device.pds.next_number());
  pd_ = &client.device.pds.put(pdn, std::make_unique<Pd>(Pd{.pdn = pdn}));
  client.pds.insert(pdn);
}

PdObject::~PdObject() {
  client_.pds.erase(pd_->pdn);
  client_.device.pds.erase(pd_->pdn);
}

MrObject::MrObject(fw::Client& client, Pd& pd, Mkey mkey) : Object(kKind, client), pd_(&pd) {
  key_ = mkey.key = next_key(client.device);
  client.engine.add_mkey(client.device, mkey);
  ++pd_->users;
}

MrObject::~MrObject() {
  client_.engine.remove_mkey(client_.device, key_);
  --pd_->users;
}

void MrObject::change(Pd& pd, Mkey mkey) {
  mkey.key = key_;
  client_.engine.remove_mkey(client_.device, key_);
  client_.engine.add_mkey(client_.device, mkey);
  --pd_->users;
  pd_ = &pd;
  ++pd_->users;
}

MwObject::MwObject(fw::Client& client, Pd& pd) : Object(kKind, client), pd_(pd) {
  mkey_ = &client.engine.add_mkey(client.device,
                                  {.key = next_key(client.device), .pdn = pd.pdn, .kind = Mkey::Kind::kWindow});
  ++pd_.users;
}

MwObject::~MwObject() {
  client_.engine.remove_mkey(client_.device, mkey_->key);
  --pd_.users;
}

UarObject::UarObject(fw::Client& client, DevicePages& pages) : Object(kKind, client), pages_(pages) {
  const auto page = pages.allocate();
  require(page.has_value(), ENOMEM);
  page_ = *page;
  client.engine.add_uar(client.device, number(), page_.registers);
  client.uars.insert(number());
}

UarObject::~UarObject() {
  client_.uars.erase(number());
  client_.engine.remove_uar(client_.device, number());
  pages_.release(page_);
}

std::uint32_t UarObject::number() const {
  return static_cast<std::uint32_t>(page_.file_offset / kUarPageBytes);
}

bool UarObject::busy() const {
  const Uar* const uar = client_.engine.find_uar(client_.device, number());
  return uar != nullptr && (!uar->qps.empty() || uar->gpu_qps != 0);
}

UmemObject::UmemObject(fw::Client& client, std::byte* base, std::uint64_t bytes)
    : Object(kKind, client), id_(next_umem_id()) {
  client.umems.emplace(id_, fw::Umem{.id = id_, .base = base, .bytes = bytes});
}

CqObject::CqObject(fw::Client& client, const Cq& cq, Channels channels)
    : Object(kKind, client), channels_(std::move(channels)) {
  auto prepared = cq;
  prepared.cqn = take_number(client.device.cqs.next_number());
  prepared.has_channel = channels_.completion != nullptr;
  prepared.events = this;
  cq_ = &client.engine.add_cq(client.device, prepared);
  client.cqs.emplace(cq_->cqn, fw::QueueMemory{});
}

CqObject::~CqObject() {
  static_cast<void>(settle_events());
  client_.cqs.erase(cq_->cqn);
  client_.engine.remove_cq(client_.device, *cq_);
}

ib_uverbs_destroy_cq_resp CqObject::settle_events() {
  const auto element = cq_->user_handle;
  if (completion_events_ != 0) completion_events_ -= channels_.completion->remove(element);
  if (async_events_ != 0) async_events_ -= channels_.async->remove(element);
  return {.comp_events_reported = completion_events_, .async_events_reported = async_events_};
}

void CqObject::completion_event(Cq& cq) {
  const ib_uverbs_comp_event_desc event{.cq_handle = cq.user_handle};
  if (channels_.completion && channels_.completion->post(std::as_bytes(std::span(&event, 1)))) ++completion_events_;
}

void CqObject::async_event(AsyncEvent event) {
  if (post_async(channels_.async, cq_->user_handle, event)) ++async_events_;
}

SrqObject::SrqObject(fw::Client& client, Srq srq, Holds holds) : Object(kKind, client), holds_(std::move(holds)) {
  srq.srqn = take_number(client.device.srqs.next_number());
  srq.events = this;
  srq_ = &client.engine.add_srq(client.device, srq);
  client.srqs.insert(srq.srqn);
  if (holds_.xrcd != nullptr) ++holds_.xrcd->users;
}

SrqObject::~SrqObject() {
  static_cast<void>(settle_events());
  if (holds_.xrcd != nullptr) --holds_.xrcd->users;
  client_.srqs.erase(srq_->srqn);
  client_.engine.remove_srq(client_.device, *srq_);
}

ib_uverbs_destroy_srq_resp SrqObject::settle_events() {
  if (async_events_ != 0) async_events_ -= holds_.async->remove(said.user_handle);
  return {.events_reported = async_events_};
}

void SrqObject::async_event(AsyncEvent event) {
  if (post_async(holds_.async, said.user_handle, event)) ++async_events_;
}

QpObject::QpObject(fw::Client& client, QpConfig config, Holds holds)
    : Object(kKind, client), config_(config), holds_(std::move(holds)) {
  if (config.service == ServiceType::kDct) {
    hold_queues(config_, +1);
    return;
  }
  config_.qpn = take_number(client.device.qps.next_number());
  config_.events = this;
  qp_ = &client.engine.add_qp(client.device, config_);
  client.qps.emplace(config_.qpn, fw::QueueMemory{});
  if (holds_.xrcd != nullptr) ++holds_.xrcd->users;
}

QpObject::~QpObject() {
  static_cast<void>(settle_events());
  if (config_.service == ServiceType::kDct) hold_queues(config_, -1);
  if (holds_.xrcd != nullptr) --holds_.xrcd->users;
  if (qp_ == nullptr) return;
  client_.qps.erase(config_.qpn);
  client_.engine.remove_qp(client_.device, *qp_);
}

// What a DC target will need must not go before.
void QpObject::hold_queues(const QpConfig& config, int by) {
  const auto users = static_cast<std::uint32_t>(by);
  if (Pd* pd = client_.device.pds.find(config.pdn)) pd->users += users;
  config.recv_cq->users += users;
  config.srq->users += users;
}

void QpObject::make_dct() {
  config_.qpn = take_number(client_.device.qps.next_number());
  config_.events = this;
  qp_ = &client_.engine.add_dct(client_.device, config_, dct.attributes, dct.access_key);
}

Qp& QpObject::qp() const {
  require(qp_ != nullptr, EINVAL);
  return *qp_;
}

ib_uverbs_destroy_qp_resp QpObject::settle_events() {
  if (async_events_ != 0) async_events_ -= holds_.async->remove(config_.user_handle);
  return {.events_reported = async_events_};
}

void QpObject::async_event(AsyncEvent event) {
  if (post_async(holds_.async, config_.user_handle, event)) ++async_events_;
}

DevxObject::~DevxObject() {
  try {
    destroy();
  } catch (const Errno&) {  // firmware has logged why; the file closes all the same
  }
}

int DevxObject::rank() const {
  switch (name_.subject) {
    case fw::Subject::kCq:
      return kRankCq;
    case fw::Subject::kMkey:
      return kRankKey;
    case fw::Subject::kRmp:
      return kRankSrq;
    default:
      return kRankQp;
  }
}

fw::Reply DevxObject::run(const fw::CommandSpec& command) {
  std::array<std::byte, prm::destroy::kInBytes> in{};
  std::array<std::byte, prm::destroy::kOutBytes> out{};
  prm::set(in.data(), prm::in::opcode, static_cast<std::uint32_t>(command.opcode));
  prm::set(in.data(), prm::destroy::object, name_.number);
  return fw::execute(client_, in, out);
}

void DevxObject::destroy() {
  if (gone_) return;
  const auto* const drain = fw::find_command(name_.subject, fw::Role::kDrain);
  if (drain != nullptr) require(run(*drain).ok(), EREMOTEIO);
  const auto reply = run(*fw::find_command(name_.subject, fw::Role::kDestroy));
  if (reply.status == fw::CommandStatus::kResourceBusy) refuse(EBUSY);
  require(reply.ok(), EREMOTEIO);
  gone_ = true;
}

}  // namespace marrow::cx7::abi
