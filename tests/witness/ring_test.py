#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many processes of one host at once, in a ring: all end well, in bounded time. Then one of them is killed, again and
again, at another moment each time: the one before it ends in retry exceeded, all others end, and nothing is left of any:
no file, no segment, no name, no slot.

usage: ring_test.py --library FILE PROGRAM PROCESSES ROUNDS KILLS
"""
import time

import witness

SECONDS = 200
KILLED_AMONG = 6


def expect_nothing_left(machine, before):
    deadline = time.monotonic() + 10  # the kernel may take a moment for a killed process
    while witness.held_sockets(machine.domain) and time.monotonic() < deadline:
        time.sleep(0.05)
    witness.expect(not witness.held_sockets(machine.domain), f"names left: {witness.held_sockets(machine.domain)}")
    left = witness.names_left() - before
    witness.expect(not left, f"left behind: {sorted(left)}")


def test():
    arguments = witness.parse(__doc__, program={}, processes={"type": int}, rounds={"type": int}, kills={"type": int})
    before = witness.names_left()
    with witness.Machine(arguments) as machine:
        print(machine.start(arguments.program, arguments.processes, arguments.rounds).succeed(SECONDS))
        expect_nothing_left(machine, before)
        for seed in range(arguments.kills):
            output = machine.start(arguments.program, KILLED_AMONG, 1_000_000, "kill", seed).succeed(SECONDS)
            witness.expect("transport retry counter exceeded" in output, f"nobody noticed\n{output}")
            expect_nothing_left(machine, before)
            print(f"kill {seed}: {output}")


witness.main(test)
