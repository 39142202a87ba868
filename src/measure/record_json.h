// SPDX-License-Identifier: Apache-2.0
// Record <-> JSON. The order of keys is fixed, so that two documents can be compared with diff.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "measure/record.h"

namespace marrow::measure {

using Json = nlohmann::ordered_json;

/// Whether each metric's samples are written too.
enum class Raw : unsigned char { kLeaveOut, kWrite };

/// \throws util::Error when a number is NaN or infinite: such a value must never reach a file.
[[nodiscard]] Json to_json(const Record& record, Raw raw = Raw::kLeaveOut);

/// \throws util::Error when a key is missing, of the wrong type, or holds an unknown name.
[[nodiscard]] Record record_from_json(const Json& json);

}  // namespace marrow::measure
