#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libvitrine.so.0 as it is installed: what it exports, that its ABI stands, and that programs build
against it with pkg-config, with CMake and from Rust.

Usage: library_test.py BUILD SOURCE [abi|rust|renew]. With a word only that test, which prints
`not tested: WHY` when the host has no tool for it; `renew` writes the ABI dump anew.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = SOURCE = None
COMMITTED_ABI = "tests/system/abi/libvitrine.abi"
CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(vitrine 0.1 REQUIRED)
add_executable(read_status {source}/docs/examples/read_status.c)
target_link_libraries(read_status PRIVATE vitrine::vitrine)
"""


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=100, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words[0]} ended in {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    """A prefix of the test's own with the library's files."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="vitrine-test-")
        cls.scratch = pathlib.Path(cls.folder.name)
        cls.prefix = cls.scratch / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "library")
        cls.library = next(cls.prefix.glob("lib*/**/libvitrine.so"))
        cls.environment = dict(os.environ, LD_LIBRARY_PATH=str(cls.library.parent))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def looks_at_nothing(self, program):
        """The program works: it says that there is no such segment."""
        done = subprocess.run([program, "main", "/dev/shm/vitrine-test-nothing"], timeout=60,
                              capture_output=True, text=True, env=self.environment, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("exit code 3", done.stdout)


class Library(Installed):
    def test_exports_the_functions_of_its_header_and_nothing_else(self):
        header = (SOURCE / "shm/vitrine.h").read_text(encoding="utf-8")
        declared = set(re.findall(r"^VITRINE_API [^;(]*?(vitrine_\w+)\(", header, re.M))
        lines = run("nm", "-D", "--defined-only", self.library).splitlines()
        exported = {line.split()[-1] for line in lines}
        self.assertIn("VITRINE_0", exported)
        self.assertEqual({name for name in exported if name != "VITRINE_0"},
                         {name + "@@VITRINE_0" for name in declared})
        self.assertGreater(len(declared), 50)

    def test_has_the_name_that_programs_ask_for(self):
        self.assertIn("[libvitrine.so.0]", run("readelf", "-d", self.library))
        self.assertTrue((self.library.parent / "libvitrine.so.0").exists())

    def test_builds_a_program_with_pkg_config(self):
        environment = dict(self.environment, PKG_CONFIG_PATH=self.library.parent / "pkgconfig")
        flags = run("pkg-config", "--cflags", "--libs", "vitrine", env=environment).split()
        program = self.scratch / "by_pkg_config"
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic",
            SOURCE / "docs/examples/read_status.c", "-o", program, *flags)
        self.looks_at_nothing(program)

    def test_builds_a_program_with_find_package(self):
        project = self.scratch / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(CMAKE_PROJECT.format(source=SOURCE))
        run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", project / "build")
        self.looks_at_nothing(project / "build/read_status")


class Abi(Installed):
    def dump(self, out):
        run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
            "--no-elf-needed", "--exported-interfaces-only", "--drop-private-types",
            "--headers-dir", self.prefix / "include", "--out-file", out, self.library.resolve())

    def test_is_the_committed_one(self):
        if shutil.which("abidiff") is None or platform.machine() != "x86_64":
            print("not tested: no abidiff (Debian package abigail-tools), or not x86-64")
            return
        now = self.scratch / "libvitrine.abi"
        self.dump(now)
        run("abidiff", SOURCE / COMMITTED_ABI, now)


class RenewedAbi(Abi):
    def test_is_the_committed_one(self):
        committed = SOURCE / COMMITTED_ABI
        self.dump(committed)
        committed.write_text(committed.read_text().replace(f"{SOURCE.resolve()}/", ""))


class Rust(Installed):
    def test_publishes_a_job(self):
        compiler = shutil.which("rustc")
        if compiler is None:
            print("not tested: no rustc")
            return
        program = self.scratch / "publish_jobs_rs"
        source = SOURCE / "docs/examples/publish_jobs.rs"
        run(compiler, "--edition", "2021", "-D", "warnings", source, "-o", program,
            "-L", f"native={self.library.parent}", "-l", "dylib=vitrine")
        with tempfile.TemporaryDirectory(prefix="vitrine-test-", dir="/dev/shm") as folder:
            segment = pathlib.Path(folder) / "rust.segment"
            done = subprocess.run([program, "rust", segment], timeout=60, capture_output=True,
                                  text=True, env=self.environment, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("vitrine 0.", done.stdout)
            shown = subprocess.run([BUILD / "bin/vitrine", "jobs", "--segment", segment],
                                   timeout=60, capture_output=True, text=True, check=False)
            self.assertEqual(shown.returncode, 4, shown.stderr)
            self.assertIn("crab", shown.stdout)


if __name__ == "__main__":
    BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    chosen = {"abi": Abi, "renew": RenewedAbi, "rust": Rust}.get(word, Library)
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(chosen))
    sys.exit(not result.wasSuccessful())
