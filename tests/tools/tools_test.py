# SPDX-License-Identifier: Apache-2.0
# A check that cannot fail is worth nothing: each one is shown a small tree that breaks its rule, and the same tree mended.
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class Tree(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="marrow-tools-"))
        self.addCleanup(shutil.rmtree, self.root)

    def put(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def check(self, name, *options):
        run = subprocess.run([TOOLS / f"check_{name}", "--root", self.root, *options], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def assert_refused(self, name, *sentences):
        code, text = self.check(name)
        self.assertEqual(code, 1, text)
        for sentence in sentences:
            self.assertIn(sentence, text)

    def assert_accepted(self, name):
        code, text = self.check(name)
        self.assertEqual(code, 0, text)


class Layers(Tree):
    def setUp(self):
        super().setUp()
        self.put("layers.txt", "src/low: <sys/>\nsrc/high: src/low\n")
        self.put("src/low/a.h", "#include <vector>\n#include <stdint.h>\n#include <sys/mman.h>\n")
        self.put("src/high/b.h", '#include "low/a.h"\n#include "high/c.h"\n')
        self.put("src/high/c.h", "")

    def test_accepts_includes_along_the_layers(self):
        self.assert_accepted("layers")

    def test_refuses_an_include_against_the_layers(self):
        self.put("src/low/a.h", '#pragma once\n#include "high/b.h"\n')
        self.assert_refused("layers", "src/low/a.h:2: src/low may not include src/high")

    def test_refuses_a_system_header_that_is_not_listed(self):
        self.put("src/high/c.h", "#include <sys/mman.h>\n#include <infiniband/verbs.h>\n")
        self.assert_refused("layers", "src/high/c.h:1: <sys/mman.h>", "src/high/c.h:2: <infiniband/verbs.h>")

    def test_refuses_a_relative_include(self):
        self.put("src/high/b.h", '#include "c.h"\n')
        self.assert_refused("layers", 'src/high/b.h:1: "c.h" is not a path')

    def test_accepts_a_generated_header_only_of_the_own_folder(self):
        self.put("src/high/CMakeLists.txt", "made.h")
        self.put("src/high/b.h", '#include "high/made.h"\n')
        self.assert_accepted("layers")
        self.put("src/low/a.h", '#include "high/made.h"\n')
        self.assert_refused("layers", 'src/low/a.h:1: "high/made.h" is not a path')

    def test_refuses_a_folder_without_a_rule(self):
        self.put("src/new/d.h", "")
        self.assert_refused("layers", "src/new/d.h:1: no rule")

    def test_refuses_rules_that_could_form_a_ring(self):
        self.put("layers.txt", "src/low: src/high\nsrc/high: src/low\n")
        self.assert_refused("layers", "layers.txt:1: src/high does not stand above src/low")


class Headers(Tree):
    def test_refuses_a_header_that_leans_on_its_includer(self):
        self.put("src/a/a.h", "inline std::string name() { return {}; }\n")
        self.assert_refused("headers", "src/a/a.h:1: does not compile alone with g++")
        self.put("src/a/a.h", "#include <string>\ninline std::string name() { return {}; }\n")
        self.assert_accepted("headers")


class Sizes(Tree):
    @staticmethod
    def function(lines):
        return "int grow(int x) {\n" + "  x += 1;\n" * (lines - 2) + "}\n"

    def test_limits_files(self):
        self.put("src/a.cpp", "int x;\n" * 501)
        self.assert_refused("sizes", "src/a.cpp:1: 501 lines")
        self.put("src/a.cpp", "int x;\n" * 500)
        self.assert_accepted("sizes")

    def test_limits_functions_wherever_they_stand(self):
        wrap = "namespace n {{\nstruct S {{\n{}}};\n}}\n"
        for text, line in ((self.function(81), 1), (wrap.format(self.function(81)), 3)):
            self.put("src/a.cpp", text)
            self.assert_refused("sizes", f"src/a.cpp:{line}: grow() has 81 lines")
        self.put("src/a.cpp", self.function(80))
        self.assert_accepted("sizes")

    def test_braces_in_literals_and_comments_do_not_count(self):
        self.put("src/a.cpp", 'int f() {\n  // }\n  const char* s = "}"; char c = \'}\';\n' + "  s++;\n" * 80 + "}\n")
        self.assert_refused("sizes", "f() has 84 lines")

    def test_exempts_tables(self):
        self.put("src/names_table.h", "int x;\n" * 600)
        self.assert_accepted("sizes")


class Docs(Tree):
    def setUp(self):
        super().setUp()
        self.put("Makefile", "check: build\n")
        self.put("src/a.cpp", "void ring_doorbell() {}\n")
        self.put("docs/one-message.md", "# One\n\n| stop | where |\n|---|---|\n| 1 | `src/a.cpp` `ring_doorbell()` |\n")
        self.put("README.md", "See [one](docs/one-message.md#one).\n```\nmake check\n```\nThis may make sense.\n")

    def test_accepts_what_is_there(self):
        self.assert_accepted("docs")

    def test_refuses_a_function_or_path_that_is_not_there(self):
        self.put("docs/one-message.md", "| 1 | `src/a.cpp` `cx7::gone()` |\n| 2 | `src/b.cpp` `ring_doorbell()` |\n")
        self.assert_refused("docs", "one-message.md:1: gone() is not in src/a.cpp",
                            "one-message.md:2: src/b.cpp does not exist", "one-message.md:2: ring_doorbell() is not in")

    def test_refuses_a_page_that_names_no_code(self):
        self.put("docs/one-message.md", "# One\n\nWords.\n")
        self.assert_refused("docs", "has no table")

    def test_refuses_an_experiment_without_a_section_and_a_section_of_none(self):
        self.put("data/suite/paper.json", '{"experiments": [{"id": "single-op"}, {"id": "goodput"}]}')
        self.put("docs/experiments.md", "# All\n\n## single-op\n\n## godput\n")
        self.assert_refused("docs", "experiments.md:1: has no section '## goodput'", "the section 'godput' is of no")
        self.put("docs/experiments.md", "# All\n\n## single-op\n\n## goodput\n")
        self.assert_accepted("docs")

    def test_refuses_links_to_nowhere(self):
        self.put("README.md", "[a](docs/none.md) [b](docs/one-message.md#two) [c](https://example.org)\n")
        self.assert_refused("docs", "README.md:1: link to docs/none.md", "README.md:1: link to docs/one-message.md#two",
                            "2 problems")

    def test_refuses_a_make_target_that_is_not_there(self):
        self.put("README.md", "Run `make chekc`.\n```\n$ make deom\n```\n")
        self.assert_refused("docs", "README.md:1: 'make chekc' is not in the Makefile", "README.md:3: 'make deom'")


class Words(Tree):
    def test_refuses_forbidden_words(self):
        for word in ("TO" + "DO", "FIX" + "ME", "/wor" + "k/x", "sub" + "agents"):
            self.put("src/a.h", SPDX + f"// {word}\n")
            self.assert_refused("words", f"src/a.h:2: '{word[:6]}")
        self.put("src/a.h", SPDX + "// network/wor" + "k/x of a session\n")
        self.assert_accepted("words")

    def test_refuses_source_without_a_licence_line(self):
        for path in ("src/a.h", "src/CMakeLists.txt", "tools/x.py"):
            with self.subTest(path):
                self.put(path, "\n\n" + SPDX)
                self.assert_refused("words", f"{path}:1: no line 'SPDX")
        self.put("notes.md", "no licence line needed here\n")
        for path in ("src/a.h", "src/CMakeLists.txt", "tools/x.py"):
            self.put(path, SPDX)
        self.assert_accepted("words")


class Format(Tree):
    def test_refuses_and_fixes(self):
        self.put(".clang-format", "BasedOnStyle: Google\n")
        self.put("src/a.h", "int   x;\n")
        code, text = self.check("format")
        if code == 77:
            self.skipTest(text)
        self.assertEqual(code, 1, text)
        self.assertIn("src/a.h:1: not formatted", text)
        self.assertEqual(self.check("format", "--fix")[0], 0)
        self.assert_accepted("format")


class Setup(Tree):
    """Stand-ins for the package tools, first in PATH."""

    def run_setup(self, word, **programs):
        for name, body in programs.items():
            self.put(f"bin/{name.replace('_', '-')}", f"#!/bin/sh\n{body}\n")
            (self.root / "bin" / name.replace("_", "-")).chmod(0o755)
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        shutil.copytree(TOOLS, self.root / "tools", dirs_exist_ok=True)
        run = subprocess.run([self.root / "tools/setup", word], env={**os.environ, "PATH": path}, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    everything = 'for p in "$@"; do echo "ii $p"; done'
    all_but_perftest = 'for p in "$@"; do [ "$p" = perftest ] || echo "ii $p"; done'
    nothing_but_gpp = "echo 'ii g++'; exit 1"  # as dpkg-query ends when it does not know a package

    def test_refuses_an_unknown_set(self):
        self.assertEqual(self.run_setup("everything")[0], 2)

    def test_is_silent_when_nothing_is_missing(self):
        self.assertEqual(self.run_setup("tidy", dpkg_query=self.everything, apt_get="exit 9"), (0, ""))

    def test_without_root_says_what_to_type(self):
        code, text = self.run_setup("build", dpkg_query=self.nothing_but_gpp, apt_get="exit 9", id="echo 1000", sudo="exit 1")
        self.assertEqual(code, 1)
        self.assertIn("try: sudo apt-get install cmake ninja-build", text)
        self.assertNotIn(" perftest", text)

    def test_as_root_installs_what_is_missing_and_nothing_else(self):
        calls = self.root / "calls"
        code, text = self.run_setup("check", dpkg_query=self.all_but_perftest, id="echo 0", apt_cache="exit 0",
                                    apt_get=f'echo "$@" >>{calls}')
        self.assertEqual(code, 0, text)
        self.assertEqual(calls.read_text().split()[-3:], ["install", "--no-install-recommends", "perftest"])
        self.assertEqual(len(calls.read_text().splitlines()), 1, "no update when the lists know the package")

    def test_updates_the_lists_only_when_they_do_not_know_a_package(self):
        calls = self.root / "calls"
        self.run_setup("check", dpkg_query=self.nothing_but_gpp, id="echo 0", apt_cache="exit 100",
                       apt_get=f'echo "$@" >>{calls}')
        self.assertEqual([line.split()[3] for line in calls.read_text().splitlines()], ["update", "install"])

    def test_fails_when_apt_fails(self):
        code, text = self.run_setup("check", dpkg_query=self.nothing_but_gpp, id="echo 0", apt_cache="exit 0", apt_get="exit 100")
        self.assertEqual(code, 1)
        self.assertIn("ibverbs-utils clang-format: failed", text)

    def test_elsewhere_than_debian_takes_what_is_there_or_says_what_is_missing(self):
        def run_alone():
            run = subprocess.run([shutil.which("bash"), TOOLS / "setup", "build"], env={"PATH": str(self.root / "bin")},
                                 capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

        code, text = run_alone()
        self.assertEqual(code, 1)
        self.assertIn("not Debian or Ubuntu", text)
        self.assertIn("  ninja\n", text)
        for name in ("g++", "cmake", "ninja", "pkg-config"):
            self.put(f"bin/{name}", "#!/bin/sh\nexit 0\n")
            (self.root / "bin" / name).chmod(0o755)
        self.assertEqual(run_alone(), (0, ""))


class Step(Tree):
    def step(self, script):
        run = subprocess.run([TOOLS / "step", "building", self.root / "log/x.log", "bash", "-c", script], capture_output=True,
                             text=True)
        return run.returncode, run.stdout

    def test_shows_the_end_of_the_log_only_on_failure(self):
        code, text = self.step("echo noise")
        self.assertEqual((code, text), (0, "building: done in 0 s\n"))
        self.assertEqual((self.root / "log/x.log").read_text(), "noise\n")
        code, text = self.step("seq 100; echo 'no such thing' >&2; exit 3")
        self.assertEqual(code, 3)
        self.assertTrue(text.endswith("  100\n  no such thing\n"), text)
        self.assertNotIn("  50\n", text)


if __name__ == "__main__":
    unittest.main()
