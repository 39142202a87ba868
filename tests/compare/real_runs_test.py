#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real_runs_test.py TOOL same|slower: compares documents that TOOL measures here and now.

same:   two runs of the same thing. At least 95 % of the metrics must be noise. A machine whose clock steps between the two
        is not the same machine, so one pair more may be measured.
slower: each request comes 40 ms late, then 44 ms. Every metric that waits for one must be worse by that much, and what
        waits for none must be noise; and the other way round it is better. Waived, exit code 77, where so much else runs
        that a thread waits for its core as long as for the packet.
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

NOISE_LEAST = 0.95
WAIVED = 77
MEASURE = ["--nic", "cx7-sim", "--runs", "3"]


def tool(*words, faults=None, codes=(0,)):
    environment = {**os.environ, "MARROW_SIM_FAULTS": faults} if faults else os.environ
    ended = subprocess.run([sys.argv[1], *words], env=environment, capture_output=True, text=True, timeout=250)
    if ended.returncode not in codes:
        sys.exit(f"FAILED {' '.join(words)}: exit code {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended


def compared(a, b, folder):
    table = folder / "compared.csv"
    ended = tool("compare", a, b, "--all", "--csv", table, codes=(0, 1))
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    return ended, rows


def tell(rows):
    for row in rows:
        print(f"  {row['verdict']:<9} {row['row']}: {row['metric']}: {row['a p50']} -> {row['b p50']} {row['unit']}, "
              f"{row['interval of']} within {row['ci99 low']} and {row['ci99 high']}")


def same(folder):
    what = ["run", "single-op", "ordering", "completion-breakdown", "timer-check", "--iterations", "500", *MEASURE]
    documents = [folder / f"{number}.json" for number in range(3)]
    tool(*what, "--json", documents[0])  # and the cores are warm
    for a, b in zip(documents, documents[1:]):
        tool(*what, "--json", b)
        _, rows = compared(a, b, folder)
        tested = [row for row in rows if row["verdict"] != "untested"]
        other = [row for row in tested if row["verdict"] != "noise"]
        share = 1 - len(other) / len(tested)
        print(f"{len(tested)} metrics of two runs of the same thing: {share:.1%} are noise")
        tell(other)
        if len(tested) >= 50 and share >= NOISE_LEAST:
            return True
    return False


def slower(folder):
    what = ["run", "single-op", "--policy", "gpu-fence", "--axis", "payload=inline", "--iterations", "30", "--warmup", "2",
            *MEASURE]
    for name, delay in (("a.json", "40ms"), ("b.json", "44ms")):
        tool(*what, "--json", folder / name, faults=f"delay rate=100% time={delay} of=requests")
    ended, rows = compared(folder / "a.json", folder / "b.json", folder)
    back, _ = compared(folder / "b.json", folder / "a.json", folder)
    waits = [row for row in rows if row["metric"] in ("put+completion", "doorbell to CQE", "round trip")]
    wrong = [row for row in rows if (row["verdict"] == "worse") != (row in waits)]
    near = all(1.05 < float(row["b/a of p50"]) < 1.15 for row in waits)
    print(f"{len(waits)} metrics wait for requests that come 10 % later")
    tell(waits + wrong)
    return len(waits) >= 2 and not wrong and near and ended.returncode == 1 and back.returncode == 0


def is_too_busy():
    busy, cores = os.getloadavg()[0], os.cpu_count()
    if busy > 4 * cores:
        print(f"waived: {busy:.0f} threads want {cores} cores")
    return busy > 4 * cores


def main():
    if sys.argv[2] == "slower" and is_too_busy() and "--anyway" not in sys.argv:
        return WAIVED
    question = {"same": same, "slower": slower}[sys.argv[2]]
    with tempfile.TemporaryDirectory(prefix="marrow-compare-") as folder:
        held = question(pathlib.Path(folder))
    print("ok" if held else "FAILED")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
