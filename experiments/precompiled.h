// SPDX-License-Identifier: Apache-2.0
// What most experiments include, parsed once for all of them. No file may rely on it: each includes what it uses.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "experiments/common/bench.h"
#include "experiments/experiment.h"
#include "marrow/gda/send_queue.h"
