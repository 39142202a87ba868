// SPDX-License-Identifier: Apache-2.0
// See parse_with.h.
#include "cli/parse_with.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/closest.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

/// CLI11's message in our manner: first letter small, one line, no full stop.
std::string sentence_of(const CLI::ParseError& problem) {
  std::string text = problem.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1]))) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

void refuse_usage(const std::string& sentence, const std::string& hint) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

void parse_with(const std::string& command, std::vector<std::string> words,
                const std::function<void(CLI::App&)>& fill) {
  CLI::App app("", "marrow " + command);
  app.set_help_flag("");
  fill(app);
  const auto hint = "marrow " + command + " --help";
  for (const auto& word : words) {
    if (word == "--") break;
    const auto name = word.substr(0, word.find('='));
    const auto names = option_names(app);
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (word.starts_with("--") && !known) {
      refuse_usage(fmt::format("{} has no option '{}'{}", command, name, closest_text(name, names)), hint);
    }
  }
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& problem) {
    refuse_usage(sentence_of(problem), hint);
  }
}

std::string not_nan(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? "'" + text + "' is no number of seconds" : std::string();
}

}  // namespace marrow::cli
