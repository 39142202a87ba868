// SPDX-License-Identifier: Apache-2.0
// Writes the tests' document to stdout, for validation by validate_schema.py and for the page's test.
#include <cstdio>

#include "measure/paper.h"
#include "measure/sample_records.h"

int main() {
  auto document = marrow::measure::sample_document();
  for (auto& record : document.records) marrow::measure::add_paper_values(record);
  const auto text = marrow::measure::to_text(document);
  std::fwrite(text.data(), 1, text.size(), stdout);
}
