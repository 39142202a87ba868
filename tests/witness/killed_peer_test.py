#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A side of a running ib_write_bw is killed: the other ends with an error within its retry budget, and nothing that the
dead one made is left: no file, no segment, no name.
"""
import os
import time

import witness

RUNNING = 1.0  # seconds of traffic before the kill
# perftest's defaults: time-out 14 (67 ms), 7 retries: 0.6 s; the rest is for a loaded machine and the program's exit.
BUDGET = 15


def names():
    """What a process could leave behind that others see. Unrelated things come and go in /tmp, so ours by name there."""
    found = {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")} if os.path.isdir("/dev/shm") else set()
    for directory in filter(None, ("/tmp", os.environ.get("XDG_RUNTIME_DIR"))):
        if os.path.isdir(directory):
            found |= {f"{directory}/{name}" for name in os.listdir(directory) if "marrow-cx7" in name}
    return found


def held_sockets(domain):
    with open("/proc/net/unix", encoding="utf-8") as file:
        return [line.split()[-1] for line in file if f"-{domain}-" in line]


def test():
    arguments = witness.parse(__doc__, victim={"choices": ("server", "client")})
    witness.waive_without("ib_write_bw")
    before = names()
    with witness.Machine(arguments) as machine:
        server, client = witness.start_pair(machine, "ib_write_bw", ["-s", "65536", "-D", "20"])
        deadline = time.monotonic() + 30
        # Each side listens; each accepts a connection when the other sends its first packet.
        while len(held_sockets(machine.domain)) < 4:
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
        while held_sockets(machine.domain) and time.monotonic() < deadline:
            time.sleep(0.05)
        witness.expect(not held_sockets(machine.domain), f"names left: {held_sockets(machine.domain)}")
    left = names() - before
    witness.expect(not left, f"left behind: {sorted(left)}")


witness.main(test)
