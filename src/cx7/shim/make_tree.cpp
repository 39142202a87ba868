// SPDX-License-Identifier: Apache-2.0
// Generator, run once at build time: writes the device trees, for InfiniBand ports, Ethernet ports, and these on a
// network, as real files and relative symbolic links. marrow_cx7_make_tree DIRECTORY makes DIRECTORY/ib, roce and udp
// anew. Facts: names and formats of sysfs attributes [abi: Documentation/ABI/stable/sysfs-class-infiniband], [obs];
// rate of a 4x NDR port [prm: IBA]. Counters are empty files: the hooks put the value there (counter_files.h), and who
// goes around them reads nothing rather than a wrong number.
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "cx7/fw/port.h"
#include "cx7/shim/port_counters.h"
#include "cx7/shim/tree.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kSubsystemDevice = 0x0058;
constexpr mode_t kAttributeMode = 0444;
constexpr mode_t kNodeMode = 0666;

bool is_ethernet() {
  return link_layer() == LinkLayer::kEthernet;
}

bool on_network = false;  // of the tree being written

std::string guid_text(std::uint64_t guid) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, guid >> 32 & 0xffff, guid >> 16 & 0xffff,
                     guid & 0xffff);
}

std::string gid_text(const Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  }
  return text;
}

/// A directory under construction.
class Directory {
 public:
  explicit Directory(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }

  void attribute(std::string_view name, std::string_view value) const {
    file(name, std::string(value) + "\n", kAttributeMode);
  }
  void node(std::string_view name) const { file(name, "", kNodeMode); }
  void counter(std::string_view name) const { file(name, "", kAttributeMode); }
  void link(std::string_view name, std::string_view target) const { fs::create_symlink(target, path_ / name); }
  [[nodiscard]] Directory below(std::string_view name) const { return Directory(path_ / name); }

 private:
  void file(std::string_view name, const std::string& text, mode_t mode) const {
    const fs::path path = path_ / name;
    std::ofstream(path, std::ios::trunc) << text;
    // The file system's copy is what counts: a full disk shows here.
    if (fs::file_size(path) != text.size()) throw util::Error(fmt::format("{} could not be written", path.string()));
    if (::chmod(path.c_str(), mode) != 0) throw util::system_error("chmod " + path.string(), errno);
  }

  fs::path path_;
};

void write_port(const Directory& port, std::uint8_t device) {
  port.attribute("state", "4: ACTIVE");
  port.attribute("phys_state", "5: LinkUp");
  port.attribute("rate", "400 Gb/sec (4X NDR)");
  port.attribute("link_layer", is_ethernet() ? "Ethernet" : "InfiniBand");
  port.attribute("lid", fmt::format("{:#x}", is_ethernet() ? 0 : device_facts(device).lid));
  port.attribute("lid_mask_count", "0");
  port.attribute("sm_lid", is_ethernet() ? "0x0" : "0x1");
  port.attribute("sm_sl", "0");
  const Directory pkeys = port.below("pkeys");
  for (std::uint32_t i = 0; i < kPkeyTableLength; ++i)
    pkeys.attribute(std::to_string(i), fmt::format("{:#06x}", kPkey));
  for (const PortCounter& counter : kPortCounterTable) port.below(counter.folder).counter(counter.name);
  const Directory gids = port.below("gids");
  const Directory types = port.below("gid_attrs/types");
  const Directory interfaces = port.below("gid_attrs/ndevs");
  // On a network the one GID is the user's address, which this file cannot know; its type is known.
  const std::array network_gid{GidEntry{.gid = {}, .type = GidType::kRoceV2}};
  const auto table = on_network ? std::span<const GidEntry>(network_gid) : gid_table(device);
  for (std::size_t i = 0; i < kGidTableLength; ++i) {
    const bool filled = i < table.size();
    gids.attribute(std::to_string(i), gid_text(filled ? table[i].gid : Gid{}));
    if (filled) types.attribute(std::to_string(i), gid_type_text(table[i].type));
    // Where no packet leaves the host, and no network interface of its own stands behind the port.
    if (filled && is_ethernet() && !on_network) interfaces.attribute(std::to_string(i), "lo");
  }
}

void write_ibdev(const Directory& ibdev, std::uint8_t device) {
  const DeviceFacts& facts = device_facts(device);
  ibdev.attribute("node_type", "1: CA");
  ibdev.attribute("node_guid", guid_text(facts.node_guid));
  ibdev.attribute("sys_image_guid", guid_text(facts.system_image_guid));
  ibdev.attribute("node_desc", fmt::format("{} software ConnectX-7", facts.name));
  ibdev.attribute("fw_ver", kFirmwareVersion);
  ibdev.attribute("hw_rev", fmt::format("{:x}", kHardwareVersion));
  ibdev.attribute("hca_type", "MT4129");
  ibdev.attribute("board_id", kBoardId);
  ibdev.attribute("uevent", fmt::format("NAME={}", facts.name));
  ibdev.link("device", fmt::format("../../../{}", facts.pci_address));
  ibdev.link("subsystem", "../../../../../../class/infiniband");
  write_port(ibdev.below("ports/1"), device);
}

