// SPDX-License-Identifier: Apache-2.0
// See help_of_documents.h.
#include "cli/help_of_documents.h"

namespace marrow::cli {
namespace {

constexpr std::string_view kCompare = R"(marrow compare - two documents, metric by metric

usage: marrow compare A B [options]
       marrow compare A --expect STATEMENT...

  A B                   documents that `marrow run --json` wrote: before and after
  --expect STATEMENT    a threshold on the last document; may be given more than once
  --baseline FILE       thresholds from FILE, one a line; # begins a comment
  --only NAMES          only these experiments, separated by commas          (default: all)
  --least PERCENT       smaller differences are noise, whatever the interval (default: 3)
  --all                 show the metrics that are noise too
  --csv FILE            write one line a metric to FILE; - is stdout

A row is worse when its 99 % interval holds no ratio of 1 and the difference is at least --least. With --runs 3 on both
sides the interval knows what changes from process to process; of single runs it knows only the spread inside one
process. Rows that passed in A and not in B are worse. docs/comparing.md names the tests.

A STATEMENT is EXPERIMENT[FILTER].METRIC.STATISTIC, one of <= < >= >, and a value with its unit, or FACTOR x and another
EXPERIMENT.METRIC.STATISTIC. Every row that has the metric must hold it. Statistics: p50 p90 p99 p25 p75 min max mean iqr
mad. FILTER names path, policy, lane, nic or an axis.

Documents of marrow.result/2 are read as they are; of marrow.result/1, what they did not record stays unknown.

exit: 0 nothing is worse and every threshold holds   1 something is worse, or a threshold does not hold   2 usage:
documents of another schema, torn, or not comparable; a threshold on what is not there

examples: marrow compare before.json after.json
          marrow compare now.json --expect 'single-op[policy=gpu-fence].issue.p50 <= 0.5us'
          marrow compare now.json --expect 'ordering[policy=sys-fence].issue.p50 >= 2 x ordering[policy=none].issue.p50'
)";

constexpr std::string_view kSuite = R"(marrow suite - every experiment of a catalogue, as one document

usage: marrow suite paper [options]

  paper                 the experiments of arXiv:2610.01380 and Marrow's own
  --json FILE           where the document goes                              (default: marrow-suite.json)
  --fresh               throw away what an interrupted suite left
  --nic, --lane, --engine, --profile, --iterations, --warmup, --timeout, --runs, --noise, --limit, --samples, --csv
                        as in `marrow run --help`

Each experiment has processes of its own: a crash is that row's failure and nothing else's. What is done is kept
in FILE.partial, line by line; the same command goes on behind it. What this machine or Marrow cannot run is in the
document as waived, with what would let it run.

exit: 0 every row passed (rows may be waived)   1 a row failed, or it was interrupted   2 usage   77 nothing could run

examples: marrow suite paper --nic cx7-sim --profile cx7-200g
          marrow suite paper --lane gpu --runs 3 --json h200.json
)";

constexpr std::string_view kMerge = R"(marrow merge - several documents as one, or as CSV

usage: marrow merge FILE... -o OUT

  FILE                  documents that `marrow run --json` wrote; one is enough to export it
  -o, --output FILE     write the document to FILE; - is stdout
  --csv FILE            write one line a metric to FILE; - is stdout

Rows of different experiments, lanes and NICs stand side by side, each with the environment that it was measured in. The
same row in two documents is pooled as process runs of one result, when both were measured by one build on one machine
with --samples; else merge refuses it.

examples: marrow merge host.json gpu.json -o all.json
          marrow merge all.json --csv all.csv
)";

constexpr std::string_view kReport = R"(marrow report - documents as one HTML page

usage: marrow report FILE... -o PAGE

  FILE                  documents that `marrow run --json` or `marrow suite` wrote; merged as by `marrow merge`
  -o, --output PAGE     the page; - is stdout. It holds its data and its program, and opens without a network

The page has each experiment of the paper with what was measured beside what the paper has, whether the shape agrees, what
was waived and why, and where it was measured. With --samples the documents' every sample is drawn.

exit: 0 written   2 usage   77 this marrow was built without Node.js

example: marrow report marrow-suite.json -o page.html
)";

}  // namespace

std::string_view help_of_documents(std::string_view command) {
  if (command == "suite") return kSuite;
  if (command == "compare") return kCompare;
  if (command == "merge") return kMerge;
  if (command == "report") return kReport;
  return {};
}

}  // namespace marrow::cli
