// SPDX-License-Identifier: Apache-2.0
// Stop 3 of 9, for dynamically connected QPs: where a WQE goes. An RC QP knows its peer; a DCI learns it from each WQE,
// in an address vector that stands directly behind the control segment and shifts what follows by 1 or 3 segments.
// Facts: mlx5_wqe_av and its extension bit [dv]; that 16 bytes are enough on an InfiniBand port with a LID [prm:
// compact address vector]. Witnesses: tests/wire/dc_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "marrow/wire/be.h"
#include "marrow/wire/wqe.h"

namespace marrow::wire {

/// The first 16 bytes, all of a compact address vector.
struct CompactAv {
  be64 key;                // DC access key: the same as the target's
  be32 extension_dctn;     // bit 31: the extension follows | DCT number 23:0
  std::uint8_t rate_sl;    // static rate 7:4 | service level 3:0 (on Ethernet: priority 3:1)
  std::uint8_t path_bits;  // bit 7: force loopback | source path bits 6:0
  be16 rlid;               // LID of the target's port; on Ethernet the UDP source port
};

/// What Ethernet, or a route with a GRH, needs beside.
struct AvExtension {
  std::array<std::uint8_t, 4> reserved;
  std::array<std::uint8_t, 6> mac;
  std::uint8_t traffic_class;
  std::uint8_t hop_limit;
  be32 grh;  // bit 30: GRH present (InfiniBand only) | source GID index 27:20 | flow label 19:0
  std::array<std::uint8_t, 16> gid;
};

struct AddressVector {
  CompactAv compact;
  AvExtension extension;
};

static_assert(sizeof(CompactAv) == kDsBytes && sizeof(AvExtension) == 2 * kDsBytes);
static_assert(sizeof(AddressVector) == 48 && offsetof(AvExtension, grh) == 12);
inline constexpr std::uint32_t kAvExtended = 1u << 31;
inline constexpr std::uint32_t kCompactAvDs = 1;
inline constexpr std::uint32_t kFullAvDs = 3;

/// A DCT as people know it.
struct DcAddress {
  std::uint64_t key = 0;
  std::uint32_t dctn = 0;
  std::uint16_t lid = 0;  // InfiniBand
  std::uint8_t sl = 0;
};

/// A DCT behind Ethernet or a GRH.
struct DcRoute {
  std::array<std::uint8_t, 6> mac{};
  std::array<std::uint8_t, 16> gid{};
  std::uint8_t sgid_index = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint32_t flow_label = 0;
};

/// InfiniBand without GRH, for WQEs with 16 or with 48 bytes of address: the extension is all zero.
MARROW_HD constexpr AddressVector infiniband_av(const DcAddress& to) {
  AddressVector av{};
  av.compact.key = be64(to.key);
  av.compact.extension_dctn = be32(to.dctn & 0xffffff);
  av.compact.rate_sl = static_cast<std::uint8_t>(to.sl & 0xf);
  av.compact.rlid = be16(to.lid);
  return av;
}

/// InfiniBand through a router, 48 bytes only: the same with a GRH.
MARROW_HD constexpr AddressVector routed_av(const DcAddress& to, const DcRoute& route) {
  constexpr std::uint32_t kHasGrh = 1u << 30;
  AddressVector av = infiniband_av(to);
  av.compact.extension_dctn = be32(kAvExtended | (to.dctn & 0xffffff));
  av.extension.traffic_class = route.traffic_class;
  av.extension.hop_limit = route.hop_limit;
  av.extension.grh = be32(kHasGrh | static_cast<std::uint32_t>(route.sgid_index) << 20 | (route.flow_label & 0xfffff));
  av.extension.gid = route.gid;
  return av;
}

/// Ethernet, 48 bytes only. \param udp_source  the flow's source port.
MARROW_HD constexpr AddressVector ethernet_av(const DcAddress& to, const DcRoute& route, std::uint16_t udp_source) {
  AddressVector av{};
  av.compact.key = be64(to.key);
  av.compact.extension_dctn = be32(kAvExtended | (to.dctn & 0xffffff));
  av.compact.rate_sl = static_cast<std::uint8_t>((to.sl & 7) << 1);
  av.compact.rlid = be16(udp_source);
  av.extension.mac = route.mac;
  av.extension.traffic_class = route.traffic_class;
  av.extension.hop_limit = route.hop_limit;
  av.extension.grh = be32(static_cast<std::uint32_t>(route.sgid_index) << 20 | (route.flow_label & 0xfffff));
  av.extension.gid = route.gid;
  return av;
}

/// The same target in the form that a WQE with `av_ds` segments of address needs: the extension bit says which.
MARROW_HD constexpr CompactAv av_head(const AddressVector& av, std::uint32_t av_ds) {
  CompactAv head = av.compact;
  const std::uint32_t dctn = head.extension_dctn.host() & ~kAvExtended;
  head.extension_dctn = be32(av_ds == kFullAvDs ? kAvExtended | dctn : dctn);
  return head;
}

}  // namespace marrow::wire
