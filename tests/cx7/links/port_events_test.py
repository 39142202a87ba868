#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A link that goes down and comes up is what ibv_asyncwatch sees, and ibv_devinfo says that the port is down meanwhile.

usage: port_events_test.py --library FILE
"""
import os
import pty
import re
import shutil
import subprocess
import sys
import time

import hosts
from hosts import witness


def watch(machine, seconds):
    """What it prints; a terminal, because it does not flush."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*machine.prefix, "ibv_asyncwatch", "-d", "mlx5_sim0"], env=machine.environment,
                               stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    os.set_blocking(ours, False)
    text = ""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and "(9)" not in text:
        try:
            text += os.read(ours, 4096).decode()
        except BlockingIOError:
            time.sleep(0.02)
        except OSError:
            break
    process.kill()
    process.wait()
    return text


def test():
    arguments = witness.parse(__doc__)
    for program in ("ibv_asyncwatch", "ibv_devinfo"):
        if not shutil.which(program):
            print(f"waived: no {program}; Debian's package ibverbs-utils has it")
            sys.exit(witness.WAIVED)
    with witness.Machine(arguments) as machine:
        machine.environment["MARROW_SIM_FAULTS"] = "down at=300ms for=300ms"
        text = watch(machine, 60)
        witness.expect(re.search(r"\(10\).*\(9\)", text, re.S), f"no event for down, then one for up:\n{text}")
        machine.environment["MARROW_SIM_FAULTS"] = "down at=300ms for=300"
        refused = machine.start("ibv_devinfo")
        witness.expect(refused.finish(30) == 2, f"a bad rule: exit code 2, not {refused.process.returncode}")
        witness.expect("try:" in refused.output and "rule 1" in refused.output, refused.output)
    print(text)


witness.main(test)
