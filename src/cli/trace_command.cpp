// SPDX-License-Identifier: Apache-2.0
// marrow trace: one operation of an experiment's row, told by the nine stops of docs/one-message.md.
#include "cli/tool.h"
#include "util/error.h"

namespace marrow::cli {

int trace_command(const Tool&, const TraceOptions&) {
  throw util::Error("trace needs the software NIC, which this binary was built without", util::ErrorKind::kWaived);
}

}  // namespace marrow::cli
