// SPDX-License-Identifier: Apache-2.0
// Files that one command line names: none is written twice, and none that is read is written over.
#pragma once

#include <string>
#include <vector>

namespace marrow::cli {

/// An output, and the word that named it.
struct NamedFile {
  std::string option;
  std::string file;  // "-" and an empty one are none
};

/// Before anything runs: \throws util::Error of kind kUsage when two outputs are one file, or one of them is an input,
/// under whatever names. What is no regular file (/dev/null) may be there twice.
void refuse_shared_files(const std::vector<NamedFile>& outputs, const std::vector<std::string>& inputs = {});

}  // namespace marrow::cli
