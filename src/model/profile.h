// SPDX-License-Identifier: Apache-2.0
// A NIC's timing and limits as data. A profile describes a model (engine.h), never a measurement: what it was fitted to
// and what it cannot say is in docs/connections.md. JSON form: data/profiles/cx7-200g.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marrow::model {

enum class Replacement : std::uint8_t { kLru, kRandom };

/// What a connection's context takes of the cache in one role, and what each entry that is missing costs.
struct Context {
  std::uint32_t entries = 0;
  double miss_ns = 0;  // for which the NIC's unit is held; what other work hides is not part of it
};

struct Profile {
  std::string name;
  std::string of;                    // the NIC, in words
  double doorbell_ns = 0;            // from one doorbell of an endpoint to its next
  double doorbell_to_cqe_ns = 0;     // of one message on idle NICs, without the stations' own time
  double message_rate_m_per_s = 0;   // of a port, each way
  double link_gb_per_s = 0;          // of a port, each way
  double packet_overhead_bytes = 0;  // on the wire, beside the payload
  std::uint32_t mtu_bytes = 0;
  double shared_rate_m_per_s = 0;  // of the unit that messages of both directions pass
  std::uint32_t turn_wqes = 0;     // most that a queue pair is served before the next
  std::uint32_t receive_buffer_messages = 0;
  std::uint32_t cache_entries = 0;
  std::uint32_t cache_ways = 0;
  Replacement cache_replacement = Replacement::kLru;
  Context send;
  Context receive;
};

/// \param source  for the sentence: a file's name.
/// \throws util::Error of kind kUsage for what is no profile: not JSON, a key missing, unknown or out of its range.
[[nodiscard]] Profile parse_profile(std::string_view text, const std::string& source);

/// A profile that is compiled in, by its name, or a file: what holds a '/' or ends in .json.
/// \throws util::Error of kind kUsage; a file that bears the name of a built-in profile must be that profile.
[[nodiscard]] Profile find_profile(const std::string& name_or_file);

[[nodiscard]] std::vector<std::string> profile_names();

}  // namespace marrow::model
