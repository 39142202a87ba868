// SPDX-License-Identifier: Apache-2.0
// A document from a file, or one sentence that says why not. Versions: marrow.result/2 is read as it is;
// marrow.result/1 by rule (what it did not record stays unknown: MAD, outliers, warm-up, stretches of time; its one run
// is its p50); every other is refused.
#pragma once

#include <string>
#include <string_view>

#include "measure/document.h"

namespace marrow::measure {

/// \throws util::Error of kind kUsage: the file cannot be read, is torn, is no document, has another schema or version,
///         holds a unit, kind or status that is not known, a number that counts nothing, or contradicts itself.
[[nodiscard]] Document read_document(const std::string& file);

/// The same from text; `name` is what errors call it.
[[nodiscard]] Document document_from_text(std::string_view text, const std::string& name);

}  // namespace marrow::measure
