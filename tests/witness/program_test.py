#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small verbs program of our own, linked against plain libibverbs, on the software NIC: its exit code decides."""
import argparse

import witness


def test():
    arguments = witness.parse(__doc__, program={}, options={"nargs": argparse.REMAINDER})
    with witness.Machine(arguments) as machine:
        print(machine.start(arguments.program, *arguments.options).succeed(60))


witness.main(test)
