// SPDX-License-Identifier: Apache-2.0
// marrow sim -- COMMAND: puts the software NIC before everything else the command loads, and becomes the command.
// Facts: LD_PRELOAD comes before all libraries that a program names; exec keeps the process, so exit status and signals
// are the command's own [abi]. With --stats or --trace it stays, as the command's parent, and ends as the command ends.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/lane.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/sim_board.h"
#include "cli/sim_stats.h"
#include "cli/sim_trace.h"
#include "cli/tool.h"
#include "util/env.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLibrary = "libmarrow_cx7.so";
constexpr int kNotFound = 127;  // what a shell answers for a command that is not there
constexpr int kNotRunnable = 126;

/// Beside the executable as built (bin/ and lib/) and as installed (bin/ and lib/, lib64/ or a multiarch folder).
fs::path library_path() {
  const auto folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const auto* place : {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu", "."}) {
    const auto candidate = folder / place / kLibrary;
    if (fs::exists(candidate)) return fs::canonical(candidate);
  }
  throw util::Error(fmt::format("{} is not beside {}", kLibrary, folder.string()), util::ErrorKind::kFailed,
                    "build or install the software NIC with the tool");
}

void preload(const fs::path& library) {
  std::string value = library.string();
  if (value.find_first_of(" :") != std::string::npos) {  // the command would run without the NIC, or on a real one
    throw util::Error(fmt::format("LD_PRELOAD cannot name '{}': a space or a colon separates names there", value),
                      util::ErrorKind::kFailed, "build or install marrow at another path");
  }
  if (const auto others = util::env_text("LD_PRELOAD")) value += ":" + std::string(*others);
  ::setenv("LD_PRELOAD", value.c_str(), 1);
}

int not_started(const std::string& command, int why) {
  const auto problem = util::system_error(fmt::format("cannot run '{}'", command), why);
  std::fprintf(stderr, "error: %s\n", problem.what());
  if (why != ENOENT) return kNotRunnable;
  std::fputs("try: Debian has ibv_* in ibverbs-utils and ib_* in perftest\n", stderr);
  return kNotFound;
}

int become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return not_started(command.front(), errno);
}

void tell_all(const SimOptions& options, const SimBoard& board) {
  if (!options.stats.empty()) std::fputs(stats_text(board).c_str(), stderr);
  if (!options.stats.empty() && options.stats != kStdout) write_output(options.stats, stats_json(board));
  if (!options.trace.empty()) write_output(options.trace, trace_json(board));
}

/// With the command as a child, and a word at its end.
int watch(const SimOptions& options) {
  const SimBoard board(options.trace.empty() ? 0 : kTraceEvents);
  int status = 0;
  try {
    status = run_to_its_end(options.command);
  } catch (const std::system_error& problem) {
    return not_started(options.command.front(), problem.code().value());
  }
  try {
    tell_all(options, board);
  } catch (const util::Error& problem) {
    if (status == 0) throw;
    std::fprintf(stderr, "%s\n", util::describe(problem).c_str());  // the command's own failure comes first
  }
  return end_like(status);
}

}  // namespace

int sim_command(const SimOptions& options) {
  if (!options.engine.empty()) refuse_unknown_engine(options.engine);
  const auto rules = options.faults.starts_with("@") ? options.faults.substr(1) : "";
  refuse_shared_files({{"--stats", options.stats}, {"--trace", options.trace}, {"--pcap", options.pcap}}, {rules});
  for (const auto& file : {options.stats, options.trace}) refuse_unwritable(file);
  preload(library_path());
  ::setenv("MARROW_SIM", "1", 1);
  if (!options.link.empty()) ::setenv("MARROW_SIM_LINK", options.link.c_str(), 1);
  if (!options.udp.empty()) ::setenv("MARROW_SIM_UDP", options.udp.c_str(), 1);
  if (!options.pcap.empty()) ::setenv("MARROW_SIM_PCAP", options.pcap.c_str(), 1);
  if (!options.faults.empty()) ::setenv("MARROW_SIM_FAULTS", options.faults.c_str(), 1);
  set_engine(options.engine);
  if (options.lenient) ::setenv("MARROW_SIM_STRICT", "0", 1);
  return options.stats.empty() && options.trace.empty() ? become(options.command) : watch(options);
}

}  // namespace marrow::cli
