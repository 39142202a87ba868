// SPDX-License-Identifier: Apache-2.0
// --expect and --baseline: statements from the command line and from a file, and their answers.
#pragma once

#include <string>
#include <vector>

#include "measure/expect.h"
#include "measure/people.h"

namespace marrow::cli {

/// \throws util::Error of kind kUsage for what cannot be read. An empty file name is none.
[[nodiscard]] std::vector<measure::Statement> statements_of(const std::vector<std::string>& texts,
                                                            const std::string& file);

struct Answer {
  std::string text;  // of the statement
  std::vector<measure::Checked> rows;
};
/// \throws util::Error of kind kUsage when a statement names nothing in the document.
[[nodiscard]] std::vector<Answer> answers_of(const std::vector<measure::Statement>& statements,
                                             const measure::Document& document);
[[nodiscard]] bool all_held(const std::vector<Answer>& answers);
[[nodiscard]] std::string answers_text(const std::vector<Answer>& answers, measure::Look look);

}  // namespace marrow::cli
