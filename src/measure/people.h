// SPDX-License-Identifier: Apache-2.0
// The result as people read it: a header with the active path, a table for each kind of time, the exact counts, and
// what failed or could not run, with the reason. Returns text; who calls decides where it goes.
#pragma once

#include <span>
#include <string>

#include "measure/document.h"

namespace marrow::measure {

struct Look {
  std::size_t width = 120;
  bool colour = false;
};

/// Name, title and question of the experiment that the records belong to.
struct Heading {
  std::string name;
  std::string title;
  std::string question;
};

[[nodiscard]] std::string header_text(const Environment& environment, Look look);
[[nodiscard]] std::string experiment_text(std::span<const Record> records, const Heading& heading, Look look);

/// "7 passed, 0 failed, 1 waived; every passed record is verified"
[[nodiscard]] std::string verdict_text(const Document& document, Look look);

/// A value with about four digits: 0.046, 3.46, 123.4, 5000.
[[nodiscard]] std::string number_text(double value);

}  // namespace marrow::measure
