#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Compiles a .cu file to code and compares registers as its comments say:
#   // REGISTERS kernel <= floor + n
#   // REGISTERS kernel spills nothing
# Bounds, not equalities: ptxas may do better, and differs between architectures and releases.
# usage: registers.py SOURCE INCLUDE NVCC ARCH. Exit 0, 1, or 77 without nvcc.
import os
import re
import subprocess
import sys

BOUND = re.compile(r"^// REGISTERS (\w+) <= (\w+) \+ (\d+)$", re.M)
NO_SPILL = re.compile(r"^// REGISTERS (\w+) spills nothing$", re.M)
USAGE = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill.*?Used (\d+) registers", re.S)


def main():
    source, include, nvcc, arch = sys.argv[1:]
    if not nvcc or nvcc.endswith("NOTFOUND"):
        print("waived: nvcc was not found; install CUDA 13 (no GPU is needed) and configure again")
        return 77
    line = [nvcc, "-std=c++20", f"-arch={arch}", "-cubin", "-Xptxas", "-v", f"-I{include}", "-o", os.devnull, source]
    run = subprocess.run(line, capture_output=True, text=True)
    usage = {name: (int(registers), int(spills)) for name, _, spills, registers in USAGE.findall(run.stdout + run.stderr)}
    with open(source, encoding="utf-8") as file:
        text = file.read()
    bounds, whole = BOUND.findall(text), NO_SPILL.findall(text)
    wanted = {name for kernel, floor, _ in bounds for name in (kernel, floor)} | set(whole)
    problems = [f"no kernel {name}" for name in sorted(wanted - set(usage))] or [
        f"{kernel} has {usage[kernel][0]} registers, {floor} {usage[floor][0]}: more than {extra} on top"
        for kernel, floor, extra in bounds if usage[kernel][0] > usage[floor][0] + int(extra)
    ] + [f"{name} spills {usage[name][1]} bytes" for name in whole if usage[name][1] > 0]
    if run.returncode or not bounds:
        problems.append(f"{source} does not compile, or expects nothing\n{run.stderr}")
    for name, (registers, spills) in usage.items():
        print(f"{arch} {name}: {registers} registers, {spills} bytes spilled")
    for problem in problems:
        print(f"{source}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
