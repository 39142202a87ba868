// SPDX-License-Identifier: Apache-2.0
// See parse_with.h.
#include "cli/parse_with.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/closest.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

/// The first word of CLI11's message that is an option's name; empty when there is none.
std::string option_in(const std::string& message) {
  const auto from = message.find("--");
  return from == std::string::npos ? "" : message.substr(from, message.find_first_of(" :,=", from) - from);
}

bool names(const std::string& word, const std::string& option) {
  return word == option || word.starts_with(option + "=");
}

/// CLI11 knows what is wrong, and says it in the words of a parser: ours are of the command line.
std::string sentence_of(const CLI::ParseError& problem, const std::string& command, const CLI::App& app,
                        const std::vector<std::string>& words) {
  const std::string message = problem.what();
  const auto option = option_in(message);
  if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr) {
    const auto extra = app.remaining().empty() ? words.back() : app.remaining().front();
    return extra.starts_with("-") ? fmt::format("{} has no option '{}'", command, extra)
                                  : fmt::format("{} can do nothing with '{}'", command, extra);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr && !option.empty()) {
    const auto times = std::count_if(words.begin(), words.end(), [&](const auto& word) { return names(word, option); });
    return times > 1 ? fmt::format("{} is there {} times, and takes one value", option, times)
                     : fmt::format("{} needs a value", option);
  }
  return message;  // a check's own: "--iterations: '0' is no whole number from 1 to 100000000"
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// A shell's variable that is not set makes an empty value: it would quietly be as if the option were not there.
void refuse_empty(const CLI::App& app, const std::vector<std::string>& words, const std::string& hint) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto name = words[i].substr(0, words[i].find('='));
    if (!name.starts_with("-")) continue;
    const auto* option = app.get_option_no_throw(name);
    if (option == nullptr) continue;
    const bool next =
        words[i] == name && option->get_items_expected_max() > 0 && i + 1 < words.size() && words[i + 1].empty();
    if (next || words[i] == name + "=") refuse_usage(fmt::format("{} needs a value, not an empty one", name), hint);
  }
}

}  // namespace

void refuse_usage(const std::string& sentence, const std::string& hint) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

void parse_with(const std::string& command, const std::vector<std::string>& words,
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
  refuse_empty(app, words, hint);
  std::vector<std::string> last_first(words.rbegin(), words.rend());
  try {
    app.parse(last_first);
  } catch (const CLI::ParseError& problem) {
    refuse_usage(sentence_of(problem, command, app, words), hint);
  }
}

Check whole(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool fits = problem == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
    return fits ? "" : fmt::format("'{}' is no whole number from {} to {}", text, least, most);
  };
}

Check real(double least, double most) {
  return [=](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool fits = !text.empty() && *end == '\0' && value >= least && value <= most;  // nan compares with no bound
    return fits ? "" : fmt::format("'{}' is no number from {} to {}", text, least, most);
  };
}

Check one_of(std::vector<std::string> values) {
  return [values = std::move(values)](const std::string& text) {
    const bool known = std::find(values.begin(), values.end(), text) != values.end();
    return known ? "" : fmt::format("'{}' is no choice{}", text, closest_text(text, values));
  };
}

}  // namespace marrow::cli