void write_uverbs(const Directory& uverbs, std::uint8_t device) {
  const DeviceFacts& facts = device_facts(device);
  const auto number = fmt::format("{}:{}", kUverbsMajor, kUverbsFirstMinor + device);
  uverbs.attribute("ibdev", facts.name);
  uverbs.attribute("dev", number);
  uverbs.attribute("abi_version", "1");
  uverbs.link("device", fmt::format("../../../{}", facts.pci_address));
  uverbs.link("subsystem", "../../../../../../class/infiniband_verbs");
}

void write_pci_link(const Directory& pci) {
  for (const std::string_view which : {"current", "max"}) {
    pci.attribute(fmt::format("{}_link_speed", which), "32.0 GT/s PCIe");
    pci.attribute(fmt::format("{}_link_width", which), "16");
  }
  pci.attribute("numa_node", "-1");
  pci.attribute("local_cpulist", "0-1023");  // near to every core, as a device of a machine with one NUMA node
  std::string mask = "ffffffff";
  for (int word = 1; word < 32; ++word) mask += ",ffffffff";
  pci.attribute("local_cpus", mask);
}

void write_pci(const Directory& pci, std::uint8_t device) {
  const DeviceFacts& facts = device_facts(device);
  const std::uint32_t pci_class = is_ethernet() ? 0x020000 : 0x020700;
  pci.attribute("vendor", fmt::format("{:#06x}", kPciVendor));
  pci.attribute("device", fmt::format("{:#06x}", kPciDevice));
  pci.attribute("subsystem_vendor", fmt::format("{:#06x}", kPciVendor));
  pci.attribute("subsystem_device", fmt::format("{:#06x}", kSubsystemDevice));
  pci.attribute("class", fmt::format("{:#08x}", pci_class));
  pci.attribute("revision", "0x00");
  pci.attribute("enable", "1");
  const auto modalias =
      fmt::format("pci:v{0:08X}d{1:08X}sv{0:08X}sd{2:08X}bc{3:02x}sc{4:02x}i{5:02x}", kPciVendor, kPciDevice,
                  kSubsystemDevice, pci_class >> 16, pci_class >> 8 & 0xff, pci_class & 0xff);
  pci.attribute("modalias", modalias);
  pci.attribute("uevent", fmt::format("DRIVER=mlx5_core\nPCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:"
                                      "{:04X}\nPCI_SLOT_NAME={}\nMODALIAS={}",
                                      pci_class, kPciVendor, kPciDevice, kPciVendor, kSubsystemDevice,
                                      facts.pci_address, modalias));
  pci.link("subsystem", "../../../../bus/pci");
  write_pci_link(pci);
  write_ibdev(pci.below(fmt::format("infiniband/{}", facts.name)), device);
  write_uverbs(pci.below(fmt::format("infiniband_verbs/{}", facts.node)), device);
}

void write_root_port(const Directory& port) {
  port.attribute("class", "0x060400");
  port.attribute("numa_node", "-1");
  port.attribute("local_cpulist", "0-1023");
  port.attribute("max_link_speed", "32.0 GT/s PCIe");
  port.attribute("max_link_width", "16");
}

void write_tree(const fs::path& root) {
  const Directory tree(root);
  const Directory verbs = tree.below("sys/class/infiniband_verbs");
  const Directory infiniband = tree.below("sys/class/infiniband");
  const Directory bus = tree.below(kPciDevices.substr(1));
  const Directory nodes = tree.below(kNodes.substr(1));
  verbs.attribute("abi_version", "6");
  for (std::uint8_t i = 0; i < kRootPorts.size(); ++i) {
    const DeviceFacts& facts = device_facts(i);
    const Directory port = tree.below(kHostBridge.substr(1)).below(kRootPorts[i]);
    write_root_port(port);
    write_pci(port.below(facts.pci_address), i);
    const auto pci = fmt::format("{}/{}/{}", kHostBridge.substr(sizeof "/sys/" - 1), kRootPorts[i], facts.pci_address);
    infiniband.link(facts.name, fmt::format("../../{}/infiniband/{}", pci, facts.name));
    verbs.link(facts.node, fmt::format("../../{}/infiniband_verbs/{}", pci, facts.node));
    bus.link(facts.pci_address, fmt::format("../../../{}", pci));
    nodes.node(facts.node);
  }
}

void write_trees(const fs::path& where) {
  fs::remove_all(where);
  override_link_layer(LinkLayer::kInfiniBand);
  write_tree(where / kTreeOfInfiniBand);
  override_link_layer(LinkLayer::kEthernet);
  write_tree(where / kTreeOfEthernet);
  on_network = true;
  write_tree(where / kTreeOfNetwork);
}

}  // namespace
}  // namespace marrow::cx7

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: marrow_cx7_make_tree DIRECTORY\n", stderr);
    return 2;
  }
  try {
    marrow::cx7::write_trees(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
