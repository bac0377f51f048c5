# SPDX-License-Identifier: Apache-2.0
# Writes the C++ source that holds the page's files as bytes.
# Usage: cmake -DOUTPUT=FILE -DFILES=A;B -P embed_page.cmake
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  # Lines of a length that tools can show; CMake's regular expressions have no repetition counts.
  string(REGEX REPLACE "('.x0a',)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr char kFile${number}[] = {\n${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${name}\", {kFile${number}, sizeof kFile${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Written by exporters/embed_page.cmake from exporters/page/.
#include \"exporters/http_page.h\"

namespace vitrine::exporters {

namespace {

${arrays}
constexpr PageFile kFiles[] = {
${rows}};

}  // namespace

std::span<const PageFile> page_files() { return kFiles; }

}  // namespace vitrine::exporters
")
