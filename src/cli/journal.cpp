// SPDX-License-Identifier: Apache-2.0
// See journal.h. A line that the machine's death tore is dropped with its experiment, which is then measured again.
#include "cli/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/output_file.h"
#include "measure/record_json.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/log.h"

namespace marrow::cli {
namespace {

using measure::Json;

constexpr const char* kJournal = "marrow.journal/1";
constexpr int kMostTries = 100;

std::string head_of(const std::string& settings) {
  return Json{{"journal", kJournal}, {"settings", settings}}.dump();
}

JournalEntry entry_from(const Json& json) {
  JournalEntry entry{.experiment = json.at("experiment"), .libraries = json.at("libraries")};
  for (const auto& record : json.at("records")) entry.records.push_back(measure::record_from_json(record));
  if (!json.at("path").is_null()) entry.path = measure::path_from_json(json["path"]);
  return entry;
}

std::string line_of(const JournalEntry& entry) {
  Json json{
      {"experiment", entry.experiment}, {"libraries", entry.libraries}, {"path", nullptr}, {"records", Json::array()}};
  if (entry.path) json["path"] = measure::to_json(*entry.path);
  for (const auto& record : entry.records) json["records"].push_back(measure::to_json(record, measure::Raw::kWrite));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// \throws util::Error of kind kUsage that begins with `place`: what was edited is not taken for what was measured.
JournalEntry entry_from(const std::string& line, const std::string& place) {
  constexpr const char* kHint = "--fresh throws it away";
  try {
    const auto json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_discarded()) return entry_from(json);
  } catch (const std::exception& problem) {
    throw util::Error(fmt::format("{}: {}", place, problem.what()), util::ErrorKind::kUsage, kHint);
  }
  throw util::Error(fmt::format("{}: it is damaged", place), util::ErrorKind::kUsage, kHint);
}

/// Of an existing journal: the first line's settings. \throws util::Error when it is none.
void require_same(const std::string& file, const std::string& first, const std::string& settings) {
  const auto json = Json::parse(first, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || json.value("journal", Json()) != kJournal) {
    throw util::Error(fmt::format("{} is there and is no journal of a suite", file), util::ErrorKind::kUsage,
                      "another --json FILE");
  }
  const auto theirs = json.value("settings", Json()).is_string() ? json.value("settings", "") : "unreadable";
  if (theirs == settings) return;
  throw util::Error(
      fmt::format("{} is of a suite with other settings ({}), not of this one ({})", file, theirs, settings),
      util::ErrorKind::kUsage, "--fresh throws it away");
}

}  // namespace

Journal::Journal(std::string file, const std::string& settings, bool fresh) : file_(std::move(file)) {
  lock();
  std::ifstream in(file_);
  std::string line;
  if (fresh || !in || !std::getline(in, line)) {
    begin(head_of(settings));
    return;
  }
  require_same(file_, line, settings);
  std::string whole = line;
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    const bool is_last = in.peek() == std::ifstream::traits_type::eof();
    if (is_last && !Json::accept(line)) break;  // torn
    entries_.push_back(entry_from(line, fmt::format("{}, line {}", file_, number)));
    whole += "\n" + line;
  }
  in.close();
  begin(whole);  // without what was torn
}

/// Of the file that bears the name now: a suite that ends or begins takes the name from the one we had opened.
void Journal::lock() {
  for (int tries = 0; tries < kMostTries; ++tries) {
    util::UniqueFd fd(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!fd) throw util::system_error("cannot write " + file_, errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        throw util::Error(fmt::format("another suite is writing {}", file_), util::ErrorKind::kUsage,
                          "another --json FILE, or the same command at its end");
      }
      util::log::warn("{} is on a file system without locks: two suites at once would mix", file_);
    }
    struct stat ours {};
    struct stat named {};
    const bool same = ::fstat(fd.get(), &ours) == 0 && ::stat(file_.c_str(), &named) == 0 &&
                      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    if (!same) continue;
    lock_ = std::move(fd);
    return;
  }
  throw util::Error(fmt::format("{} is replaced again and again by others", file_), util::ErrorKind::kUsage,
                    "another --json FILE");
}

void Journal::begin(const std::string& first) {
  write_silently(file_, first + "\n");  // whole or not at all: what an earlier suite left is never torn
  lock();
}

const JournalEntry* Journal::find(const std::string& experiment) const {
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.experiment == experiment; });
  return at == entries_.end() ? nullptr : &*at;
}

void Journal::add(JournalEntry entry) {
  append(line_of(entry) + "\n");
  entries_.push_back(std::move(entry));
}

void Journal::append(const std::string& line) const {
  const util::UniqueFd fd(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  std::string_view left = line;
  while (fd && !left.empty()) {
    const auto n = ::write(fd.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  if (!fd || !left.empty() || ::fsync(fd.get()) != 0) throw util::system_error("cannot write " + file_, errno);
}

void Journal::remove() const {
  ::unlink(file_.c_str());
}

}  // namespace marrow::cli
