// SPDX-License-Identifier: Apache-2.0
// See named_files.h.
#include "cli/named_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/output_file.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

namespace fs = std::filesystem;
constexpr int kMostLinks = 40;  // as the kernel follows

/// Where a write to `file` would end, also through links to what is not there yet; its name, where nobody can tell.
fs::path end_of(const std::string& file) {
  std::error_code problem;
  fs::path path = fs::weakly_canonical(fs::absolute(file, problem), problem);
  for (int links = 0; links < kMostLinks && fs::is_symlink(path, problem); ++links) {
    path = fs::weakly_canonical(path.parent_path() / fs::read_symlink(path, problem), problem);
  }
  return path.empty() ? fs::path(file) : path;
}

bool is_file(const std::string& name) {
  if (name.empty() || name == kStdout) return false;
  std::error_code problem;
  const auto status = fs::status(name, problem);
  return !fs::exists(status) || fs::is_regular_file(status);
}

bool are_one_file(const std::string& a, const std::string& b) {
  if (!is_file(a) || !is_file(b)) return false;
  std::error_code problem;
  return end_of(a) == end_of(b) || fs::equivalent(a, b, problem);  // a hard link has a name of its own
}

void refuse_shared(const std::string& sentence, const std::string& option) {
  throw util::Error(sentence, util::ErrorKind::kUsage, fmt::format("another file for {}", option));
}

}  // namespace

void refuse_shared_files(const std::vector<NamedFile>& outputs, const std::vector<std::string>& inputs) {
  for (auto a = outputs.begin(); a != outputs.end(); ++a) {
    for (auto b = a + 1; b != outputs.end(); ++b) {
      if (!are_one_file(a->file, b->file)) continue;
      refuse_shared(fmt::format("{} {} and {} {} are one file", a->option, a->file, b->option, b->file), b->option);
    }
    for (const auto& input : inputs) {
      if (!are_one_file(a->file, input)) continue;
      refuse_shared(fmt::format("{} {} would write over {}, which is read", a->option, a->file, input), a->option);
    }
  }
}

}  // namespace marrow::cli
