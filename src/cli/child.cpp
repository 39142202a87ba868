// SPDX-License-Identifier: Apache-2.0
// What runs in the child. An exception makes a record failed (or waived, when the error says so); the measured part
// stays.
#include "cli/child.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/hardware.h"
#include "gpu/device.h"
#include "measure/lane_clock.h"
#include "measure/paper.h"
#include "measure/record_json.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "it is set in a signal handler");

std::atomic<bool> interrupted{false};  // stopped by a person, not by the parent's clock

void request_stop(int signal) {
  if (signal == SIGINT) interrupted.store(true, std::memory_order_relaxed);
  stop_requested.store(true, std::memory_order_relaxed);
}

void install_handlers() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_DFL);  // a child whose parent is gone has nobody to measure for
}

void send(int out, const measure::Json& json) {
  const auto line = json.dump(-1, ' ', false, measure::Json::error_handler_t::replace) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const auto n = ::write(out, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) std::_Exit(1);
    done += static_cast<std::size_t>(n);
  }
}

/// A record that cannot be written, for a NaN or a count that does not add up, fails with the reason instead.
measure::Json writable(measure::Record record, measure::Raw raw) {
  try {
    return measure::to_json(record, raw);
  } catch (const std::exception& problem) {
    record.metrics.clear();
    record.counts = {};
    measure::fail(record, problem.what());
    return measure::to_json(record);
  }
}

void settle(measure::Record& record) {
  for (const auto& e : record.expectations) {
    if (!e.held) measure::fail(record, "did not hold: " + e.text);
  }
  if (record.status != measure::Status::kPassed) return;
  if (stop_requested) {
    return measure::fail(record, fmt::format("{} after {} operations", interrupted ? "interrupted" : "stopped",
                                             record.counts.operations));
  }
  if (record.metrics.empty()) return measure::fail(record, "the experiment reported no metric");
  if (!record.verified && !measure::is_model(record))
    measure::fail(record, "the bytes at the far side were not verified");
}

/// What a row's set-up found goes to the parent, for the header, and into the row's own record.
void keep_path(measure::ActivePath path, const experiments::Context& context, int out, measure::Record& record) {
  add_hardware(context, path);
  record.clock = path.clock;
  record.gpu = path.gpu;
  record.doorbell = path.doorbell;
  record.registration = path.registration;
  send(out, {{"path", measure::to_json(path)}});
}

measure::Record run_one(const Task& task, experiments::Context& context, int out) {
  auto record = experiments::blank_record(*task.experiment, task.point, context);
  record.warmup = context.warmup;
  context.report_path = [&](const measure::ActivePath& path) { keep_path(path, context, out, record); };
  RowWatch watch(context);
  try {
    experiments::run_on_lane(*task.experiment, context, task.point, record);
  } catch (const util::Error& problem) {
    measure::fail(record, problem.hint().empty() ? problem.what() : problem.what() + ("; try " + problem.hint()));
    if (problem.kind() == util::ErrorKind::kWaived) record.status = measure::Status::kWaived;
  } catch (const std::exception& problem) {
    measure::fail(record, problem.what());
  }
  watch.finish(record);
  settle(record);
  measure::add_paper_values(record);
  return record;
}

struct Prepared {
  experiments::Context context;
  measure::LaneClock clock;
};

void run_all(const std::vector<Task>& tasks, std::size_t first, const RunSettings& settings, int out) {
  Prepared prepared;
  auto& context = prepared.context;
  context.clock = &prepared.clock;
  context.stop = &stop_requested;
  context.warmup = settings.warmup;
  context.clock_keeper = settings.clock_keeper;
  context.profile = settings.profile;
  context.limit =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(settings.timeout_s));
  const auto raw = settings.samples ? measure::Raw::kWrite : measure::Raw::kLeaveOut;
  const bool lenient = tasks.at(first).experiment->lenient_nic;
  if (lenient) ::setenv("MARROW_SIM_STRICT", "0", /*overwrite=*/0);  // before the software NIC reads it, once a process
  settings.prepare(context);
  for (std::size_t i = first; i < tasks.size() && !stop_requested; ++i) {
    if (tasks[i].experiment->lenient_nic != lenient) return;  // that row needs a process of its own
    send(out, {{"start", i}});
    context.iterations = settings.iterations.value_or(tasks[i].experiment->iterations);
    send(out, {{"record", writable(run_one(tasks[i], context, out), raw)}, {"index", i}});
    if (context.gpu && context.gpu->broken()) return;  // a new process can go on with the next row
  }
  send(out, {{"libraries", measure::read_environment().rdma_core}});
}

}  // namespace

void child_main(const std::vector<Task>& tasks, std::size_t first, const RunSettings& settings, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would enforce the time limit or read the results
  install_handlers();
  ::prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // lanes that share cores sleep 20 us at a time, not 70
  try {
    run_all(tasks, first, settings, out);
  } catch (const util::Error& problem) {
    send(out, {{"broken", problem.what()}, {"kind", problem.exit_code()}, {"hint", problem.hint()}});
  } catch (const std::exception& problem) {
    send(out, {{"broken", problem.what()}, {"kind", 1}, {"hint", ""}});
  }
  std::_Exit(0);  // no destructors of the parent's objects, no second flush of its buffers
}

}  // namespace marrow::cli
