// SPDX-License-Identifier: Apache-2.0
// See dct.h. Facts: that a DCT names a CQ and an SRQ though only RDMA comes [obs: what GPU libraries create]; their
// numbers through libmlx5's objects [dv].
#include "verbs/dct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "util/error.h"
#include "verbs/devx.h"
#include "verbs/mailboxes.h"
#include "verbs/path.h"

namespace marrow::verbs {
namespace {

constexpr std::size_t kSubnetPrefixBytes = 8;

CqHandle make_cq(const Context& context) {
  CqHandle cq(ibv_create_cq(context.get(), 1, nullptr, nullptr, 0));
  if (!cq) throw util::system_error(fmt::format("create the CQ of a DCT on {}", context.name()), errno);
  return cq;
}

SrqHandle make_srq(const Context& context, const Pd& pd) {
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = 1;
  attributes.attr.max_sge = 1;
  SrqHandle srq(ibv_create_srq(pd.get(), &attributes));
  if (!srq) throw util::system_error(fmt::format("create the SRQ of a DCT on {}", context.name()), errno);
  return srq;
}

struct Numbers {
  std::uint32_t cqn = 0;
  std::uint32_t srqn = 0;
};

Numbers numbers_of(ibv_cq* cq, ibv_srq* srq) {
  mlx5dv_cq told_cq{};
  mlx5dv_srq told_srq{};
  told_srq.comp_mask = MLX5DV_SRQ_MASK_SRQN;
  mlx5dv_obj object{};
  object.cq.in = cq;
  object.cq.out = &told_cq;
  object.srq.in = srq;
  object.srq.out = &told_srq;
  if (mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ | MLX5DV_OBJ_SRQ) != 0) {
    throw util::Error("libmlx5 does not tell the numbers of a CQ and an SRQ");
  }
  return {.cqn = told_cq.cqn, .srqn = told_srq.srqn};
}

bool is_routed(const Port& port, const Address& to) {
  return !std::equal(port.gid.begin(), port.gid.begin() + kSubnetPrefixBytes, to.gid.begin());
}

}  // namespace

Dct::Dct(const Context& context, const Pd& pd, const DctOptions& options) {
  if (!context.capabilities().dc) {
    throw util::Error(fmt::format("{}: the device has no DC transport", context.name()), util::ErrorKind::kUsage);
  }
  cq_ = make_cq(context);
  srq_ = make_srq(context, pd);
  const auto numbers = numbers_of(cq_.get(), srq_.get());
  const Port& port = context.port();
  const auto in = create_dct({.pdn = pd.number(),
                              .cqn = numbers.cqn,
                              .srqn = numbers.srqn,
                              .key = options.key,
                              .port = port.number,
                              .gid_index = port.gid_index,
                              .link = port.link,
                              .mtu = port.mtu,
                              .user_index = options.user_index,
                              .access = {.atomics = context.capabilities().atomic},
                              .behaviour = options.behaviour});
  Mailbox<prm::create_dct::kOutBytes> out;
  dct_ = create_object(context.get(), in.bytes, out.bytes);
  address_ = {.at = make_address(context, out.get(prm::out::object)), .key = options.key};
}

std::uint32_t Dct::key_violations() const {
  Mailbox<prm::query_dct::kInBytes> in(prm::Command::kQueryDct);
  in.whole().set(prm::query_dct::dctn, number());
  Mailbox<prm::query_dct::kOutBytes> out;
  query_object(dct_.get(), in.bytes, out.bytes);
  return out.get(prm::query_dct::kContext, prm::dctc::key_violations);
}

wire::AddressVector address_vector(const Context& context, const Pd& pd, const DctAddress& target,
                                   const Behaviour& behaviour) {
  const Address local = make_address(context, 0);
  const Connection path = resolve(context, pd, local, target.at, behaviour);
  const wire::DcAddress to{
      .key = target.key, .dctn = target.at.qpn, .lid = target.at.lid, .sl = behaviour.service_level};
  const wire::DcRoute route{.mac = path.remote_mac,
                            .gid = target.at.gid,
                            .sgid_index = path.gid_index,
                            .traffic_class = behaviour.traffic_class,
                            .hop_limit = behaviour.hop_limit};
  if (local.link == LinkLayer::kEthernet) return wire::ethernet_av(to, route, path.udp_sport);
  return path.routed ? wire::routed_av(to, route) : wire::infiniband_av(to);
}

bool is_compact(const Context& context, const DctAddress& target) {
  return context.capabilities().compact_av && target.at.link == LinkLayer::kInfiniBand &&
         !is_routed(context.port(), target.at);
}

}  // namespace marrow::verbs
