#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`marrow sim --stats --trace`: what two processes did, which then were killed, to the event; and how the command's end is passed on.

usage: watch_test.py --library FILE --tool MARROW witness_one_end
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

import two_ends
import witness

WRITES = 3
DRIVER = "MARROW_TEST_DRIVER"
EVENTS = {("i", "doorbell"): 1, ("b", "RDMA_WRITE"): 1, ("n", "fetch"): 1, ("b", "in flight"): 1, ("e", "in flight"): 1,
          ("e", "RDMA_WRITE"): 1, ("X", "WRITE only"): 2, ("X", "ACKNOWLEDGE"): 2, ("i", "written"): 1, ("i", "CQE"): 1,
          ("s", "packet"): 2, ("f", "packet"): 2}  # of one write


def drive(program):
    """The command: two processes, three writes, and a kill."""
    with two_ends.Pair(types.SimpleNamespace(prefix=[], environment=os.environ), program) as ends:
        answer = ends[0].ask(f"write {WRITES} 8")
        print([end.process.pid for end in ends])
    sys.exit(answer != "status 0")


def check_trace(events):
    counts = collections.Counter((event["ph"], event["name"]) for event in events if event["ph"] != "M")
    witness.expect(counts == {kind: n * WRITES for kind, n in EVENTS.items()}, f"events: {dict(counts)}")
    spans = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "bne":
            spans[event["id"]].append((event["ph"], event["name"], event["ts"]))
    for name, parts in spans.items():
        order = [part[:2] for part in parts]
        witness.expect(order == [("b", "RDMA_WRITE"), ("n", "fetch"), ("b", "in flight"), ("e", "in flight"), ("e", "RDMA_WRITE")],
                       f"span {name}: {order}")
        times = [part[2] for part in parts]
        witness.expect(times == sorted(times), f"span {name} does not nest: {times}")
    flows = collections.defaultdict(dict)
    for event in events:
        if event["ph"] in "sf":
            flows[event["id"]][event["ph"]] = event
    for name, ends in flows.items():
        witness.expect(ends["s"]["pid"] != ends["f"]["pid"], f"the arrow {name} does not lead to the other process")
        witness.expect(ends["s"]["ts"] <= ends["f"]["ts"], f"the arrow {name} leads back in time")


def check_stats(stats, pids):
    total = stats["total"]["devices"]
    for device, counter, value in (("mlx5_sim0", "wqes_fetched", WRITES), ("mlx5_sim0", "cqes_written", WRITES),
                                   ("mlx5_sim1", "write_requests", WRITES), ("mlx5_sim1", "wqes_fetched", 0),
                                   ("mlx5_sim0", "strict_stale_wqe_index", 0)):
        witness.expect(total[device][counter] == value, f"{device} {counter}: {total[device][counter]}, not {value}")
    witness.expect(sorted(process["pid"] for process in stats["processes"]) == sorted(pids), f"processes: {stats['processes']}")
    sent = sum(process["devices"]["mlx5_sim0"]["packets_sent"] for process in stats["processes"])
    witness.expect(sent == total["mlx5_sim0"]["packets_sent"] == WRITES, f"packets sent: {sent}")


def ends_like(tool, words, code, folder):
    done = subprocess.run([tool, "sim", f"--stats={folder}/end.json", "--", *words], capture_output=True, text=True, check=False,
                          timeout=two_ends.SECONDS)
    witness.expect(done.returncode == code, f"{words}: exit code {done.returncode}, not {code}\n{done.stderr}")
    return done.stderr


def test():
    arguments = witness.parse(__doc__, program={})
    if DRIVER in os.environ:
        drive(arguments.program)
    if not arguments.tool:
        print("waived: the tool is not built, or with a sanitizer that cannot be preloaded by it")
        sys.exit(witness.WAIVED)
    with tempfile.TemporaryDirectory() as folder, witness.Machine(arguments) as machine:
        machine.environment[DRIVER] = "1"
        machine.prefix = [arguments.tool, "sim", "--trace", f"{folder}/trace.json", f"--stats={folder}/stats.json", "--"]
        output = machine.start(sys.executable, "-B", __file__, *sys.argv[1:]).succeed(2 * two_ends.SECONDS)
        check_trace(json.loads(pathlib.Path(folder, "trace.json").read_text(encoding="ascii"))["traceEvents"])
        stats = json.loads(pathlib.Path(folder, "stats.json").read_text(encoding="utf-8"))
        check_stats(stats, json.loads(output.splitlines()[0]))
        witness.expect("2 processes opened a device" in output and "strict checks: nothing found" in output, output)
        ends_like(arguments.tool, ["sh", "-c", "exit 7"], 7, folder)
        ends_like(arguments.tool, ["sh", "-c", "kill -TERM $$"], -15, folder)
        ends_like(arguments.tool, ["no-such-program"], 127, folder)
        ends_like(arguments.tool, ["true"], 0, folder)
        refused = ends_like(arguments.tool, ["true"], 2, f"{folder}/absent")
        witness.expect("absent" in refused, f"a file that cannot be written is not refused: {refused}")


witness.main(test)
