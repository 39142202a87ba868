// SPDX-License-Identifier: Apache-2.0
// Names and labels of record.h. The sentences about kinds of time are what the terminal prints.
#include "measure/record.h"

#include <array>
#include <utility>

namespace marrow::measure {
namespace {

struct KindText {
  std::string_view name;
  std::string_view sentence;
};
constexpr std::array<KindText, 4> kKinds{{
    {"gpu", "measured by a GPU's clock around code that runs on the GPU"},
    {"host-lane",
     "a CPU thread of this machine running mini-gda's or libmlx5's own code; no NIC and no GPU is inside this time, so "
     "it can not stand for a GPU's"},
    {"cx7-sim",
     "through the software NIC on this machine's cores: it shows that the mechanism works and what it counts; it can "
     "not say how long a ConnectX, a PCIe bus or a wire takes"},
    {"nic", "includes a real NIC and its path; the submitting thread is a CPU's unless the lane says gpu"},
}};
constexpr std::array<std::string_view, 3> kStatuses{"passed", "failed", "waived"};

}  // namespace

std::string_view name_of(Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind)).name;
}
std::string_view sentence_of(Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind)).sentence;
}
std::string_view name_of(Status status) {
  return kStatuses.at(static_cast<std::size_t>(status));
}

std::string text_of(const Axis& axis) {
  const auto* number = std::get_if<std::int64_t>(&axis.value);
  return axis.name + "=" + (number ? std::to_string(*number) : std::get<std::string>(axis.value));
}

void fail(Record& record, std::string reason) {
  if (record.status != Status::kFailed) record.reason = std::move(reason);
  record.status = Status::kFailed;
}

std::string label_of(const Record& record) {
  std::string label = record.path;
  if (!record.policy.empty()) label += ", " + record.policy;
  for (std::size_t i = 0; i < record.axes.size(); ++i) label += (i == 0 ? ", " : " ") + text_of(record.axes[i]);
  return label;
}

}  // namespace marrow::measure
