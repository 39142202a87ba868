// SPDX-License-Identifier: Apache-2.0
// Moved: the firmware needs these facts too.
#pragma once

#include "cx7/fw/port.h"
