// SPDX-License-Identifier: Apache-2.0
// marrow trace: one operation of an experiment's row, told by the nine stops of docs/one-message.md. Stops 1 to 4 and 9
// are the lane's own account, 5 to 8 what the software NIC recorded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "cli/select.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "cli/watch.h"
#include "measure/lane_clock.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

using experiments::TraceLine;

constexpr std::array<const char*, 9> kStops{"verbs",     "send queue", "wqe",       "order",           "doorbell",
                                            "requester", "responder",  "completer", "completion queue"};

std::string text_of(const TraceLine& line, std::uint64_t start_ns) {
  const auto title = kStops.at(static_cast<std::size_t>(line.stop - 1));
  const auto since = static_cast<double>(line.time_ns - std::min(start_ns, line.time_ns)) / 1e3;
  std::istringstream lines(line.what);
  std::string first;
  std::getline(lines, first);
  auto text = fmt::format(" {}  {:<16} {:>9.3f} us  {}\n", line.stop, title, since, first);
  for (std::string more; std::getline(lines, more);) text += std::string(34, ' ') + more + "\n";
  return text;
}

const Task first_traceable(const std::vector<Task>& tasks) {
  if (!tasks.front().experiment->trace) {
    throw util::Error(fmt::format("{} has no single message to trace", tasks.front().experiment->name),
                      util::ErrorKind::kUsage, "marrow trace single-op");
  }
  return tasks.front();
}

NicChoice watchable(const std::string& wanted, const std::vector<std::string>& real) {
  auto nic = choose_nic(wanted.empty() ? kSoftwareNic : wanted, real);
  if (nic.software) return nic;
  throw util::Error(fmt::format("{} does not tell what it does inside; only {} can be watched", nic.name, kSoftwareNic),
                    util::ErrorKind::kUsage, "--nic cx7-sim");
}

}  // namespace

int trace_command(const Tool& tool, const TraceOptions& options) {
  const auto task = first_traceable(select(tool.experiments, options.run));
  const auto nic = watchable(options.run.nic, tool.real_devices());
  tool.make_ready(nic);
  const measure::LaneClock clock(measure::LaneClock::Source::kMonotonic);
  experiments::Context context{.iterations = 1, .warmup = 0, .clock = &clock};
  describe(nic, context);
  context.watch_nic = watch_software_nic;
  auto lines = task.experiment->trace(context, task.point);
  const auto start = lines.front().time_ns;
  const auto seen = what_the_nic_saw();
  lines.insert(lines.end(), seen.begin(), seen.end());
  std::stable_sort(lines.begin(), lines.end(), [](const TraceLine& a, const TraceLine& b) { return a.stop < b.stop; });
  std::string text =
      fmt::format("one message of {}: {} {}\n\n", task.experiment->name, task.point.path, task.point.policy);
  for (const auto& line : lines) text += text_of(line, start);
  print(text + "\ntimes are since the call, through the software NIC: they show the order of things, not a ConnectX\n");
  return 0;
}

}  // namespace marrow::cli
