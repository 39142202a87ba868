# SPDX-License-Identifier: Apache-2.0
# What the checks in this folder share: which files there are, and how a check reports and ends.
import argparse
import os
import subprocess
import sys
from pathlib import Path

CODE = {".h", ".cpp", ".cuh", ".cu"}


def arguments(description):
    """The checks' only option is the tree to look at; tests point it at a small one."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="tree to check")
    parser.add_argument("paths", nargs="*", help="only these files or folders, relative to the tree")
    options = parser.parse_args()
    options.root = options.root.resolve()
    return options


def files(options):
    """Paths relative to the root of all files that git tracks or would track; without git, of all files outside build folders."""
    git = subprocess.run(
        ["git", "-C", str(options.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True)
    at_top = git.returncode == 0 and (options.root / ".git").exists()
    names = git.stdout.split("\0") if at_top else walk(options.root)
    wanted = [path.rstrip("/") for path in options.paths]
    return sorted(Path(name) for name in names
                  if name and (options.root / name).is_file() and is_under(name, wanted))


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".git", "build", ".cache", "__pycache__"))]
        for name in names:
            yield str((Path(folder) / name).relative_to(root))


def is_under(name, wanted):
    return not wanted or any(name == path or name.startswith(path + "/") for path in wanted)


def code_files(options, *tops):
    return [f for f in files(options) if f.suffix in CODE and (not tops or f.parts[0] in tops)]


def read(options, path):
    return (options.root / path).read_text(encoding="utf-8", errors="replace")


def finish(name, problems, looked_at):
    """Prints each problem on its own line as file:line: text, then one closing sentence; exits 1 when there is a problem."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem{'' if len(problems) == 1 else 's'} in {looked_at}")
    sys.exit(1 if problems else 0)
