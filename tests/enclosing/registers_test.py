#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# registers.py must be able to fail: on compiler output and code written by hand.
# usage: registers_test.py
import copy
import struct
import unittest
from types import SimpleNamespace

import registers

PTXAS = """
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 66 registers, used 1 barriers
ptxas info    : Function properties for _Z6calleev
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers
"""
FFMA, LDS = 0x223, 0x984


def kernel(count, stack=0):
    return SimpleNamespace(registers=count, stack=stack, stores=stack, loads=stack)


def good():
    facts = {"compute_8_none": kernel(32), "compute_160_none": kernel(255)}
    for path in ("mini_gda", "mini_proxy"):
        facts |= {f"compute_8_{path}_bounded": kernel(32, 100), f"compute_8_{path}_inlined": kernel(32)}
        facts |= {f"stream_8_{path}_inlined": kernel(32)}
        facts |= {f"stream_8_{path}_bounded": kernel(32), f"compute_224_{path}_inlined": kernel(255)}
    loop = [registers.LOCAL_STORE, FFMA, LDS, FFMA, registers.LOCAL_LOAD]
    return facts, {name: list(loop) for name in facts}


class Reading(unittest.TestCase):
    def test_each_kernel_has_its_own_numbers_and_not_its_callees(self):
        facts = registers.facts_of(PTXAS)
        self.assertEqual(facts["second"], SimpleNamespace(registers=66, stack=16, stores=8, loads=4))
        self.assertEqual(facts["first"], SimpleNamespace(registers=32, stack=0, stores=0, loads=0))

    def test_local_memory_counts_only_inside_the_loop(self):
        inside = [FFMA, registers.LOCAL_LOAD, registers.LOCAL_STORE, FFMA]
        self.assertEqual(registers.local_in_loop(inside), 2)
        self.assertEqual(registers.local_in_loop([registers.LOCAL_LOAD, *[FFMA] * 3, registers.LOCAL_STORE]), 0)
        self.assertIsNone(registers.local_in_loop([LDS]))

    def test_code_is_found_by_the_kernels_name(self):
        code = struct.pack("<QQQQ", 0x7223, 0, 0x1983, 0)
        names = b"\0.shstrtab\0.text.kernel\0"
        table = 64 + len(code) + len(names)
        header = bytearray(64)
        struct.pack_into("<Q", header, 40, table)
        struct.pack_into("<HHH", header, 58, 64, 2, 0)
        sections = struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, 64 + len(code), len(names), 0, 0, 0, 0)
        sections += struct.pack("<IIQQQQIIQQ", 11, 1, 0, 0, 64, len(code), 0, 0, 0, 0)
        elf = bytes(header) + code + names + sections
        self.assertEqual(registers.code_of(elf), {"kernel": [0x223, 0x983]})


class Judging(unittest.TestCase):
    def setUp(self):
        self.facts, self.code = good()

    def problems(self):
        return registers.problems_of(copy.deepcopy(self.facts), self.code)

    def test_what_is_right_passes(self):
        self.assertEqual(self.problems(), [])

    def test_one_register_more_fails(self):
        for name in ("compute_8_mini_gda_inlined", "compute_8_mini_proxy_inlined", "compute_8_mini_gda_bounded"):
            self.setUp()
            self.facts[name].registers = 33
            self.assertEqual(len(self.problems()), 1, name)

    def test_local_memory_without_a_bound_fails(self):
        self.facts["compute_8_mini_gda_inlined"].stack = 8
        self.assertEqual(len(self.problems()), 1)

    def test_a_spill_in_the_inner_loop_fails(self):
        for name in ("compute_8_mini_gda_inlined", "compute_8_mini_proxy_bounded"):
            self.setUp()
            self.code[name][2] = registers.LOCAL_LOAD
            self.assertEqual(len(self.problems()), 1, name)

    def test_a_caller_that_spills_by_itself_fails(self):
        self.facts["compute_160_none"] = kernel(255, 16)
        self.assertTrue(self.problems())

    def test_lost_residency_fails(self):
        for name in ("stream_8_mini_gda_inlined", "stream_8_mini_gda_bounded"):
            self.setUp()
            self.facts[name].registers = 33
            self.assertEqual(len(self.problems()), 1, name)

    def test_spilling_with_registers_left_fails(self):
        for name in ("compute_8_mini_gda_inlined", "compute_224_mini_gda_inlined"):
            self.setUp()
            self.facts[name].stores = 4
            self.assertEqual(len(self.problems()), 1, name)


if __name__ == "__main__":
    unittest.main()
