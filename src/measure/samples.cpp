// SPDX-License-Identifier: Apache-2.0
// The one allocation behind samples.h. Filling with zeros touches every page before the first measurement.
#include "measure/samples.h"

namespace marrow::measure {

Samples::Samples(std::size_t capacity) : values_(capacity, 0.0) {}

}  // namespace marrow::measure
