// SPDX-License-Identifier: Apache-2.0
// What handles stand for. Each object's destructor undoes its creation, so a failed command leaves nothing behind and
// a closed file needs only an order: see rank().
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "cx7/abi/channel.h"
#include "cx7/abi/file.h"
#include "cx7/abi/schema.h"
#include "cx7/fw/command.h"

namespace marrow::cx7::abi {

class Object {
 public:
  Object(ObjectKind kind, fw::Client& client) : client_(client), kind_(kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  [[nodiscard]] ObjectKind kind() const { return kind_; }
  /// Something else still needs it: EBUSY.
  [[nodiscard]] virtual bool busy() const { return false; }
  /// When the whole file closes: lower ranks go first.
  [[nodiscard]] virtual int rank() const = 0;

  static constexpr int kRankQp = 0;
  static constexpr int kRankSrq = 1;
  static constexpr int kRankCq = 2;
  static constexpr int kRankKey = 3;
  static constexpr int kRankUmem = 4;
  static constexpr int kRankPd = 5;
  static constexpr int kRankUar = 6;
  static constexpr int kRanks = 7;

 protected:
  fw::Client& client_;

 private:
  ObjectKind kind_;
};

class PdObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kPd;
  explicit PdObject(fw::Client& client);  // ENOMEM when there is none left
  ~PdObject() override;
  [[nodiscard]] bool busy() const override { return pd_->users != 0; }
  [[nodiscard]] int rank() const override { return kRankPd; }
  [[nodiscard]] Pd& pd() const { return *pd_; }

 private:
  Pd* pd_;
};

class MrObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kMr;
  MrObject(fw::Client& client, Pd& pd, Mkey mkey);  // gives the key its number
  ~MrObject() override;
  [[nodiscard]] int rank() const override { return kRankKey; }
  [[nodiscard]] std::uint32_t key() const { return key_; }
  [[nodiscard]] const Mkey& mkey() const { return *client_.device.mkeys.find(key_ >> 8); }
  [[nodiscard]] Pd& pd() const { return *pd_; }
  /// The same number for another range, domain or rights. Windows on it show nothing any more.
  void change(Pd& pd, Mkey mkey);

 private:
  Pd* pd_;
  std::uint32_t key_ = 0;
};

/// A memory window. Work requests bind it and change the low byte of its key.
class MwObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kMw;
  MwObject(fw::Client& client, Pd& pd);
  ~MwObject() override;
  [[nodiscard]] int rank() const override { return kRankKey; }
  [[nodiscard]] std::uint32_t key() const { return mkey_->key; }

 private:
  Pd& pd_;
  Mkey* mkey_ = nullptr;
};

class AhObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kAh;
  AhObject(fw::Client& client, Pd& pd) : Object(kKind, client), pd_(pd) { ++pd_.users; }
  ~AhObject() override { --pd_.users; }
  [[nodiscard]] int rank() const override { return kRankKey; }

 private:
  Pd& pd_;
};

class UarObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kUar;
  UarObject(fw::Client& client, DevicePages& pages);  // ENOMEM when there is no page left
  ~UarObject() override;
  [[nodiscard]] bool busy() const override;
  [[nodiscard]] int rank() const override { return kRankUar; }
  [[nodiscard]] std::uint64_t file_offset() const { return page_.file_offset; }
  [[nodiscard]] std::uint32_t number() const;

 private:
  DevicePages& pages_;
  DevicePage page_;
};

class UmemObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kUmem;
  UmemObject(fw::Client& client, std::byte* base, std::uint64_t bytes);
  ~UmemObject() override { client_.umems.erase(id_); }
  [[nodiscard]] bool busy() const override { return client_.umems.at(id_).users != 0; }
  [[nodiscard]] int rank() const override { return kRankUmem; }
  [[nodiscard]] std::uint32_t id() const { return id_; }

 private:
  std::uint32_t id_;
};

/// A CQ made through verbs. Its events go to the channels it was made with.
class CqObject final : public Object, public EventSink {
 public:
  static constexpr auto kKind = ObjectKind::kCq;
  struct Channels {
    std::shared_ptr<EventChannel> completion;  // null: the CQ is polled
    std::shared_ptr<EventChannel> async;
  };
  CqObject(fw::Client& client, const Cq& cq, Channels channels);  // gives the CQ its number
  ~CqObject() override;
  [[nodiscard]] bool busy() const override { return cq_->users != 0; }
  [[nodiscard]] int rank() const override { return kRankCq; }
  [[nodiscard]] Cq& cq() const { return *cq_; }
  /// Takes back unread events; what remains is what the application has seen. It waits for these before it frees.
  [[nodiscard]] ib_uverbs_destroy_cq_resp settle_events();

