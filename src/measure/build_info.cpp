// SPDX-License-Identifier: Apache-2.0
// The only file that is compiled anew when the commit changes.
#include "measure/build_info.h"

#include "measure/build_info_data.h"

namespace marrow::measure {

BuildInfo build_info() {
  return {kVersion, kCompiler, kBuildType, kCommit, kDirty};
}

}  // namespace marrow::measure
