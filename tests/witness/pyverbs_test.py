#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rdma-core's own tests, as Debian ships them beside python3-pyverbs: no failure, and no fewer successes than known.

usage: pyverbs_test.py --library FILE [--link ib|roce]
MARROW_PYVERBS names a folder into which the package was unpacked, where it is not installed.
"""
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

import witness

PYTHON = "/usr/bin/python3"  # the one that Debian's package is built for
SECONDS = 120  # of one module
LEAST = {"ib": 132, "roce": 132}  # a few depend on the machine
# Out of scope, see docs/software-nic.md: other vendors' devices, and a driver without a kernel.
LEFT_OUT = ("test_efa", "test_mlx5_vfio")


def unpack(root, to):
    """The tests, some of which are packed, as a package that can be imported."""
    for path in glob.glob(os.path.join(root, "usr/share/doc/rdma-core/tests/*.py*")):
        name = os.path.basename(path)
        if name.endswith(".gz"):
            with gzip.open(path, "rb") as packed, open(os.path.join(to, name[:-3]), "wb") as file:
                shutil.copyfileobj(packed, file)
        elif not os.path.exists(os.path.join(to, name)):
            shutil.copy(path, to)


def modules(folder):
    names = sorted(name[:-3] for name in os.listdir(folder) if re.fullmatch(r"test_\w+\.py", name))
    return [name for name in names if not name.startswith(LEFT_OUT)]


def waive_without_pyverbs(environment):
    if subprocess.run([PYTHON, "-c", "import pyverbs"], env=environment, capture_output=True, check=False).returncode:
        print("waived: no pyverbs; Debian's package python3-pyverbs has it")
        sys.exit(witness.WAIVED)


def run(machine, folder, module):
    """How many tests of it succeeded."""
    process = machine.start("env", "-C", folder, PYTHON, "tests/run_tests.py", "--dev", "mlx5_sim0", "-v",
                            f"tests.{module}")
    output = process.succeed(SECONDS)
    passed = len(re.findall(r"\.\.\. (?:.*\n)?ok$", output, re.M))
    skipped = re.findall(r"skipped ['\"](.*)['\"]$", output, re.M)
    print(f"{module}: {passed} passed" + "".join(f"\n    skipped: {reason}" for reason in sorted(set(skipped))))
    return passed


def test():
    arguments = witness.parse(__doc__)
    root = os.environ.get("MARROW_PYVERBS", "/")
    with tempfile.TemporaryDirectory() as folder, witness.Machine(arguments) as machine:
        if root != "/":
            machine.environment["PYTHONPATH"] = os.path.join(root, "usr/lib/python3/dist-packages")
        waive_without_pyverbs(machine.environment)
        tests = os.path.join(folder, "tests")
        os.mkdir(tests)
        unpack(root, tests)
        if not modules(tests):
            print("waived: the package's tests are not there; some images leave out /usr/share/doc")
            sys.exit(witness.WAIVED)
        passed = sum(run(machine, folder, module) for module in modules(tests))
    print(f"{passed} passed, none failed")
    witness.expect(passed >= LEAST[arguments.link], f"{passed} passed, known are {LEAST[arguments.link]}")


witness.main(test)
