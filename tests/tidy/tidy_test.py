#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that tidy.py finds each fault that it is there to find, and leaves sound code alone."""

import pathlib
import unittest

import tidy

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def faults(name, text, licence=LICENCE):
    return [rule for _, rule in tidy.check_file(pathlib.Path(name), licence + text)]


class TidyFinds(unittest.TestCase):
    def test_sound_code_has_no_faults(self):
        code = '#include "shm/snapshot.h"\n' "int twice(int x) { return 2 * x; }\n"
        self.assertEqual(faults("tools/twice.cc", code), [])

    def test_an_include_across_the_layers(self):
        for name, target in [("shm/a.h", "engine/job.h"), ("kernels/a.h", "shm/words.h"),
                             ("tools/a.cc", "engine/job.h"), ("exporters/a.cc", "tools/b.h"),
                             ("engine/a.cc", "tests/b.h"), ("tools/a.cc", "shm/table_writer.h")]:
            self.assertEqual(len(faults(name, f'#include "{target}"\n')), 1, (name, target))

    def test_the_engine_and_tests_may_write_the_segment(self):
        for name in ["engine/a.cc", "tests/shm/a_test.cc"]:
            self.assertEqual(faults(name, '#include "shm/segment_writer.h"\n'), [])

    def test_a_long_function(self):
        body = "  ++x;\n" * 70
        found = faults("shm/a.cc", "void grow(int& x) {\n" + body + "}\n")
        self.assertIn("function grow of 72 lines (at most 70)", found)

    def test_a_long_member_of_a_template_with_initialisers(self):
        body = "    ++x_;\n" * 70
        code = "template <class T>\nstruct A {\n  A(T t) : x_{t} {\n" + body + "  }\n  T x_;\n};\n"
        self.assertTrue(any("lines (at most 70)" in rule for rule in faults("shm/a.h", code)))

    def test_too_many_parameters(self):
        code = "int f(int a, std::map<int, int> b, int c, int d, int e, int g) { return 0; }\n"
        self.assertIn("function f of 6 parameters (at most 5)", faults("shm/a.cc", code))

    def test_long_files_and_lines(self):
        self.assertTrue(faults("shm/a.h", "int x;\n" * 501))
        self.assertTrue(faults("shm/a.h", "// " + "x" * 100 + "\n"))

    def test_names_that_say_nothing_and_missing_licences(self):
        self.assertTrue(faults("shm/util.h", ""))
        self.assertTrue(faults("engine/common/a.h", ""))
        self.assertTrue(faults("shm/a.h", "int x;\n", licence=""))

    def test_test_names_that_ctest_would_not_run(self):
        for name in ["one; two", "-a", 'one"\n          "; two']:
            self.assertEqual(len(faults("tests/shm/a_test.cc", f'TEST_CASE("{name}") {{}}\n')), 1)
        self.assertEqual(faults("tests/shm/a_test.cc", 'TEST_CASE("one, two") { f(";"); }\n'), [])

    def test_braces_in_strings_and_comments_do_not_count(self):
        code = 'void f() { g("}{{{"); }  // }}}\n' * 2
        self.assertEqual(faults("shm/a.cc", code), [])


if __name__ == "__main__":
    unittest.main()
