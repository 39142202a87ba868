#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libmarrow_cx7.so exports exactly the names in exports.map: a leaked one could replace a function of the application.

usage: exports_test.py LIBRARY EXPORTS_MAP
"""
import re
import subprocess
import sys


def main():
    library, version_script = sys.argv[1:]
    with open(version_script, encoding="utf-8") as file:
        text = re.sub(r"#.*", "", file.read())
    listed = set(re.findall(r"\w+(?=;)", text.split("global:")[1].split("local:")[0]))
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
    control = {name for name in exported if name.startswith("marrow_cx7_")}
    problems = [f"{name} is exported and not in exports.map" for name in sorted(exported - control - listed)]
    problems += [f"{name} is in exports.map and not exported" for name in sorted(listed - exported)]
    if len(control) < 5:
        problems.append(f"only {len(control)} calls of control.h are exported")
    print("\n".join(problems) or f"{len(exported)} names, all of them listed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
