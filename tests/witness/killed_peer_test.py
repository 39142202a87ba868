#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A side of a running ib_write_bw is killed: the other ends with an error within its retry budget, and nothing that the
dead one made is left: no file, no segment, no name.
"""
import time

import witness

RUNNING = 1.0  # seconds of traffic before the kill
# perftest's defaults: time-out 14 (67 ms), 7 retries: 0.6 s; the rest is for a loaded machine and the program's exit.
BUDGET = 15


def test():
    arguments = witness.parse(__doc__, victim={"choices": ("server", "client")})
    witness.waive_without("ib_write_bw")
    before = witness.names_left()
    with witness.Machine(arguments) as machine:
        server, client = witness.start_pair(machine, "ib_write_bw", ["-s", "65536", "-D", "20"])
        deadline = time.monotonic() + 30
        # Each side listens; each accepts a connection when the other sends its first packet.
        while len(witness.held_sockets(machine.domain)) < 4:
            witness.expect(time.monotonic() < deadline, "no traffic within 30 s")
            time.sleep(0.05)
        time.sleep(RUNNING)
        for process in (server, client):
            witness.expect(process.running(), f"{process}: ended before the kill\n{process.output}")
        victim, survivor = (server, client) if arguments.victim == "server" else (client, server)
        victim.kill()
        started = time.monotonic()
        code = survivor.finish(BUDGET)
        took = time.monotonic() - started
        print(f"the {'client' if survivor is client else 'server'} ended after {took:.1f} s with exit code {code}:\n"
              f"{survivor.output}")
        witness.expect(code != 0, "the survivor reports success")
        witness.expect(code > 0, f"the survivor died of signal {-code}")
        # A socket's name goes with the last reference; the kernel may take a moment for a killed process.
        deadline = time.monotonic() + 5
        while witness.held_sockets(machine.domain) and time.monotonic() < deadline:
            time.sleep(0.05)
        witness.expect(not witness.held_sockets(machine.domain), f"names left: {witness.held_sockets(machine.domain)}")
    left = witness.names_left() - before
    witness.expect(not left, f"left behind: {sorted(left)}")


witness.main(test)
