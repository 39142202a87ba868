#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of rdma-core and perftest by transport: each row as two processes, one after the other, to the end.

usage: programs_test.py --library FILE GROUP
"""
import witness

QUICK = ["-n", "100"]
# What each transport can do; the programs themselves refuse the rest.
GROUPS = {
    "pingpong": [
        ("ibv_rc_pingpong", ["-c"]), ("ibv_rc_pingpong", ["-c", "-e"]),
        ("ibv_uc_pingpong", ["-c"]), ("ibv_uc_pingpong", ["-c", "-e"]),
        ("ibv_ud_pingpong", ["-c"]), ("ibv_ud_pingpong", ["-c", "-e"]),
        ("ibv_srq_pingpong", ["-c"]), ("ibv_srq_pingpong", ["-c", "-e"]),
        ("ibv_xsrq_pingpong", []), ("ibv_xsrq_pingpong", ["-e"]),
    ],
    "rc": [
        ("ib_write_bw", ["-q", "4"]), ("ib_write_bw", ["-b"]), ("ib_write_bw", ["-a"]),
        ("ib_write_lat", ["-s", "32", "-I", "64"]),
        ("ib_read_bw", ["-q", "4"]), ("ib_read_bw", ["-b"]), ("ib_read_lat", []),
        ("ib_send_bw", ["-q", "4"]), ("ib_send_bw", ["-b", "-a"]), ("ib_send_lat", ["-s", "32", "-I", "64"]),
        ("ib_atomic_bw", ["-A", "CMP_AND_SWAP"]), ("ib_atomic_bw", ["-q", "4"]), ("ib_atomic_lat", []),
    ],
    "uc": [
        ("ib_write_bw", ["-c", "UC"]), ("ib_write_bw", ["-c", "UC", "-q", "4", "-b"]),
        ("ib_write_lat", ["-c", "UC", "-s", "32", "-I", "64"]),
        ("ib_send_bw", ["-c", "UC"]), ("ib_send_bw", ["-c", "UC", "-q", "4", "-b"]),
        ("ib_send_lat", ["-c", "UC", "-s", "32", "-I", "64"]),
    ],
    "ud": [
        ("ib_send_bw", ["-c", "UD"]), ("ib_send_bw", ["-c", "UD", "-q", "4", "-b"]), ("ib_send_bw", ["-c", "UD", "-a"]),
        ("ib_send_lat", ["-c", "UD", "-s", "32", "-I", "64"]),
    ],
    "srq": [
        ("ib_send_bw", ["--use-srq", "-q", "4"]), ("ib_send_lat", ["--use-srq"]),
        ("ib_send_bw", ["-c", "UC", "--use-srq"]), ("ib_send_bw", ["-c", "UD", "--use-srq"]),
        ("ib_send_lat", ["-c", "UD", "--use-srq"]),
    ],
    "events": [
        ("ib_send_bw", ["-e"]), ("ib_send_lat", ["-e"]), ("ib_send_bw", ["-c", "UD", "-e"]),
        ("ib_send_lat", ["-c", "UD", "-e"]), ("ib_send_lat", ["-c", "UC", "-e"]),
        ("ib_read_bw", ["-e"]), ("ib_read_lat", ["-e"]), ("ib_atomic_bw", ["-e"]), ("ib_atomic_lat", ["-e"]),
    ],
    "xrc": [
        ("ib_write_bw", ["-c", "XRC"]), ("ib_write_lat", ["-c", "XRC"]), ("ib_read_bw", ["-c", "XRC"]),
        ("ib_send_bw", ["-c", "XRC"]), ("ib_send_lat", ["-c", "XRC"]), ("ib_atomic_bw", ["-c", "XRC"]),
    ],
    "dc": [
        ("ib_write_bw", ["-c", "DC"]), ("ib_write_lat", ["-c", "DC"]), ("ib_read_bw", ["-c", "DC"]),
        ("ib_send_bw", ["-c", "DC"]), ("ib_send_lat", ["-c", "DC"]), ("ib_atomic_bw", ["-c", "DC"]),
    ],
}
SECONDS = 60


def test():
    arguments = witness.parse(__doc__, group={"choices": sorted(GROUPS)})
    rows = GROUPS[arguments.group]
    for program in sorted({program for program, _ in rows}):
        witness.waive_without(program)
    with witness.Machine(arguments) as machine:
        for program, options in rows:
            options = options + QUICK + witness.gid_options(program, arguments.link)
            witness.run_pair(machine, program, options, SECONDS)
            print(f"{program} {' '.join(options)}")


witness.main(test)
