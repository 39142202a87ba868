#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of rdma-core or perftest as two processes, each on a device of its own, runs to the end on both sides.

usage: pair_test.py --library FILE PROGRAM -- OPTION...
"""
import argparse

import witness

SECONDS = 100


def test():
    arguments = witness.parse(__doc__, program={}, options={"nargs": argparse.REMAINDER})
    witness.waive_without(arguments.program)
    options = [word for word in arguments.options if word != "--"]
    with witness.Machine(arguments) as machine:
        output = witness.run_pair(machine, arguments.program,
                                  options + witness.gid_options(arguments.program, arguments.link), SECONDS)
    print(output)


witness.main(test)
