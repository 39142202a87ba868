#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of rdma-core or perftest as two processes, each on a device of its own, runs to the end on both sides.

usage: pair_test.py --library FILE PROGRAM -- OPTION...
"""
import argparse
import re

import witness

SECONDS = 100


def options_for(program, link):
    if link == "ib":
        return []
    return ["-g", "3"] if program == "ibv_rc_pingpong" else ["-x", "3"]  # 3: RoCE v2, IPv4


def moved_something(program, output):
    if program == "ibv_rc_pingpong":
        return re.search(r"^\d+ iters in .* usec/iter$", output, re.M)
    # perftest: a row of the result table that starts with the message size and the iterations
    return re.search(r"^\s*\d+\s+\d+\s+[\d.]+\s+[\d.]+", output, re.M)


def test():
    arguments = witness.parse(__doc__, program={}, options={"nargs": argparse.REMAINDER})
    witness.waive_without(arguments.program)
    options = [word for word in arguments.options if word != "--"]
    with witness.Machine(arguments) as machine:
        server, client = witness.start_pair(machine, arguments.program,
                                            options + options_for(arguments.program, arguments.link))
        output = client.succeed(SECONDS)
        server.succeed(SECONDS)
        witness.expect(moved_something(arguments.program, output), f"no result in the client's output\n{output}")
    print(output)


witness.main(test)
