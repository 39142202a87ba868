// SPDX-License-Identifier: Apache-2.0
// The paper's experiments as one catalogue: question, the paper's set-up, shapes that a machine checks, and, for what
// Marrow does not have, why and what would let it run. The data is data/suite/paper.json, compiled in; the paper's
// values are in data/paper (paper.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/expect.h"

namespace marrow::measure {

/// What the paper's figure shows, as a statement. It says something only of the kinds of time that it names.
struct Shape {
  std::string text;
  std::string expect;  // expect.h's form
  std::vector<Kind> kinds;
};

struct SuiteEntry {
  std::string id;
  std::string section;
  std::vector<std::string> sources;  // tables and figures
  std::string question;
  std::string setup;      // how the paper measured it, and on which platforms; empty for what is not the paper's
  bool own = false;       // not the paper's
  bool gpu_only = false;  // has no host lane
  double seconds = 10;    // that it takes on 2 cores without a GPU, for the time left
  std::optional<std::uint32_t> iterations;
  std::vector<std::string> axes;  // "NAME=VALUES": narrowed for the suite
  std::string absent;             // why Marrow does not have it
  std::string would;              // and what would let it run
  std::vector<Shape> shapes;
};

struct Suite {
  std::string name;
  std::string document;  // "arXiv:2610.01380"
  std::vector<SuiteEntry> entries;
};

/// \throws util::Error of kind kUsage for an unknown name.
[[nodiscard]] Suite suite_named(const std::string& name);
/// Null when the suite has no such entry.
[[nodiscard]] const SuiteEntry* entry_of(const Suite& suite, std::string_view id);

/// Whether a document shows a shape.
enum class Agreement : std::uint8_t { kAgrees, kDiffers, kCannotSay };
[[nodiscard]] std::string_view name_of(Agreement agreement);

struct Judged {
  Shape shape;
  Agreement agreement = Agreement::kCannotSay;
  std::string told;  // the values, or why it cannot be said
};
/// What is measured in another kind of time, or not at all, cannot be said.
[[nodiscard]] std::vector<Judged> judge(const SuiteEntry& entry, const Document& document);

}  // namespace marrow::measure
