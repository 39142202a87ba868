// SPDX-License-Identifier: Apache-2.0
// What most tests include, parsed once for all of them (marrow_test). No test may rely on it: each includes what it
// uses.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>
