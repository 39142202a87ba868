# SPDX-License-Identifier: Apache-2.0
"""Several hosts on one machine: network namespaces on a bridge, each with one address. Needs user namespaces, no root.

A test calls enter() first, which starts it anew inside a namespace of its own, and is waived where that is not allowed.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "witness"))
import witness  # noqa: E402

MARK = "MARROW_TEST_INSIDE"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise witness.Failure(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def waive(reason):
    print(f"waived: {reason}")
    sys.exit(witness.WAIVED)


def enter():
    """Returns inside a user and network namespace."""
    if os.environ.get(MARK):
        return
    for program, package in (("unshare", "util-linux"), ("nsenter", "util-linux"), ("ip", "iproute2")):
        if not shutil.which(program):
            waive(f"no {program}; Debian's package {package} has it")
    probe = subprocess.run(["unshare", "-Urn", "sh", "-c", "ip link add one type veth peer name two && "
                            "ip link add three type bridge && unshare -n true"],
                           capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        waive(f"network namespaces are not allowed here: {probe.stderr.strip()}")
    os.environ[MARK] = "1"
    os.execvp("unshare", ["unshare", "-Urn", sys.executable, "-B", *sys.argv])


class Host:
    def __init__(self, arguments, number, mtu):
        self.address = f"10.77.0.{number}"
        self.holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "-n", "sleep", "900"])
        own = os.readlink("/proc/self/ns/net")
        deadline = time.monotonic() + 20
        while self.network() in (own, ""):
            witness.expect(time.monotonic() < deadline, "a network namespace does not come up")
            time.sleep(0.01)
        self.inside = ["nsenter", "-t", str(self.holder.pid), "-n"]
        run("ip", "link", "add", f"port{number}", "mtu", mtu, "type", "veth", "peer", "name", "eth0", "mtu", mtu,
            "netns", self.holder.pid)
        run("ip", "link", "set", f"port{number}", "master", "switch", "up")
        run(*self.inside, "ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        run(*self.inside, "ip", "link", "set", "eth0", "up")
        run(*self.inside, "ip", "link", "set", "lo", "up")
        self.machine = witness.Machine(arguments)
        self.machine.environment.pop("MARROW_SIM_LINK")
        self.machine.environment["MARROW_SIM_UDP"] = self.address
        if arguments.tool:  # the option is what users type
            self.machine.environment.pop("MARROW_SIM_UDP")
            self.machine.prefix = [arguments.tool, "sim", "--udp", self.address, "--"]
        self.machine.prefix = self.inside + self.machine.prefix

    def network(self):
        try:
            return os.readlink(f"/proc/{self.holder.pid}/ns/net")
        except OSError:
            return ""

    def start(self, *command):
        return self.machine.start(*command)

    def wait_for_listener(self, port, process, seconds=60):
        deadline = time.monotonic() + seconds
        while not self.is_listening(port):
            if not process.running():
                raise witness.Failure(f"{process}: exit code {process.finish(1)} before it listened\n{process.output}")
            witness.expect(time.monotonic() < deadline, f"{process}: does not listen on port {port}")
            time.sleep(0.02)

    def is_listening(self, port):
        for table in ("tcp", "tcp6"):
            with open(f"/proc/{self.holder.pid}/net/{table}", encoding="ascii") as file:
                for line in file:
                    words = line.split()
                    if words[1].endswith(f":{port:04X}") and words[3] == "0A":
                        return True
        return False

    def close(self):
        with self.machine:
            pass
        self.holder.kill()
        self.holder.wait()


class Hosts:
    """A bridge with `count` hosts, 10.77.0.1 and up."""

    def __init__(self, arguments, count=2, mtu=1500):
        self.hosts = []
        run("ip", "link", "add", "switch", "mtu", mtu, "type", "bridge")
        run("ip", "link", "set", "switch", "up")
        for number in range(1, count + 1):
            self.hosts.append(Host(arguments, number, mtu))

    def __enter__(self):
        return self.hosts

    def __exit__(self, *_):
        for host in self.hosts:
            host.close()
        subprocess.run(["ip", "link", "delete", "switch"], check=False)