  void completion_event(Cq& cq) override;
  void async_event(AsyncEvent event) override;

 private:
  Channels channels_;
  Cq* cq_ = nullptr;
  std::uint32_t completion_events_ = 0;
  std::uint32_t async_events_ = 0;
};

/// An XRC domain: shared by those who opened it with the same file.
struct XrcDomain {
  std::uint32_t number = 0;
};

class XrcdObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kXrcd;
  XrcdObject(fw::Client& client, std::shared_ptr<XrcDomain> domain)
      : Object(kKind, client), domain_(std::move(domain)) {}
  [[nodiscard]] bool busy() const override { return users != 0; }
  [[nodiscard]] int rank() const override { return kRankPd; }
  [[nodiscard]] std::uint32_t number() const { return domain_->number; }

  std::uint32_t users = 0;  // SRQs and targets made with this handle

 private:
  std::shared_ptr<XrcDomain> domain_;
};

class SrqObject final : public Object, public EventSink {
 public:
  static constexpr auto kKind = ObjectKind::kSrq;
  /// What an SRQ was made with and keeps alive.
  struct Holds {
    std::shared_ptr<EventChannel> async;
    XrcdObject* xrcd = nullptr;
  };
  SrqObject(fw::Client& client, Srq srq, Holds holds);  // gives the SRQ its number
  ~SrqObject() override;
  [[nodiscard]] bool busy() const override { return srq_->users != 0; }
  [[nodiscard]] int rank() const override { return kRankSrq; }
  [[nodiscard]] Srq& srq() const { return *srq_; }
  [[nodiscard]] ib_uverbs_destroy_srq_resp settle_events();

  void async_event(AsyncEvent event) override;

  /// Kept only to be told again.
  struct Said {
    std::uint64_t user_handle = 0;
    std::uint32_t max_wr = 0;
    std::uint32_t max_sge = 0;
  };
  Said said;

 private:
  Holds holds_;
  Srq* srq_ = nullptr;
  std::uint32_t async_events_ = 0;
};

/// A DC target before it is one: its number comes when it is moved to RTR.
struct FutureDct {
  std::uint64_t access_key = 0;
  QpState state = QpState::kReset;
  QpAttributes attributes;
};

/// A QP made through verbs, and what QUERY_QP must give back of what was said to it.
class QpObject final : public Object, public EventSink {
 public:
  static constexpr auto kKind = ObjectKind::kQp;
  using Holds = SrqObject::Holds;
  /// Gives the QP its number; a DC target gets none yet.
  QpObject(fw::Client& client, QpConfig config, Holds holds);
  ~QpObject() override;
  [[nodiscard]] int rank() const override { return kRankQp; }
  /// EINVAL where a DC target is not there yet.
  [[nodiscard]] Qp& qp() const;
  [[nodiscard]] const QpConfig& config() const { return config_; }
  void make_dct();

  FutureDct dct;  // of a DC target alone
  [[nodiscard]] ib_uverbs_destroy_qp_resp settle_events();

  void async_event(AsyncEvent event) override;

  /// Kept only to be told again.
  struct Said {
    ib_uverbs_qp_dest dest{};
    ib_uverbs_qp_cap cap{};
    bool all_signaled = false;
    std::uint8_t port = 0;
  };
  Said said;

 private:
  void hold_queues(const QpConfig& config, int by);

  QpConfig config_;
  Holds holds_;
  Qp* qp_ = nullptr;
  std::uint32_t async_events_ = 0;
};

/// An object that firmware made for a DEVX caller.
class DevxObject final : public Object {
 public:
  static constexpr auto kKind = ObjectKind::kDevx;
  struct Name {
    fw::Subject subject{};
    std::uint32_t number = 0;
  };
  DevxObject(fw::Client& client, Name name) : Object(kKind, client), name_(name) {}
  ~DevxObject() override;
  [[nodiscard]] int rank() const override;
  [[nodiscard]] const Name& name() const { return name_; }
  /// Asks firmware to drain and to destroy it; throws Errno when that refuses.
  void destroy();

 private:
  [[nodiscard]] fw::Reply run(const fw::CommandSpec& command);

  Name name_;
  bool gone_ = false;
};

}  // namespace marrow::cx7::abi
