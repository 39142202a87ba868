// SPDX-License-Identifier: Apache-2.0
// See sim_stats.h.
#include "cli/sim_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace marrow::cli {
namespace {

using cx7::BoardProcess;
using cx7::ProcessCounts;
using Json = nlohmann::ordered_json;

constexpr std::string_view kStrict = "strict_";

/// A counter by its place in the list of names: the structs are nothing but them.
template <class Counts>
std::uint64_t value_at(const Counts& counts, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(&counts) + index * sizeof value, sizeof value);
  return value;
}

/// Text that another process wrote: its end is looked for within the array.
template <std::size_t Size>
std::string text_of(const std::array<char, Size>& text) {
  return {text.data(), static_cast<std::size_t>(std::find(text.begin(), text.end(), '\0') - text.begin())};
}

ProcessCounts sum_of(const SimBoard& board) {
  ProcessCounts sum{};
  for (const BoardProcess* process : board.processes()) {
    for (std::size_t k = 0; k < sum.devices.size(); ++k) sum.devices[k] += process->counts.devices[k];
    sum.links += process->counts.links;
  }
  return sum;
}

struct Note {
  std::string text;  // as the first process had it
  unsigned processes = 0;
};

std::map<std::string, Note> notes_of(const SimBoard& board) {
  std::map<std::string, Note> notes;
  for (const BoardProcess* process : board.processes()) {
    const auto n = std::min<std::size_t>(process->notes.load(std::memory_order_acquire), BoardProcess::kMostNotes);
    for (std::size_t k = 0; k < n; ++k) {
      Note& note = notes[text_of(process->note[k].name)];
      if (note.processes++ == 0) note.text = text_of(process->note[k].text);
    }
  }
  return notes;
}

/// Rows of the device counters whose names do or do not begin with kStrict.
std::string device_rows(const ProcessCounts& sum, bool strict) {
  std::string text;
  for (std::size_t k = 0; k < cx7::kCounterNames.size(); ++k) {
    const auto name = cx7::kCounterNames[k];
    const auto near = value_at(sum.devices[0], k);
    const auto far = value_at(sum.devices[1], k);
    if (name.starts_with(kStrict) != strict || (near == 0 && far == 0)) continue;
    text += fmt::format("  {:<32}{:>16}{:>16}\n", name, near, far);
  }
  return text;
}

std::string link_rows(const ProcessCounts& sum) {
  std::string text;
  for (std::size_t k = 0; k < cx7::kLinkCounterNames.size(); ++k) {
    if (const auto value = value_at(sum.links, k); value != 0) {
      text += fmt::format("  {:<32}{:>16}\n", cx7::kLinkCounterNames[k], value);
    }
  }
  return text;
}

template <class Names, class Counts>
Json json_of(const Names& names, const Counts& counts) {
  Json json = Json::object();
  for (std::size_t k = 0; k < names.size(); ++k) json[std::string(names[k])] = value_at(counts, k);
  return json;
}

Json json_of(const SimBoard& board, const ProcessCounts& counts) {
  Json json;
  for (std::size_t k = 0; k < counts.devices.size(); ++k) {
    json["devices"][board.device_name(k)] = json_of(cx7::kCounterNames, counts.devices[k]);
  }
  json["links"] = json_of(cx7::kLinkCounterNames, counts.links);
  return json;
}

}  // namespace

std::string stats_text(const SimBoard& board) {
  const ProcessCounts sum = sum_of(board);
  const auto processes = board.processes().size();
  std::string text =
      fmt::format("\nsoftware NIC (cx7-sim): {} process{} opened a device", processes, processes == 1 ? "" : "es");
  if (board.left_out() != 0) text += fmt::format(", and {} more that are not counted here", board.left_out());
  text +=
      fmt::format("\n  {:<32}{:>16}{:>16}\n", "", board.device_name(0), board.device_name(1)) + device_rows(sum, false);
  const auto found = device_rows(sum, true);
  text += found.empty() ? "strict checks: nothing found\n" : "strict checks\n" + found;
  if (const auto links = link_rows(sum); !links.empty()) text += "links\n" + links;
  const auto notes = notes_of(board);
  text += notes.empty() ? "refused or remarked: nothing\n" : "refused or remarked, by name\n";
  for (const auto& [name, note] : notes) {
    text += fmt::format("  {}: {}{}\n", name, note.text,
                        note.processes == 1 ? "" : fmt::format(" (so the first of {} processes)", note.processes));
  }
  return text;
}

std::string stats_json(const SimBoard& board) {
  Json document{{"schema", "marrow.sim-stats/1"}, {"nic", "cx7-sim"}, {"total", json_of(board, sum_of(board))}};
  document["refusals"] = Json::array();
  for (const auto& [name, note] : notes_of(board)) {
    document["refusals"].push_back({{"name", name}, {"text", note.text}, {"processes", note.processes}});
  }
  document["processes"] = Json::array();
  for (const BoardProcess* process : board.processes()) {
    Json json{{"pid", process->pid.load()}, {"command", text_of(process->command)}};
    json.update(json_of(board, process->counts));
    document["processes"].push_back(std::move(json));
  }
  document["processes_left_out"] = board.left_out();
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace marrow::cli
