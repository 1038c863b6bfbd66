# cmake -D OUT=… -D FOLDER=… -D D3=… -P page_parts.cmake
#
# Writes the fixed parts of a trace page as C++ strings: style, script, and D3 with its licence, empty if D3 is "".
cmake_minimum_required(VERSION 3.25)

function(read_parts result)
  set(all "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    string(APPEND all "${text}")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

read_parts(style ${FOLDER}/page.css)
read_parts(script ${FOLDER}/data.js ${FOLDER}/schedule.js ${FOLDER}/sections.js)
set(d3 "")
if(D3)
  read_parts(d3 ${FOLDER}/d3_licence.js ${D3})
endif()
file(WRITE ${OUT} "#include <tesela/runtime/internal/page_parts.hpp>\n\nnamespace tesela::detail {\n"
  "const char* const page_style = R\"tesela(${style})tesela\";\nconst char* const page_script = R\"tesela(${script})tesela\";\n"
  "const char* const page_d3 = R\"tesela(${d3})tesela\";\n}  // namespace tesela::detail\n")
