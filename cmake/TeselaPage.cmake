# The page of `--report`, compiled into the runtime's library. D3 3 is Debian's libjs-d3. Without it the library has no
# pages, and a request for one is an error that names the package.
find_file(TESELA_D3 d3.min.js PATHS /usr/share/javascript/d3 NO_DEFAULT_PATH)
mark_as_advanced(TESELA_D3)
set(d3 "")
if(TESELA_D3)
  file(READ ${TESELA_D3} begin LIMIT 1000)
  if(NOT begin MATCHES "version: *\"3[.]")
    message(FATAL_ERROR "TESELA_D3=${TESELA_D3} is not D3 3, which Debian's libjs-d3 contains")
  endif()
  set(d3 ${TESELA_D3})
else()
  message(STATUS "Tesela: no reports (--report), since no D3 was found (libjs-d3; scripts/setup installs it)")
endif()
set(page ${PROJECT_SOURCE_DIR}/runtime/internal/page)
set(parts ${PROJECT_BINARY_DIR}/page_parts.cpp)
add_custom_command(OUTPUT ${parts}
  COMMAND ${CMAKE_COMMAND} -D OUT=${parts} -D FOLDER=${page} -D "D3=${d3}" -P ${PROJECT_SOURCE_DIR}/cmake/page_parts.cmake
  DEPENDS ${page}/page.css ${page}/data.js ${page}/schedule.js ${page}/sections.js ${page}/d3_licence.js ${d3}
    ${PROJECT_SOURCE_DIR}/cmake/page_parts.cmake)
target_sources(tesela_runtime PRIVATE ${parts})

find_package(fmt REQUIRED)            # trace_picture.cpp
find_package(nlohmann_json REQUIRED)  # trace_page.cpp
target_link_libraries(tesela_runtime PRIVATE
  $<BUILD_INTERFACE:fmt::fmt-header-only> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
