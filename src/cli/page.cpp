// SPDX-License-Identifier: Apache-2.0
// Beside the executable as built and as installed: bin/ and share/marrow/.
#include "cli/page.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "util/error.h"

namespace marrow::cli {

std::string report_page() {
  const auto file = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../share/marrow/report.html";
  std::ostringstream text;
  if (std::ifstream in(file, std::ios::binary); in) text << in.rdbuf();
  if (!text.str().empty()) return text.str();
  throw util::Error(
      "this marrow has everything but the page of `marrow report`: Node.js, npm or its packages were not there when it "
      "was built, or the page was not made yet",
      util::ErrorKind::kWaived, "install nodejs and npm, and: cmake --build build --target marrow_page");
}

}  // namespace marrow::cli
