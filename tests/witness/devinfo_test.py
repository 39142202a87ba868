#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ibv_devinfo -v and ibv_devices show two active ConnectX-7 and nothing else."""
import re

import witness


def test():
    arguments = witness.parse(__doc__)
    witness.waive_without("ibv_devinfo")
    with witness.Machine(arguments) as machine:
        listed = machine.start("ibv_devices").succeed(30)
        names = re.findall(r"^\s+(\S+)\s+[0-9a-f]{16}$", listed, re.M)
        witness.expect(sorted(names) == ["mlx5_sim0", "mlx5_sim1"], f"ibv_devices lists {names}\n{listed}")
        text = machine.start("ibv_devinfo", "-v").succeed(30)
    layer = {"ib": "InfiniBand", "roce": "Ethernet"}[arguments.link]
    for pattern, times in ((r"^hca_id:\s+mlx5_sim[01]$", 2), (r"vendor_part_id:\s+4129$", 2),
                           (r"state:\s+PORT_ACTIVE", 2), (rf"link_layer:\s+{layer}$", 2)):
        found = re.findall(pattern, text, re.M)
        witness.expect(len(found) == times, f"{pattern}: found {len(found)} times, not {times}\n{text}")


witness.main(test)
