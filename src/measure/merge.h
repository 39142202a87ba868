// SPDX-License-Identifier: Apache-2.0
// Several documents as one: other rows side by side, the same row of several process runs pooled.
#pragma once

#include <span>
#include <string>

#include "measure/document.h"

namespace marrow::measure {

struct NamedDocument {
  std::string name;  // for errors
  Document document;
};

/// The same row twice is pooled when both were measured by one build on one machine and hold their samples. One that
/// was waived gives way to one that ran. \throws util::Error of kind kUsage when the same row cannot be pooled, with
/// what would let it, or when the same run is there twice.
[[nodiscard]] Document merge(std::span<const NamedDocument> parts);

}  // namespace marrow::measure
