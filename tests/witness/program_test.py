#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small verbs program of our own, linked against plain libibverbs, on the software NIC: its exit code decides."""
import argparse
import sys

import witness


def test():
    arguments = witness.parse(__doc__, program={}, options={"nargs": argparse.REMAINDER})
    with witness.Machine(arguments) as machine:
        process = machine.start(arguments.program, *arguments.options)
        code = process.finish(120)
        print(process.output)
    if code == witness.WAIVED:
        sys.exit(code)
    witness.expect(code == 0, f"exit code {code}")


witness.main(test)
