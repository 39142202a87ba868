// SPDX-License-Identifier: Apache-2.0
// Writing of document.h.
#include "measure/document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "util/error.h"

namespace marrow::measure {

std::string to_text(const Document& document, Raw raw) {
  Json json{{"schema", kSchema}, {"environments", Json::array()}, {"records", Json::array()}};
  for (const auto& environment : document.environments) json["environments"].push_back(to_json(environment));
  for (const auto& record : document.records) json["records"].push_back(to_json(record, raw));
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

int exit_code_of(const Document& document) {
  const auto any = [&](Status status) {
    return std::any_of(document.records.begin(), document.records.end(),
                       [&](const Record& record) { return record.status == status; });
  };
  if (any(Status::kFailed)) return static_cast<int>(util::ErrorKind::kFailed);
  return any(Status::kPassed) ? 0 : static_cast<int>(util::ErrorKind::kWaived);
}

}  // namespace marrow::measure
