// SPDX-License-Identifier: Apache-2.0
// What a suite has measured so far, on disk: one line an experiment, written and synced as soon as it is done. An
// interrupted suite goes on behind the last whole line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/runner.h"
#include "util/fd.h"

namespace marrow::cli {

struct JournalEntry {
  std::string experiment;
  std::vector<measure::Record> records;
  std::optional<measure::ActivePath> path;
  std::string libraries;
};

class Journal {
 public:
  /// Opens FILE, or begins it. `settings` is what must be the same for a suite to go on: any text of one line.
  /// `fresh` throws away what is there. The file is this object's alone as long as it lives.
  /// \throws util::Error of kind kUsage when the file is of other settings, no journal or another suite's; kFailed when
  ///         it cannot be written.
  Journal(std::string file, const std::string& settings, bool fresh);

  /// What an earlier run left, in its order.
  [[nodiscard]] const std::vector<JournalEntry>& entries() const { return entries_; }
  [[nodiscard]] const JournalEntry* find(const std::string& experiment) const;

  /// On disk when it returns. \throws util::Error.
  void add(JournalEntry entry);

  /// When all is in a document of its own.
  void remove() const;

 private:
  void lock();
  void begin(const std::string& first);
  void append(const std::string& line) const;

  std::string file_;
  util::UniqueFd lock_;
  std::vector<JournalEntry> entries_;
};

}  // namespace marrow::cli
