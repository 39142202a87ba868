#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Registers, spills and the inner loops of the enclosing experiments' kernels, from the compiler: needs nvcc, no GPU.
# usage: registers.py NVCC ROOT. Prints a table. Exit: 0 as expected, 1 not, 77 no nvcc.
#
# Facts: `ptxas -v` tells registers and spills; an instruction of sm_90 has 16 bytes and its opcode in the lowest 12 bits, 9
# of which are the operation [obs: what ptxas writes for kernels whose instructions are known].
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

SOURCES = ("enclosing_kernel/compute.cu", "enclosing_kernel/stream.cu", "enclosing_live_values/live_values.cu")
OPERATION, FFMA = 0x1FF, 0x023
LOCAL_LOAD, LOCAL_STORE = 0x983, 0x387


def facts_of(ptxas):
    """{kernel: registers, stack, stores, loads} from what ptxas -v prints. A kernel's own line comes before its callees'."""
    kernels, name = {}, None
    for line in ptxas.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            name = match.group(1)
            kernels[name] = SimpleNamespace(registers=None, stack=None, stores=None, loads=None)
        elif name and (match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)):
            if kernels[name].stack is None:
                kernels[name].stack, kernels[name].stores, kernels[name].loads = map(int, match.groups())
        elif name and (match := re.search(r"Used (\d+) registers", line)):
            kernels[name].registers = int(match.group(1))
    return kernels


def code_of(cubin):
    """{kernel: [opcode]} of an ELF file."""
    at, = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + i * size) for i in range(count)]
    code = {}
    for header in headers:
        start = headers[names][4] + header[0]
        name = cubin[start : cubin.index(b"\0", start)].decode()
        if name.startswith(".text."):
            text = cubin[header[4] : header[4] + header[5]]
            code[name[6:]] = [struct.unpack_from("<Q", text, i)[0] & 0xFFF for i in range(0, len(text), 16)]
    return code


def local_in_loop(opcodes):
    """Accesses of local memory between the first and the last fused multiply-add: these stand in the inner loop alone."""
    fused = [i for i, opcode in enumerate(opcodes) if opcode & OPERATION == FFMA]
    return sum(opcode in (LOCAL_LOAD, LOCAL_STORE) for opcode in opcodes[fused[0] : fused[-1]]) if fused else None


def problems_of(facts, code):
    """What is wrong, as sentences."""
    problems = []

    def expect(holds, sentence):
        if not holds:
            problems.append(sentence)

    def loop_is_clean(name):
        local = local_in_loop(code.get(name, []))
        expect(local is not None, f"{name} has no inner loop of fused multiply-adds")
        expect(not local, f"the inner loop of {name} goes to local memory {local} times")

    # The acceptance figure: a caller with eight live values keeps its registers, and with them its residency. Inlined it
    # needs no bound for that; as a function of its own it does.
    none = facts["compute_8_none"].registers
    for path in ("mini_gda", "mini_proxy"):
        for name in (f"compute_8_{path}_inlined", f"compute_8_{path}_bounded"):
            count = facts[name].registers
            expect(count <= none, f"dormant {path} code adds registers to the compute caller: {none} without, {count} with")
            loop_is_clean(name)
        stack = facts[f"compute_8_{path}_inlined"].stack
        expect(stack == 0, f"compute_8_{path}_inlined needs {stack} bytes of local memory")
        for name in (f"stream_8_{path}_inlined", f"stream_8_{path}_bounded"):
            expect(facts[name].registers <= 32, f"{name} does not fit eight blocks an SM")
    for name, kernel in sorted(facts.items()):
        if name.endswith("_none"):
            expect(kernel.stack == 0, f"{name} spills without any communication code: {kernel.stack} bytes")
        elif not name.endswith("_bounded"):
            expect(kernel.stores == 0, f"{name} spills although registers are left: {kernel.stores} bytes")
    return problems


def compile_all(nvcc, root):
    facts, code = {}, {}
    for source in SOURCES:
        with tempfile.TemporaryDirectory() as folder:
            cubin = Path(folder) / "kernels.cubin"
            line = [nvcc, "-std=c++20", "-O3", "-arch=sm_90", "--expt-relaxed-constexpr", "-Xptxas", "-v", "-cubin", "-o", cubin]
            line += [f"-I{root / part}" for part in ("include", "src", ".")] + [root / "experiments" / source]
            run = subprocess.run([str(word) for word in line], capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"{source} does not compile\n{run.stdout}{run.stderr}")
            facts |= facts_of(run.stdout + run.stderr)
            code |= code_of(cubin.read_bytes())
    return facts, code


def main():
    nvcc, root = sys.argv[1], Path(sys.argv[2])
    if not shutil.which(nvcc):
        print("waived: nvcc was not found; install CUDA 13 (no GPU is needed) and configure again")
        return 77
    facts, code = compile_all(nvcc, root)
    print(f"{'kernel':36} {'registers':>9} {'stack':>6} {'spill stores':>12} {'loads':>6}  bytes")
    for name, kernel in sorted(facts.items()):
        print(f"{name:36} {kernel.registers:9} {kernel.stack:6} {kernel.stores:12} {kernel.loads:6}")
    problems = problems_of(facts, code)
    for problem in problems:
        print(problem)
    print(f"{len(facts)} kernels, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
