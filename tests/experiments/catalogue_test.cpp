// SPDX-License-Identifier: Apache-2.0
// Each experiment has its question from the suite's data, where it stands once.
#include "experiments/catalogue.h"

#include <gtest/gtest.h>

#include "measure/suite.h"

namespace marrow::experiments {
namespace {

TEST(Catalogue, EachExperimentIsInTheSuiteAndHasItsQuestionFromThere) {
  const auto suite = measure::suite_named("paper");
  for (const auto& experiment : catalogue()) {
    const auto* entry = measure::entry_of(suite, experiment.name);
    ASSERT_NE(entry, nullptr) << experiment.name;
    EXPECT_EQ(experiment.question, entry->question);
    EXPECT_TRUE(entry->absent.empty()) << experiment.name;
  }
}

}  // namespace
}  // namespace marrow::experiments
