#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tools/ptx_check must be able to fail: on PTX written by hand, and on each of our own expectations once it is made wrong.
# usage: ptx_check_test.py TOOL [SOURCE INCLUDE [NVCC]]
import importlib.machinery
import importlib.util
import re
import sys
import unittest
from types import SimpleNamespace

LOADER = importlib.machinery.SourceFileLoader("ptx_check", sys.argv[1])
ptx_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("ptx_check", LOADER))
LOADER.exec_module(ptx_check)

# Blocks in an order that control does not follow: the doorbell stands above the stores that come before it.
PTX = """
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [kernel_param_0];
	setp.eq.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_3;
$L__BB0_1:
	// begin inline asm
	fence.acq_rel.gpu;
	// end inline asm
	st.mmio.relaxed.sys.global.b64 [%rd1], %rd2;
	ld.relaxed.gpu.global.b32 %r1, [%rd3];
	ret;
$L__BB0_2:
	st.global.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};
	st.global.v4.b32 [%rd1+16], {%r1, %r2, %r3, %r4};
	st.local.u32 [%rd9], %r1;
	st.relaxed.sys.global.b32 [%rd4], %r5;
	bra.uni 	$L__BB0_1;
$L__BB0_3:
	ret;

}
"""
GOOD = (
    "// PTX kernel: st.global.v4.b32 x2, st.relaxed.sys.global.b32, fence.acq_rel.gpu"
    " -> st.mmio.relaxed.sys.global.b64 -> ld.relaxed.gpu.global.b32\n"
)


class ByHand(unittest.TestCase):
    def problems(self, source, ptx=PTX):
        return ptx_check.check(ptx, source, "x.cu")

    def test_the_right_row_passes(self):
        self.assertEqual(self.problems(GOOD), [])

    def test_a_fence_of_another_scope_fails(self):
        self.assertTrue(self.problems(GOOD.replace("acq_rel.gpu", "acq_rel.sys")))

    def test_a_fence_that_is_not_there_fails(self):
        self.assertTrue(self.problems(GOOD, PTX.replace("\tfence.acq_rel.gpu;\n", "")))

    def test_a_fence_too_many_fails(self):
        self.assertTrue(self.problems(GOOD.replace(", fence.acq_rel.gpu", "")))

    def test_a_path_around_the_fence_fails(self):
        around = PTX.replace("\tfence.acq_rel.gpu;", "\t@%p1 bra $L__BB0_9;\n\tfence.acq_rel.gpu;\n$L__BB0_9:")
        self.assertTrue(self.problems(GOOD, around))

    def test_a_fence_under_a_predicate_fails(self):
        self.assertTrue(self.problems(GOOD, PTX.replace("\tfence.acq_rel.gpu;", "\t@%p1 fence.acq_rel.gpu;")))

    def test_a_second_doorbell_fails(self):
        self.assertTrue(self.problems(GOOD, PTX.replace("$L__BB0_3:", "$L__BB0_3:\n\tst.mmio.relaxed.sys.global.b64 [%rd1], 0;")))

    def test_another_number_of_wqe_stores_fails(self):
        self.assertTrue(self.problems(GOOD.replace("x2", "x3")))
        self.assertTrue(self.problems(GOOD.replace("x2", "x1")))

    def test_a_kernel_that_is_not_there_fails(self):
        self.assertTrue(self.problems(GOOD + GOOD.replace("PTX kernel", "PTX other")))

    def test_a_kernel_without_expectation_fails(self):
        self.assertTrue(self.problems(GOOD, PTX + PTX.replace(" kernel(", " second(")))

    def test_a_file_without_expectation_fails(self):
        self.assertTrue(self.problems("int x;\n", ""))

    def test_what_must_not_be_there_fails(self):
        self.assertEqual(self.problems(GOOD + "// PTX-NOT kernel: atom, membar\n"), [])
        self.assertTrue(self.problems(GOOD + "// PTX-NOT kernel: fence\n"))

    def test_another_number_of_an_instruction_fails(self):
        self.assertEqual(self.problems(GOOD + "// PTX-HAS kernel: st.global.v4.b32 x2, fence.acq_rel.gpu\n"), [])
        self.assertTrue(self.problems(GOOD + "// PTX-HAS kernel: st.global.v4.b32 x3\n"))
        self.assertTrue(self.problems(GOOD + "// PTX-HAS kernel: fence.acq_rel.sys\n"))


class OurOwn(unittest.TestCase):
    """Each item of each row of the source, left out or exchanged for its neighbour in meaning, must be noticed."""

    def test_each_expectation_can_fail(self):
        if len(sys.argv) < 5 or sys.argv[4].endswith("NOTFOUND"):
            self.skipTest("nvcc was not found")
        path, include, nvcc = sys.argv[2:5]
        options = SimpleNamespace(nvcc=nvcc, arch="sm_90", source=path, include=[include])
        kernels = ptx_check.kernels_of(ptx_check.compile_to_ptx(options))
        tried = 0
        for _, kind, name, text in ptx_check.expectations(ptx_check.read(path)):
            if kind != "PTX":
                continue
            self.assertIsNone(ptx_check.failure(kernels, kind, name, text))
            for wrong in self.wrong_rows(text):
                self.assertIsNotNone(ptx_check.failure(kernels, kind, name, wrong), f"{name}: {wrong}")
                tried += 1
        self.assertGreater(tried, 50)

    @staticmethod
    def wrong_rows(text):
        before, doorbell, *behind = text.split(" -> ")
        tail = "".join(f" -> {part}" for part in behind)
        items = before.split(", ")
        for i, item in enumerate(items):
            rest = items[:i] + items[i + 1 :]
            if i:  # a row without its first item says less, and is right
                yield f"{', '.join(rest)} -> {doorbell}{tail}"
                yield f"{', '.join([*rest[: i - 1], item, *rest[i - 1 :]])} -> {doorbell}{tail}"
        for old, new in ((r"\.gpu", ".sys"), (r"\.sys", ".gpu"), (r" x3", " x4"), (r" x3", " x2"), ("membar.gl", "membar.sys")):
            if re.search(old, text):
                yield re.sub(old, new, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
