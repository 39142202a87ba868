#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two processes with connected queue pairs and nothing to do use less than 2 % of a core together."""
import glob
import time

import witness

SECONDS = 5.0
LIMIT = 0.02


def cpu_seconds(pid):
    """Of all threads, to the nanosecond; /proc/PID/stat counts in hundredths."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def child_of(pid):
    """`marrow sim` may run the program as a child."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    return int(children[0]) if children else pid


def test():
    arguments = witness.parse(__doc__, program={})
    with witness.Machine(arguments) as machine:
        processes = [machine.start(arguments.program, "30") for _ in range(2)]
        time.sleep(2.0)  # connected, and past the first liveliness
        pids = [child_of(process.process.pid) for process in processes]
        before = sum(cpu_seconds(pid) for pid in pids)
        started = time.monotonic()
        time.sleep(SECONDS)
        used = (sum(cpu_seconds(pid) for pid in pids) - before) / (time.monotonic() - started)
        for process in processes:
            witness.expect(process.running(), f"{process}: ended early\n{process.output}")
    print(f"two idle processes use {100 * used:.2f} % of a core")
    witness.expect(used < LIMIT, f"{100 * used:.2f} % of a core, limit {100 * LIMIT:.0f} %")


witness.main(test)
