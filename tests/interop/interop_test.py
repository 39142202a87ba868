#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The outside witness on the wire: Linux's own soft-RoCE driver in an emulated guest, and programs on the software NIC on the host,
as client and as server, over a TAP link.

usage: interop_test.py --library FILE [--tool FILE] MAKE_GUEST FOLDER
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cx7" / "links"))
import hosts  # noqa: E402
from hosts import witness  # noqa: E402

HOST, GUEST, TAP = "10.78.0.1", "10.78.0.2", "guest0"
FIRST_PORT = 19100
STEP_SECONDS = 120
PROGRAMS = (("ibv_rc_pingpong", "-s 4096 -n 50"), ("ibv_rc_pingpong", "-s 8 -n 50 -e"), ("ib_write_bw", "-s 8 -n 100 -t 16"),
            ("ib_write_bw", "-s 65536 -n 20 -t 4"), ("ib_send_bw", "-s 3000 -n 50 -t 16 -r 32"),
            ("ib_read_bw", "-s 8 -n 50 -t 8 -o 4"), ("ib_read_bw", "-s 10000 -n 10 -t 4 -o 4"), ("ib_atomic_bw", "-n 20 -t 4 -o 4"),
            ("ib_atomic_bw", "-A CMP_AND_SWAP -n 20 -t 4 -o 4"))
# Without -o perftest asks each side's device for as many reads at once as the other's can: soft-RoCE's 128 are too many for
# ours, as for a ConnectX, and it ends with "Failed to modify QP to RTS".


def port_option(program, port, gid):
    return f"-p {port} -g {gid}" if program.startswith("ibv_") else f"-p {port} -x {gid}"


def guest_script():
    """In the guest: of each program first the server, then the client, which waits for the host's server."""
    lines = []
    for number, (program, options) in enumerate(PROGRAMS):
        port = FIRST_PORT + 2 * number
        base = f"timeout {STEP_SECONDS} {program} -d rxe0 {options}"
        lines += [f"echo SERVER_{number}", f"{base} {port_option(program, port, 1)}", f"echo RESULT server {number} $?",
                  f"k=0; while [ $k -lt 60 ]; do k=$((k+1)); {base} {port_option(program, port + 1, 1)} {HOST}",
                  "rc=$?; [ $rc = 0 ] && break; sleep 1; done", f"echo RESULT client {number} $rc"]
    return "\n".join(lines) + "\n"


class Guest:
    def __init__(self, folder, scratch):
        script = os.path.join(scratch, "test.sh")
        with open(script, "w", encoding="ascii") as file:
            file.write(guest_script())
        image = os.path.join(scratch, "image.cpio")
        archive = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], input=b"test.sh\n", cwd=scratch, check=True,
                                 capture_output=True).stdout
        with open(image, "wb") as file, open(os.path.join(folder, "base.cpio"), "rb") as base:
            file.write(base.read() + archive)
        self.text = ""
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "512",
             "-nodefaults", "-nographic", "-no-reboot", "-kernel", os.path.join(folder, "vmlinux"), "-initrd", image,
             "-append", "console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check", "-serial", "stdio",
             "-netdev", f"tap,id=n0,ifname={TAP},script=no,downscript=no", "-device", "virtio-net-pci,netdev=n0,romfile="],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.text += line.decode(errors="replace")

    def wait_for(self, mark, seconds):
        deadline = time.monotonic() + seconds
        while mark not in self.text:
            witness.expect(self.process.poll() is None, f"the guest ended without {mark}\n{self.text}")
            witness.expect(time.monotonic() < deadline, f"no {mark} from the guest in {seconds} s\n{self.text}")
            time.sleep(0.05)

    def succeeded(self, role, number):
        """What the guest's program ended with must be 0."""
        self.wait_for(f"RESULT {role} {number} ", STEP_SECONDS)
        time.sleep(0.2)  # the rest of the line
        end = self.text.split(f"RESULT {role} {number} ")[1].split("\n")[0].strip()
        witness.expect(end == "0", f"the guest's {role} of {' '.join(PROGRAMS[number])} ended with {end}\n{self.text}")

    def close(self):
        self.process.kill()
        self.process.wait()


def on_host(machine, number, guest):
    program, options = PROGRAMS[number]
    words = [program, "-d", "mlx5_sim0", *options.split()]
    port = FIRST_PORT + 2 * number
    guest.wait_for(f"SERVER_{number}", STEP_SECONDS)
    deadline = time.monotonic() + STEP_SECONDS
    while True:  # until the guest's server listens
        client = machine.start(*words, *port_option(program, port, 0).split(), GUEST)
        if client.finish(STEP_SECONDS) == 0:
            break
        early = "Couldn't connect" in client.output
        witness.expect(early and time.monotonic() < deadline, f"{client} against the guest:\n{client.output}\n{guest.text}")
        time.sleep(0.5)
    guest.succeeded("server", number)
    server = machine.start(*words, *port_option(program, port + 1, 0).split())
    server.succeed(STEP_SECONDS)
    guest.succeeded("client", number)
    print(f"{program} {options}: both ways", flush=True)


def test():
    arguments = witness.parse(__doc__, make_guest={}, folder={})
    with tempfile.TemporaryDirectory() as scratch, witness.Machine(arguments) as machine:
        machine.environment.pop("MARROW_SIM_LINK")
        machine.environment["MARROW_SIM_UDP"] = HOST
        made = subprocess.run(["ip", "tuntap", "add", "dev", TAP, "mode", "tap"], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            hosts.waive(f"no TAP link can be made here: {made.stderr.strip()}")
        hosts.run("ip", "address", "add", f"{HOST}/24", "dev", TAP)
        hosts.run("ip", "link", "set", TAP, "up")
        hosts.run("ip", "link", "set", "lo", "up")
        guest = Guest(arguments.folder, scratch)
        try:
            guest.wait_for("GUEST_READY", 600)
            for number in range(len(PROGRAMS)):
                on_host(machine, number, guest)
            guest.wait_for("GUEST_DONE", 30)
        finally:
            guest.close()


def make_guest():
    """Before the namespaces: downloading needs the network."""
    if os.environ.get(hosts.MARK):
        return
    arguments = witness.parse(__doc__, make_guest={}, folder={})
    done = subprocess.run([arguments.make_guest, arguments.folder], check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)


make_guest()
hosts.enter()
witness.main(test)
