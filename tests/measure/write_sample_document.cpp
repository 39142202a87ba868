// SPDX-License-Identifier: Apache-2.0
// Writes the tests' document to stdout, for validation by validate_schema.py.
#include <cstdio>

#include "measure/sample_records.h"

int main() {
  const auto text = marrow::measure::to_text(marrow::measure::sample_document());
  std::fwrite(text.data(), 1, text.size(), stdout);
}
