#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes, reads, atomics and sends of witness_storm under every fault, in one process and between two: each operation
ends with every byte right, or with the exact error within its budget. Which faults were met is asked of the statistics.

usage: storm_test.py --library FILE PROGRAM OPERATIONS      by hand, with a million: see docs/links.md
"""
import os
import re
import tempfile

import witness

# Rules, and the counter that must move.
FAULTS = [
    ("loss rate=0.5%", "faults_lost"),
    ("duplicate rate=5%", "faults_duplicated"),
    ("reorder rate=2% depth=3", "faults_reordered"),
    ("delay rate=1% time=100us", "faults_delayed"),
    ("corrupt rate=0.5%", "faults_corrupted"),
    ("black-hole at=0s for=1s", "faults_black_hole"),
    ("down at=0s for=1s", "faults_link_down"),
    ("slow-responder rate=0.1% time=1ms", "faults_slow"),
    ("rnr-storm rate=0.5% time=1ms", "faults_rnr"),
    ("held-cqe rate=0.5% time=500us", "faults_cqes_held"),
    ("late-doorbell rate=20% time=200us", "faults_doorbells_late"),
    ("start psn=0xfffff0; loss rate=1%", "faults_lost"),
    ("seed 9; start psn=0xffffff; loss rate=0.1%; duplicate rate=1%; reorder rate=1% depth=5; delay rate=0.5% time=1ms; "
     "corrupt rate=0.1%; slow-responder rate=0.05% time=1ms; rnr-storm rate=1% time=500us; "
     "held-cqe rate=0.2% time=300us; late-doorbell rate=5% time=100us", "faults_rnr"),
]
# What never ends: the error, the words after which it comes, and the least and the most time (a busy machine is slow).
# The interval of a retry is 4.096 us * 2^16, so two of them are 0.54 s.
ENDLESS = [
    ("black-hole at=0s for=3600s", ["retries", "1", "expect", "transport retry counter exceeded"], 0.53, 20),
    ("down at=0s for=3600s", ["retries", "1", "expect", "transport retry counter exceeded"], 0.53, 20),
    ("loss rate=100% of=answers", ["retries", "1", "expect", "transport retry counter exceeded"], 0.53, 20),
    ("rnr-storm rate=100% time=3600s", ["rnr-retries", "3", "expect", "RNR retry counter exceeded"], 0, 20),
]


def run(machine, words, rules, seconds):
    machine.environment["MARROW_SIM_FAULTS"] = rules
    machine.environment["MARROW_SIM_STATS"] = "1"
    return machine.start(*words).succeed(seconds)


def test():
    arguments = witness.parse(__doc__, program={}, operations={"type": int})
    seconds = 120 + arguments.operations // 500
    with witness.Machine(arguments) as machine, tempfile.NamedTemporaryFile("w", suffix=".faults") as file:
        for where in ([], ["processes"]):
            for rules, counter in FAULTS:
                file.seek(0)
                file.truncate()
                file.write("# one rule a line\n" + rules.replace("; ", "\n") + "\n")
                file.flush()
                given = f"@{file.name}" if where else rules
                output = run(machine, [arguments.program, arguments.operations, *where], given, seconds)
                met = sum(int(number) for number in re.findall(rf"{counter}\s+(\d+)", output))
                said = next((line for line in output.splitlines() if "every byte right" in line), "")
                witness.expect(said, f"{rules}: no word of success\n{output}")
                witness.expect(met > 0, f"{rules}: no {counter}\n{output}")
                print(f"{' '.join(where) or 'one process'}: {rules}: {said}; {counter} {met}", flush=True)
            for rules, expected, least, most in ENDLESS:
                output = run(machine, [arguments.program, 1000, *where, *expected], rules, seconds)
                line = next(line for line in output.splitlines() if "vendor syndrome" in line)
                took = float(re.search(r"after ([\d.]+) s", line).group(1))
                witness.expect(least <= took <= most, f"{rules}: {line}, not within {least} to {most} s")
                print(f"{' '.join(where) or 'one process'}: {rules}: {line}", flush=True)


assert os.environ.get("MARROW_SIM_FAULTS") is None, "faults are this test's"
witness.main(test)
