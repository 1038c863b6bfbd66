# cmake -D SOURCE=… -D OUT=… -D "FILES=interfaces/c/runtime.cpp;…" -P make_header.cmake
#
# Makes OUT/tesela.h and, for each file, OUT/NAME.cpp with its extern "C" functions. The header contains all of
# interfaces/c/types.h, the text between `extern "C" {` and `}  // extern "C"` in each file, and the comment and the
# parameters of each function that returns Code outside unnamed namespaces. `Code f(…)` becomes tesela_f; after
# `template <class T>` it becomes tesela_sf and tesela_df, with float and double for T, and after `template <Number T>`
# tesela_cf and tesela_zf as well, with un… and he… for LAPACK's or… and sy…. Unchanged files keep their time stamps.
cmake_minimum_required(VERSION 3.25)

# Replaces characters that have a meaning in CMake's lists.
function(read_lines variable file)
  file(READ ${SOURCE}/${file} text)
  string(REPLACE ";" "@semicolon@" text "${text}")
  string(REPLACE "[" "@open@" text "${text}")
  string(REPLACE "]" "@close@" text "${text}")
  string(REPLACE "\\" "@backslash@" text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

function(write file text)
  string(REPLACE "@semicolon@" ";" text "${text}")
  string(REPLACE "@open@" "[" text "${text}")
  string(REPLACE "@close@" "]" text "${text}")
  string(REPLACE "@backslash@" "\\" text "${text}")
  if(EXISTS ${OUT}/${file})
    file(READ ${OUT}/${file} old)
    if(old STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE ${OUT}/${file} "${text}")
endfunction()

# Returns the parameters with C's types and `real` for T; real_t<T> becomes the type of its parts.
function(in_c variable real parameters)
  string(REGEX REPLACE "^tesela_complex_" "" part "${real}")
  string(REPLACE "real_t<T>" "${part}" parameters "${parameters}")
  string(REGEX REPLACE "(^|[^A-Za-z_0-9])T([^A-Za-z_0-9])" "\\1${real}\\2" text "${parameters}")
  string(REGEX REPLACE "(^|[^A-Za-z_0-9])index_t([^A-Za-z_0-9])" "\\1int64_t\\2" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Returns `head` and the parameters in lines of at most 120 characters.
function(in_lines variable head parameters)
  string(REGEX REPLACE "." " " indent "${head}")
  set(text "")
  set(line "${head}")
  string(REPLACE ", " ",;" parts "${parameters}")
  foreach(part IN LISTS parts)
    string(LENGTH "${line} ${part}" length)
    if(length GREATER 120)
      string(APPEND text "${line}\n")
      set(line "${indent}${part}")
    elseif(line STREQUAL head)
      string(APPEND line "${part}")
    else()
      string(APPEND line " ${part}")
    endif()
  endforeach()
  set(${variable} "${text}${line}\n" PARENT_SCOPE)
endfunction()

# Adds a function to `header` and `wrappers`.
macro(add_function name real parameters)
  in_c(typed "${real}" "${parameters}")
  string(REGEX REPLACE "(^|,)[^,]*[ *]([A-Za-z_0-9]+)" "\\1\\2" names "${typed}")
  if(names STREQUAL "void")
    set(names "")
  endif()
  in_lines(prototype "int64_t tesela_${name}(" "${typed})@semicolon@")
  string(APPEND header "${prototype}")
  set(template "")
  if(NOT "${real}" STREQUAL "")
    set(template "<${real}>")
  endif()
  string(REPLACE "," ", " arguments "${names}")
  string(APPEND wrappers "int64_t tesela_${name}(${typed}) {\n"
    "  return tesela::c::guarded(\"tesela_${name}\", \"${names}\",\n"
    "                            [&] { return tesela::c::${function}${template}(${arguments})@semicolon@ })@semicolon@\n}\n")
endmacro()

set(header "/* Tesela's algorithms for C and C++: docs/c.md. Made from interfaces/, which is the place to change it. */
#ifndef TESELA_H
#define TESELA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <complex>

extern \"C\" {
#endif

")
read_lines(lines interfaces/c/types.h)
list(JOIN lines "\n" types)
string(APPEND header "${types}")

foreach(file IN LISTS FILES)
  read_lines(lines ${file})
  set(wrappers "// Made from ${file} by make_header.cmake.\n#include \"${file}\"\n\n#pragma GCC visibility push(default)\nextern \"C\" {\n")
  set(comment "")
  set(templated FALSE)
  set(numbers FALSE)
  set(copying FALSE)
  set(hidden FALSE)
  set(signature "")
  foreach(line IN LISTS lines)
    if(line STREQUAL "namespace {")
      set(hidden TRUE)
    elseif(line STREQUAL "}  // namespace")
      set(hidden FALSE)
    elseif(hidden)
      continue()
    elseif(NOT signature STREQUAL "" OR line MATCHES "^Code [a-z_0-9]+\\(")
      string(STRIP "${line}" stripped)
      string(APPEND signature " ${stripped}")
      if(line MATCHES "\\) {")
        if(NOT signature MATCHES "Code ([a-z_0-9]+)\\(([^)]*)\\) {")
          message(FATAL_ERROR "${file}: not understood: ${signature}")
        endif()
        set(function ${CMAKE_MATCH_1})
        set(parameters "${CMAKE_MATCH_2}")
        if(comment STREQUAL "")
          message(FATAL_ERROR "${file}: ${function} has no comment")
        endif()
        string(APPEND header "\n${comment}")
        if(templated)
          add_function(s${function} float "${parameters}")
          add_function(d${function} double "${parameters}")
          if(numbers)
            string(REGEX REPLACE "^or([gm]qr)" "un\\1" named ${function})
            string(REGEX REPLACE "^sy(ev|gv)" "he\\1" named ${named})
            add_function(c${named} tesela_complex_float "${parameters}")
            add_function(z${named} tesela_complex_double "${parameters}")
          endif()
        else()
          add_function(${function} "" "${parameters}")
        endif()
        set(signature "")
        set(comment "")
        set(templated FALSE)
        set(numbers FALSE)
      endif()
    elseif(copying)
      if(line STREQUAL "}  // extern \"C\"")
        set(copying FALSE)
      else()
        string(APPEND header "${line}\n")
      endif()
    elseif(line STREQUAL "extern \"C\" {" AND NOT file MATCHES "^interfaces/c/")
      set(copying TRUE)
      string(APPEND header "\n")
    elseif(line MATCHES "^///")
      string(APPEND comment "${line}\n")
    elseif(line STREQUAL "template <class T>")
      set(templated TRUE)
    elseif(line STREQUAL "template <Number T>")
      set(templated TRUE)
      set(numbers TRUE)
    else()
      set(comment "")
      set(templated FALSE)
      set(numbers FALSE)
    endif()
  endforeach()
  cmake_path(GET file STEM name)
  write(${name}.cpp "${wrappers}}\n#pragma GCC visibility pop\n")
endforeach()
string(APPEND header "
#ifdef __cplusplus
}
#endif

#endif  /* TESELA_H */
")
write(tesela.h "${header}")
