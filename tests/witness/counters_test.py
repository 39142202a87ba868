#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters below /sys are those of the port, exact: after traffic between two processes each of them, and a third one, reads
the same values.

usage: counters_test.py --library FILE witness_one_end
"""
import two_ends
import witness

WRITES = 100
# On the wire, in words of 4 bytes: LRH 2 (InfiniBand alone), BTH 3, RETH 4, AETH 1, ICRC 1; 8 bytes of payload.
LRH = {"ib": 2, "roce": 0}


def path(device, name):
    folder = "counters" if name.startswith(("port_", "unicast_", "link_")) else "hw_counters"
    return f"/sys/class/infiniband/mlx5_sim{device}/ports/1/{folder}/{name}"


def values_after_writes(link):
    request, answer = LRH[link] + 3 + 4 + 2 + 1, LRH[link] + 3 + 1 + 1
    near = {"port_xmit_packets": WRITES, "port_xmit_data": WRITES * request, "port_rcv_packets": WRITES,
            "port_rcv_data": WRITES * answer, "unicast_xmit_packets": WRITES, "rx_write_requests": 0, "req_cqe_error": 0}
    far = {"port_rcv_packets": WRITES, "port_rcv_data": WRITES * request, "port_xmit_packets": WRITES,
           "port_xmit_data": WRITES * answer, "rx_write_requests": WRITES, "rx_read_requests": 0, "out_of_sequence": 0}
    return {(device, name): value for device, names in ((0, near), (1, far)) for name, value in names.items()}


def check(read, wanted, who):
    for (device, name), value in wanted.items():
        got = read(path(device, name))
        witness.expect(got == str(value), f"{who}: {path(device, name)} says {got}, not {value}")


def test():
    arguments = witness.parse(__doc__, program={})
    with witness.Machine(arguments) as machine, two_ends.Pair(machine, arguments.program) as ends:

        def cat(file):
            return machine.start("cat", file).succeed(two_ends.SECONDS).strip()

        witness.expect(ends[0].ask(f"write {WRITES} 8") == "status 0", "writes failed")
        wanted = values_after_writes(arguments.link)
        for end in (0, 1):
            check(lambda file, end=end: ends[end].ask(f"file {file}"), wanted, f"end {end}")
        check(cat, {key: wanted[key] for key in ((0, "port_xmit_data"), (1, "rx_write_requests"))}, "cat")
        witness.expect(ends[0].ask("write-bad") == "status 10", "a write with a wrong key is not refused")
        check(cat, {(0, "req_remote_access_errors"): 1, (0, "req_cqe_error"): 1, (1, "resp_remote_access_errors"): 1,
                    (1, "rx_write_requests"): WRITES + 1, (0, "resp_remote_access_errors"): 0}, "after an error")
        for end in ends:
            end.end()
        witness.expect(cat(path(1, "rx_write_requests")) == "0", "what processes counted that have ended is still there")


witness.main(test)
