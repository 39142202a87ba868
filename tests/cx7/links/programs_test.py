#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of rdma-core and perftest as client and server on two hosts, over UDP, run to the end on both sides.

usage: programs_test.py --library FILE [--mtu N] PROGRAM -- OPTION...
"""
import argparse
import re

import hosts
from hosts import witness

SECONDS = 100
PORT = 18600


def moved_something(program, output):
    if program.startswith("ibv_"):
        return re.search(r"^\d+ iters in .* usec/iter$", output, re.M)
    return re.search(r"^\s*\d+\s+\d+\s+[\d.]+\s+[\d.]+", output, re.M)


def test():
    arguments = witness.parse(__doc__, program={}, options={"nargs": argparse.REMAINDER})
    witness.waive_without(arguments.program)
    options = [word for word in arguments.options if word != "--"]
    mtu = 1500
    if options[:1] == ["mtu"]:  # of the interfaces
        mtu, options = int(options[1]), options[2:]
    options += ["-g" if arguments.program.startswith("ibv_") else "-x", "0", "-d", "mlx5_sim0", "-p", str(PORT)]
    with hosts.Hosts(arguments, mtu=mtu) as (near, far):
        server = near.start(arguments.program, *options)
        near.wait_for_listener(PORT, server)
        client = far.start(arguments.program, *options, near.address)
        output = client.succeed(SECONDS)
        server.succeed(SECONDS)
    witness.expect(moved_something(arguments.program, output), f"no result in the client's output\n{output}")
    print(output)


hosts.enter()
witness.main(test)
