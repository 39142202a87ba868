#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The preloaded library: a process with an environment that makes no sense does not start; without MARROW_SIM=1, or when
no device is opened, nobody notices that it is there.

usage: preload_test.py LIBRARY
"""
import os
import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop(1) if len(sys.argv) > 1 else ""


def run(*command, **variables):
    """Result of the command with the library preloaded and MARROW_SIM=1, or as `variables` say."""
    settings = {"MARROW_SIM": "1", "LD_PRELOAD": LIBRARY, **variables}
    words = ["env", *(f"{name}={value}" for name, value in settings.items()), *command]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MARROW_")}
    return subprocess.run(words, env=clean, capture_output=True, text=True, timeout=20, check=False)


class Refusals(unittest.TestCase):
    def refuse(self, name, value, sentence):
        result = run("echo", "started", **{name: value})
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("error: "), result.stderr)
        self.assertIn(sentence, result.stderr)

    def test_an_unknown_variable(self):
        self.refuse("MARROW_SIM_LINKS", "ib", "MARROW_SIM_LINKS is not one that the software NIC knows")

    def test_a_value_that_is_none(self):
        self.refuse("MARROW_SIM_LINK", "fddi", "MARROW_SIM_LINK is 'fddi'")
        self.refuse("MARROW_SIM_SPIN", "sometimes", "MARROW_SIM_SPIN is 'sometimes'")
        self.refuse("MARROW_SIM_SHIFT_MS", "0", "MARROW_SIM_SHIFT_MS")
        self.refuse("MARROW_SIM_STRICT", "maybe", "MARROW_SIM_STRICT is 'maybe'")
        self.refuse("MARROW_SIM_STATS", "2", "MARROW_SIM_STATS is '2'")

    def test_a_domain_that_is_no_name(self):
        self.refuse("MARROW_SIM_DOMAIN", "a/b", "MARROW_SIM_DOMAIN is 'a/b'")
        self.refuse("MARROW_SIM_DOMAIN", "x" * 33, "MARROW_SIM_DOMAIN is 'xxx")

    def test_a_library_without_its_device_tree(self):
        alone = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"marrow_preload_{os.getpid()}.so")
        with open(LIBRARY, "rb") as source, open(alone, "wb") as copy:
            copy.write(source.read())
        try:
            result = run("echo", "started", LD_PRELOAD=alone)
        finally:
            os.unlink(alone)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the device tree of the software NIC is missing", result.stderr)


class Unnoticed(unittest.TestCase):
    def test_switched_off_it_does_not_even_look_at_its_variables(self):
        result = run("echo", "started", MARROW_SIM="0", MARROW_SIM_LINKS="ib")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "started\n", ""))

    def test_a_process_without_devices_says_nothing_and_has_no_thread(self):
        program = "import os; print(os.listdir('/proc/self/task') == [str(os.getpid())])"
        result = run(sys.executable, "-c", program, MARROW_SIM_STATS="1")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "True\n", ""))

    def test_shells_pipes_and_children_work(self):
        result = run("sh", "-c", "printf 'b\\na\\n' | sort | (cat; exit 7)")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, "a\nb\n", ""))

    def test_ls_shows_two_character_devices(self):
        result = run("ls", "-l", "/dev/infiniband")
        self.assertEqual(result.stderr, "")
        self.assertEqual(sum(line.startswith("crw-rw-rw-") for line in result.stdout.splitlines()), 2, result.stdout)

    def test_stats_come_at_the_end_when_asked_for(self):
        program = "import os, time; fd = os.open('/dev/infiniband/uverbs0', os.O_RDWR); time.sleep(0.2)"
        result = run(sys.executable, "-c", program, MARROW_SIM_STATS="1")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("engine: sleeps ", result.stderr)


if __name__ == "__main__":
    unittest.main()
