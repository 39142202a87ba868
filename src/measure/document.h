// SPDX-License-Identifier: Apache-2.0
// What was measured, as one document: {"schema": "marrow.result/2", "environments": [{...}], "records": [...]}.
// Published schema: schema/marrow.result-2.schema.json; a test validates documents with an independent validator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/environment.h"
#include "measure/record.h"

namespace marrow::measure {

inline constexpr std::string_view kSchema = "marrow.result/2";

struct Document {
  std::vector<Environment> environments;  // one, and more in merged documents; Record::environment says which
  std::vector<Record> records;
};

/// The whole document as text, with a final newline. Never contains NaN: \throws util::Error instead.
[[nodiscard]] std::string to_text(const Document& document, Raw raw = Raw::kLeaveOut);

/// 0 something passed and nothing failed, 1 something failed, 77 nothing could run here.
[[nodiscard]] int exit_code_of(const Document& document);

}  // namespace marrow::measure
