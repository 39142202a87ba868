#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What must not compile, and says so in our words. In the source, `// CASE n: words` names what the compiler must print with
# -DMARROW_CASE=n; without a case the file must compile, or a refusal would prove nothing.
# usage: must_not_compile.py SOURCE INCLUDE COMPILER [FLAGS...]. Exit 0, 1, or 77 without the compiler.
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def main():
    source, include, *command = sys.argv[1:]
    if not command[0] or not shutil.which(command[0]):
        print(f"waived: the compiler '{command[0]}' was not found")
        return 77
    with open(source, encoding="utf-8") as file:
        cases = re.findall(r"// CASE (\d+): (.+)", file.read())
    failures = 0 if cases else 1

    def compile_case(number):
        line = [*command, f"-I{include}", f"-DMARROW_CASE={number}", source]
        run = subprocess.run(line, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    status, output = compile_case(0)
    if status:
        print(f"{source} does not compile without a case:\n{output}")
        return 1
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda case: compile_case(case[0]), cases))
    for (number, words), (status, output) in zip(cases, results):
        joined = re.sub(r"\s+", " ", output)
        if status == 0:
            print(f"case {number} compiled; expected: {words}")
        elif words not in joined:
            print(f"case {number} failed in other words than: {words}\n{output}")
        else:
            continue
        failures += 1
    print(f"must_not_compile: {len(cases)} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
