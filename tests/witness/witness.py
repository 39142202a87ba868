# SPDX-License-Identifier: Apache-2.0
"""Runs other people's programs on the software NIC. Shared by the witness tests; standard library only.

A test says what to run and what must come out. Everything is bounded in time, every test has a domain and a TCP port of
its own, so tests may run side by side; what a program printed is shown when a test fails.
"""
import argparse
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

WAIVED = 77


class Failure(Exception):
    pass


def parse(description, **positional):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--library", required=True, help="libmarrow_cx7.so")
    parser.add_argument("--preload-first", default="", help="library that must stand before it: a sanitizer's runtime")
    parser.add_argument("--tool", default="", help="marrow: run programs as `marrow sim -- PROGRAM`")
    parser.add_argument("--link", choices=("ib", "roce"), default="ib")
    for name, settings in positional.items():
        parser.add_argument(name, **settings)
    return parser.parse_args()


def waive_without(program):
    if not shutil.which(program):
        package = "ibverbs-utils" if program.startswith("ibv_") else "perftest"
        print(f"waived: no {program}; Debian's package {package} has it")
        sys.exit(WAIVED)


def main(test):
    """Runs test() and turns its end into an exit code."""
    try:
        test()
    except Failure as failure:
        print(f"failed: {failure}")
        sys.exit(1)
    print("passed")


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Process:
    """A program on the software NIC, its output in one text."""

    def __init__(self, machine, command):
        self.command = command
        self.process = subprocess.Popen(machine.prefix + command, env=machine.environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                        start_new_session=True)
        self.output = ""

    def finish(self, seconds):
        """Exit code; what is still running after `seconds` is killed and fails the test."""
        try:
            self.output = self.process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"{self}: still running after {seconds} s\n{self.output}") from None
        return self.process.returncode

    def succeed(self, seconds):
        code = self.finish(seconds)
        expect(code == 0, f"{self}: exit code {code}\n{self.output}")
        return self.output

    def kill(self):
        """With everything it has started. Afterwards, and after finish(), nothing happens."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        if not self.process.stdout.closed:
            self.output = self.process.communicate()[0]

    def running(self):
        return self.process.poll() is None

    def __str__(self):
        return " ".join(self.command)


class Machine:
    """Where programs run: environment, domain, port. As a context manager it kills what is left."""

    def __init__(self, arguments):
        self.domain = f"witness_{os.getpid()}"
        self.environment = dict(os.environ, MARROW_SIM_LINK=arguments.link, MARROW_SIM_DOMAIN=self.domain)
        self.link = arguments.link
        self.processes = []
        if arguments.tool:
            self.prefix = [arguments.tool, "sim", "--"]
        else:
            # env, because this interpreter's own children would otherwise be preloaded before they exec.
            preload = ":".join(filter(None, [arguments.preload_first, arguments.library]))
            self.prefix = ["env", f"LD_PRELOAD={preload}", "MARROW_SIM=1"]
        if arguments.preload_first:
            # Foreign programs do not free everything before they end.
            self.environment["ASAN_OPTIONS"] = "detect_leaks=0"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()

    def start(self, *command):
        process = Process(self, [str(word) for word in command])
        self.processes.append(process)
        return process


def free_port():
    """A TCP port that nobody listens on now; random, because tests run side by side."""
    for _ in range(100):
        port = random.randint(20000, 32000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
                return port
            except OSError:
                continue
    raise Failure("no free TCP port")


def is_listening(port):
    wanted = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                for line in file:
                    words = line.split()
                    if words[1].endswith(wanted) and words[3] == "0A":
                        return True
        except OSError:
            continue
    return False


def wait_for_listener(port, process, seconds=30):
    deadline = time.monotonic() + seconds
    while not is_listening(port):
        if not process.running():
            raise Failure(f"{process}: exit code {process.finish(1)} before it listened\n{process.output}")
        expect(time.monotonic() < deadline, f"{process}: does not listen on port {port} after {seconds} s")
        time.sleep(0.02)


def names_left():
    """What a process could leave behind that others see. Unrelated things come and go in /tmp, so ours by name there."""
    found = {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")} if os.path.isdir("/dev/shm") else set()
    for directory in filter(None, ("/tmp", os.environ.get("XDG_RUNTIME_DIR"))):
        if os.path.isdir(directory):
            found |= {f"{directory}/{name}" for name in os.listdir(directory) if "marrow-cx7" in name}
    return found


def held_sockets(domain):
    with open("/proc/net/unix", encoding="utf-8") as file:
        return [line.split()[-1] for line in file if f"-{domain}-" in line]


def gid_options(program, link):
    """RoCE v2, IPv4: entry 3."""
    if link == "ib":
        return []
    return ["-g", "3"] if program.startswith("ibv_") else ["-x", "3"]


def moved_something(program, output):
    if program.startswith("ibv_"):
        return re.search(r"^\d+ iters in .* usec/iter$", output, re.M) or program == "ibv_xsrq_pingpong"
    # perftest: a row of the result table that starts with the message size and the iterations
    return re.search(r"^\s*\d+\s+\d+\s+[\d.]+\s+[\d.]+", output, re.M)


def start_pair(machine, program, options):
    """Server on mlx5_sim0, client on mlx5_sim1, once the server listens."""
    port = free_port()
    server = machine.start(program, "-d", "mlx5_sim0", "-p", port, *options)
    wait_for_listener(port, server)
    client = machine.start(program, "-d", "mlx5_sim1", "-p", port, *options, "127.0.0.1")
    return server, client


# What perftest ends with, exit code 1, where a busy machine disturbed its calibration of the cycle counter.
NOT_CALIBRATED = "Can't produce a report"


def run_pair(machine, program, options, seconds):
    """The client's output, once both sides have ended well. A pair whose perftest could not calibrate runs again, twice."""
    for tries_left in (2, 1, 0):
        server, client = start_pair(machine, program, options)
        codes = [side.finish(seconds) for side in (client, server)]
        if tries_left == 0 or not any(code and NOT_CALIBRATED in side.output
                                      for code, side in zip(codes, (client, server))):
            break
        print(f"again: {client}: perftest could not calibrate the cycle counter")
    for code, side in zip(codes, (client, server)):
        expect(code == 0, f"{side}: exit code {code}\n{side.output}")
    expect(moved_something(program, client.output), f"{client}: no result in its output\n{client.output}")
    return client.output
