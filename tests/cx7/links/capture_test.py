#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of other people's programs, read by tshark: it knows every packet, and none is malformed.

usage: capture_test.py --library FILE [--link roce]
"""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

import hosts
from hosts import witness

SECONDS = 100
RUNS = (  # program, options, and opcodes that must be in the capture [prm: BTH opcodes]
    ("ib_write_bw", ["-s", "9000", "-n", "20", "-t", "5"], {"6", "7", "8", "17"}),
    ("ib_read_bw", ["-s", "9000", "-n", "20", "-t", "5"], {"12", "13", "15"}),
    ("ib_send_bw", ["-s", "3", "-n", "20", "-t", "5", "-r", "20"], {"4", "17"}),
    ("ib_atomic_bw", ["-n", "20", "-t", "5"], {"20", "18"}),
)


def dissect(file):
    fields = ("frame.protocols", "infiniband.bth.opcode", "_ws.malformed", "_ws.expert.message")
    command = ["tshark", "-r", file, "--disable-protocol", "rpcordma", "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    witness.expect(done.returncode == 0, f"tshark: {done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def check(name, rows, wanted):
    witness.expect(rows, f"{name}: the capture is empty")
    opcodes = collections.Counter(row[1] for row in rows)
    for row in rows:
        witness.expect("infiniband" in row[0], f"{name}: tshark sees no InfiniBand packet in {row}")
        witness.expect("malformed" not in row[0].lower() and not row[2], f"{name}: malformed: {row}")
    print(f"{name}: {len(rows)} packets, opcodes {dict(opcodes)}")
    missing = wanted - set(opcodes)
    witness.expect(not missing, f"{name}: no packet with opcode {missing} in {dict(opcodes)}")


def test():
    arguments = witness.parse(__doc__)
    if not shutil.which("tshark"):
        print("waived: no tshark; Debian's package tshark has it")
        sys.exit(witness.WAIVED)
    options = ["-x", "3"] if arguments.link == "roce" else []
    with tempfile.TemporaryDirectory() as folder:
        for program, settings, wanted in RUNS:
            witness.waive_without(program)
            with witness.Machine(arguments) as machine:
                machine.environment["MARROW_SIM_PCAP"] = os.path.join(folder, f"{program}-%p")
                server, client = witness.start_pair(machine, program, settings + options)
                client.succeed(SECONDS)
                server.succeed(SECONDS)
            files = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(program)]
            witness.expect(len(files) == 2, f"{program}: two processes left the captures {files}")
            for file in files:
                check(program, dissect(file), wanted)


witness.main(test)
