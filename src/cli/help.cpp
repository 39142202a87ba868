// SPDX-License-Identifier: Apache-2.0
// The texts themselves. Each option says what, why or when, and its default.
#include "cli/help.h"

#include <fmt/format.h>

#include <array>

#include "cli/help_of_documents.h"
#include "measure/build_info.h"

namespace marrow::cli {
namespace {

constexpr std::string_view kMain =
    R"(marrow - GPU-initiated RDMA, taken apart and measured; needs no GPU and no NIC to show its mechanism

usage: marrow <command> [options]

  list [PATTERN]        experiments, the table or figure each one reproduces, and what each needs
  run EXPERIMENT...     measure; a table on the terminal, JSON on request
  suite paper           every experiment of the paper, into one document; goes on where it was interrupted
  compare A B           two documents, metric by metric; a difference inside the noise is called noise
  merge FILE...         several documents as one, or as CSV
  report FILE...        one HTML page that needs no network: measured beside the paper
  trace EXPERIMENT      one message, stop by stop, as the software NIC saw it
  sim -- COMMAND        run any rdma-core program against the software ConnectX-7

  --help, -h            this page; after a command, that command's page
  --version             version, commit and compiler

exit: 0 passed   1 failed   2 usage   77 nothing could run here

examples: marrow list
          marrow run single-op
          marrow run ordering --policy gpu-fence,sys-fence --iterations 10000 --json ordering.json
          marrow sim -- ibv_devinfo -v
)";

constexpr std::string_view kList = R"(marrow list - experiments, what they reproduce and what they need

usage: marrow list [PATTERN]

  PATTERN               only experiments whose name, title or question contains it; with a PATTERN the policies,
                        axes and needs are shown too
)";

constexpr std::string_view kRun = R"(marrow run - measure

usage: marrow run EXPERIMENT... [options]

  EXPERIMENT            a name from `marrow list`, or all
  --nic NAME            cx7-sim, or a device that ibv_devices shows; two devices as A,B
                                                        (default: a real mlx5 device if there is one, else cx7-sim)
  --lane NAME           who posts: host is a CPU thread, gpu a GPU thread, gpu:1 one of the second GPU
                                                                             (default: host)
  --engine NAME         who plays the software NIC: cpu, gpu, gpu:1, or auto, which goes by where a queue lies
                                                                             (default: auto)
  --profile NAME        of a NIC, for what is computed and not measured: connections-*; cx7-200g, or a file of yours
                        as ./mine.json; docs/connections.md                  (default: none, and they are waived)
  --policy NAMES        only these rows, separated by commas; all runs each  (default: all)
  --axis NAME=VALUES    replace an axis's values, as in bytes=8,64; may be given more than once
  --iterations N        timed operations for each row                        (default: the experiment's own)
  --warmup N            operations before them, thrown away                  (default: 500)
  --timeout SECONDS     give a row up after this long; it is reported as failed with what was measured
                                                                             (default: 60)
  --runs N              measure each row in N processes of its own, one after another, as one result; what changes
                        from process to process is then known               (default: 1)
  --noise PERCENT       go on with further runs (at least 3) until the 95 % interval of each median is within this
  --limit SECONDS       but begin no further run after this long             (default: 600)
  --samples             the document holds every sample, for pooling and for the report's curves
  --expect STATEMENT    a threshold that must hold, as in 'single-op.issue.p50 <= 0.5us'; may be given more than once;
                        `marrow compare --help` has its form
  --lock-clocks         let sm-clock lock the SM clock of the lanes' GPU, for everybody who uses it, and give it back at
                        the end, whatever that is. A lock that was there before is gone then. It needs root
  --csv FILE            write one line a metric to FILE; - is stdout
  --json FILE           write the document marrow.result/2 to FILE; - writes it to stdout, and nothing else there.
                        A file that is there stays whole until the new one is complete

Every byte that an operation moves is compared at the far side; a row says so. Results go to stdout, all else to
stderr. --iterations has the twin MARROW_ITERATIONS, and so has each option but --axis, --expect, --samples and
--lock-clocks; the command line wins.

exit: 0 every row passed (rows may be waived)   1 a row failed, or a threshold   2 usage   77 nothing could run here

examples: marrow run single-op
          marrow run single-op --nic cx7-sim --json -
          marrow run inline-payload --axis bytes=8,92,220
)";

constexpr std::string_view kTrace = R"(marrow trace - one message, stop by stop, as the software NIC saw it

usage: marrow trace EXPERIMENT [options]

  EXPERIMENT            single-op or ordering; its first row is traced
  --policy NAME         trace this row instead
  --nic NAME            only cx7-sim can be watched                          (default: cx7-sim)

The stops are those of docs/one-message.md, with this run's values.
)";

constexpr std::string_view kSim = R"(marrow sim - run a program against the software ConnectX-7

usage: marrow sim [options] -- COMMAND [ARGUMENT...]

  --link ib|roce        link layer of the devices' ports                     (default: ib)
  --engine NAME         who moves the data: cpu, gpu, gpu:1, or auto, which goes by where a queue lies
                                                                             (default: auto)
  --udp ADDRESS         the devices are on the network: RoCE v2 over UDP to other hosts, from this host's ADDRESS;
                        ADDRESS,ADDRESS gives mlx5_sim1 one too (docs/links.md)
  --pcap FILE           what COMMAND sends and receives, for Wireshark; %p in the name is the process's number
  --faults RULES        what goes wrong on the links, as 'loss rate=1%; seed 7', or @FILE     (docs/links.md)
  --stats[=FILE]        at the end, on stderr: what each device counted, what strict mode found, what was refused, by name;
                        into FILE the same as JSON, for each process too
  --trace FILE          the life of each WQE and packet, for Perfetto (ui.perfetto.dev) or chrome://tracing (docs/software-nic.md)
  --lenient             let pass what the software NIC would refuse and a real one might let pass; still counted

COMMAND sees two devices, mlx5_sim0 and mlx5_sim1, through unmodified rdma-core. Programs started this way at the same
time by the same user reach each other. COMMAND's exit status is passed on; 127 says that it was not found.

examples: marrow sim -- ibv_devinfo -v
          marrow sim -- ib_write_bw -d mlx5_sim0 &
          marrow sim -- ib_write_bw -d mlx5_sim1 localhost
          marrow sim --udp 10.0.0.1 -- ib_write_bw -d mlx5_sim0              on one host, and on another
          marrow sim --udp 10.0.0.2 -- ib_write_bw -d mlx5_sim0 10.0.0.1
)";

struct Page {
  std::string_view command;
  std::string_view text;
};
constexpr std::array<Page, 5> kPages{{{"", kMain}, {"list", kList}, {"run", kRun}, {"trace", kTrace}, {"sim", kSim}}};

}  // namespace

std::string_view help_text(std::string_view command) {
  for (const auto& page : kPages) {
    if (page.command == command) return page.text;
  }
  const auto text = help_of_documents(command);
  return text.empty() ? kMain : text;
}

std::string version_text() {
  const auto build = measure::build_info();
  return fmt::format("marrow {} ({}{}, {}, {})\n", build.version, build.commit.substr(0, 12),
                     build.dirty ? " with changes" : "", build.compiler, build.build_type);
}

}  // namespace marrow::cli
