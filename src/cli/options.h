// SPDX-License-Identifier: Apache-2.0
// What was asked for on the command line. Words in, plain data out; nothing is looked up or opened here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace marrow::cli {

struct ListOptions {
  std::string pattern;
};

/// Options that `run` and `trace` share.
struct RunOptions {
  std::vector<std::string> experiments;
  std::string nic;                    // empty: a real mlx5 device if there is one, else cx7-sim
  std::string lane = "host";          // or "gpu", "gpu:1"
  std::string engine;                 // of the software NIC; empty: its own choice
  std::string profile;                // of a NIC, for experiments that are computed; empty: none
  std::vector<std::string> policies;  // empty: all
  std::vector<std::string> axes;      // "NAME=V1,V2"
  std::optional<std::uint32_t> iterations;
  std::uint32_t warmup = 500;
  double timeout_s = 60;
  unsigned runs = 1;                 // processes of their own for each row
  std::optional<double> noise;       // percent; further runs until the intervals are this narrow
  double limit_s = 600;              // and no further run after this long
  bool samples = false;              // the document holds every sample
  std::vector<std::string> expects;  // thresholds that must hold
  std::string csv;                   // a file, "-" for stdout, empty for none
  std::string json;                  // the same
  bool lock_clocks = false;          // rows may lock the SM clock of their GPU
};

struct SuiteOptions {
  std::string suite;  // "paper"
  RunOptions run;     // its experiments are the suite's
  bool fresh = false;
};

struct CompareOptions {
  std::vector<std::string> files;  // two; or one, with thresholds
  std::vector<std::string> expects;
  std::string baseline;           // a file of thresholds
  std::vector<std::string> only;  // experiments; empty: all
  double least_percent = 3;
  bool all = false;
  std::string csv;
};

struct ReportOptions {
  std::vector<std::string> files;
  std::string out;
};

struct MergeOptions {
  std::vector<std::string> files;
  std::string out;
  std::string csv;
};

struct TraceOptions {
  RunOptions run;
};

struct SimOptions {
  std::string link;    // empty: the software NIC's own default
  std::string engine;  // empty: the software NIC's own choice
  std::string udp;     // addresses on the network; empty: none
  std::string pcap;    // a capture's file; empty: none
  std::string faults;  // rules, or @FILE
  bool lenient = false;
  std::string stats;  // "-": a table at the end; a file: that and JSON; empty: none
  std::string trace;  // a file; empty: none
  std::vector<std::string> command;
};

/// Text that was asked for: --help of some command, or --version.
struct PrintOptions {
  std::string text;
};

using Command = std::variant<ListOptions, RunOptions, SuiteOptions, CompareOptions, MergeOptions, ReportOptions,
                             TraceOptions, SimOptions, PrintOptions>;

/// \throws util::Error of kind kUsage for anything that is not understood.
[[nodiscard]] Command parse(const std::vector<std::string>& words);

}  // namespace marrow::cli
