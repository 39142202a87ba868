# SPDX-License-Identifier: Apache-2.0
"""Two processes of witness_one_end, connected to each other and driven line by line."""
import select
import subprocess

import witness

SECONDS = 30


class End:
    def __init__(self, machine, program, device):
        self.process = subprocess.Popen(machine.prefix + [program, str(device)], env=machine.environment, text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.address = self.line()

    def line(self):
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        witness.expect(ready, f"no line from an end in {SECONDS} s")
        return self.process.stdout.readline().rstrip("\n")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        return self.line()

    def end(self):
        self.process.communicate("end\n", timeout=SECONDS)
        witness.expect(self.process.returncode == 0, f"an end ended with {self.process.returncode}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Pair:
    """On mlx5_sim0 and mlx5_sim1; as a context manager it kills what is left."""

    def __init__(self, machine, program):
        self.ends = []
        self.ends = [End(machine, program, device) for device in (0, 1)]
        for end, other in zip(self.ends, reversed(self.ends)):
            witness.expect(end.ask(other.address) == "connected", "an end does not connect")

    def __enter__(self):
        return self.ends

    def __exit__(self, *_):
        for end in self.ends:
            end.kill()
