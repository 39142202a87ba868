# SPDX-License-Identifier: Apache-2.0
# Writes measure/paper_data.h: the text of each data/paper/*.json as one string literal.
string(REPLACE " " ";" FILES "${FILES}")
set(text "// Made from data/paper/*.json by embed_paper.cmake; edit those.\n#pragma once\n")
string(APPEND text "#include <array>\n#include <string_view>\nnamespace marrow::measure {\n")
list(LENGTH FILES count)
string(APPEND text "inline constexpr std::array<std::string_view, ${count}> kPaperFiles{\n")
foreach(file IN LISTS FILES)
  file(READ ${file} content)
  string(APPEND text "R\"json(${content})json\",\n")
endforeach()
string(APPEND text "};\n}  // namespace marrow::measure\n")
file(WRITE ${OUT} "${text}")
