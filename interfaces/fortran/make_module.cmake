# cmake -D HEADER=tesela.h -D OUT=tesela.f90 -P make_module.cmake
#
# Makes the Fortran module `tesela` from tesela.h with iso_c_binding: constants, structs as derived types that
# initialize their size, and an interface of the same name for each function. Handles are type(c_ptr), arrays are
# assumed-size, letters are character, and structs are optional.
cmake_minimum_required(VERSION 3.25)
file(READ ${HEADER} text)
string(REGEX REPLACE "//[^\n]*" "" text "${text}")  # comments stay in the header
string(REGEX REPLACE "\n#[^\n]*" "" text "${text}")
string(REGEX REPLACE "[ \n]+" " " text "${text}")

# Returns the Fortran type of a struct member or parameter.
function(fortran_type variable type)
  if(type STREQUAL "int64_t")
    set(found "integer(c_int64_t)")
  elseif(type STREQUAL "size_t")
    set(found "integer(c_size_t)")
  elseif(type STREQUAL "double")
    set(found "real(c_double)")
  elseif(type STREQUAL "float")
    set(found "real(c_float)")
  elseif(type STREQUAL "tesela_complex_float")
    set(found "complex(c_float_complex)")
  elseif(type STREQUAL "tesela_complex_double")
    set(found "complex(c_double_complex)")
  elseif(type STREQUAL "char")
    set(found "character(kind=c_char)")
  else()
    message(FATAL_ERROR "a type that make_module.cmake does not know: ${type}")
  endif()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# Parameters that a call sets to one number; every other pointer to numbers is an array.
set(scalars m cpus gpus below uncertainty count)

set(constants "")
set(types "")
set(interfaces "")
set(structs "")
set(rest "${text}")
while(rest MATCHES "enum { ([^}]*) }")  # constants
  set(body "${CMAKE_MATCH_1}")
  string(FIND "${rest}" "${CMAKE_MATCH_0}" begin)
  string(LENGTH "${CMAKE_MATCH_0}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(REPLACE "," ";" entries "${body}")
  foreach(entry IN LISTS entries)
    if(NOT entry MATCHES "([A-Z_]+) = (-?[0-9]+)")
      message(FATAL_ERROR "not understood: ${entry}")
    endif()
    string(APPEND constants "  integer(c_int64_t), parameter :: ${CMAKE_MATCH_1} = ${CMAKE_MATCH_2}_c_int64_t\n")
  endforeach()
endwhile()

set(rest "${text}")
while(rest MATCHES "typedef struct ([a-z_]+) { ([^}]*) }")  # each member has 8 bytes
  set(struct ${CMAKE_MATCH_1})
  set(body "${CMAKE_MATCH_2}")
  string(FIND "${rest}" "${CMAKE_MATCH_0}" begin)
  string(LENGTH "${CMAKE_MATCH_0}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  list(APPEND structs ${struct})
  string(REGEX MATCHALL "[a-z_0-9]+[ *]+[a-z_0-9]+ *;" members "${body}")  # a list: `;` disappears
  set(lines "")
  set(count 0)
  string(REPLACE ";" "@" members "${body}")
  string(REGEX MATCHALL "[^@]+@" members "${members}")
  foreach(member IN LISTS members)
    math(EXPR count "${count} + 1")
    if(member MATCHES "\\* ([a-z_0-9]+)@")
      string(APPEND lines "    type(c_ptr) :: ${CMAKE_MATCH_1} = c_null_ptr\n")
    elseif(member MATCHES "size_t size@")
      string(APPEND lines "    integer(c_size_t) :: size = @bytes@\n")
    elseif(member MATCHES "(int64_t|double) ([a-z_0-9]+)@")
      set(name ${CMAKE_MATCH_2})
      set(kind ${CMAKE_MATCH_1})
      fortran_type(type ${kind})
      string(APPEND lines "    ${type} :: ${name} = 0\n")
    else()
      message(FATAL_ERROR "${struct}: not understood: ${member}")
    endif()
  endforeach()
  math(EXPR bytes "8 * ${count}")
  string(REPLACE "@bytes@" "${bytes}" lines "${lines}")
  string(APPEND types "  type, bind(c) :: ${struct}\n${lines}  end type\n\n")
endwhile()

string(REPLACE ";" "@" text "${text}")
string(REGEX MATCHALL "int64_t tesela_[a-z_0-9]+\\([^)]*\\)" functions "${text}")
foreach(function IN LISTS functions)
  string(REGEX MATCH "int64_t (tesela_[a-z_0-9]+)\\(([^)]*)\\)" whole "${function}")
  set(name ${CMAKE_MATCH_1})
  set(parameters "${CMAKE_MATCH_2}")
  set(arguments "")
  set(lines "")
  if(NOT parameters STREQUAL "void")
    string(REPLACE "," ";" parameters "${parameters}")
    foreach(parameter IN LISTS parameters)
      if(NOT parameter MATCHES "^ *(const )?([a-z_0-9]+)(\\**) ([A-Za-z_0-9]+)$")
        message(FATAL_ERROR "${name}: not understood: ${parameter}")
      endif()
      set(const "${CMAKE_MATCH_1}")
      set(type ${CMAKE_MATCH_2})
      set(stars "${CMAKE_MATCH_3}")
      set(argument ${CMAKE_MATCH_4})
      if(argument STREQUAL name)
        string(APPEND argument "_")
      endif()
      list(APPEND arguments ${argument})
      set(intent "inout")
      if(NOT const STREQUAL "")
        set(intent "in")
      endif()
      if(type IN_LIST structs)
        string(APPEND lines "      type(${type}), intent(${intent}), optional :: ${argument}\n")
      elseif(type MATCHES "^tesela_" AND NOT type MATCHES "^tesela_complex_" AND stars STREQUAL "*")
        string(APPEND lines "      type(c_ptr), value :: ${argument}\n")
      elseif(type MATCHES "^tesela_" AND NOT type MATCHES "^tesela_complex_")
        string(APPEND lines "      type(c_ptr), intent(out) :: ${argument}\n")
      else()
        fortran_type(kind ${type})
        if(stars STREQUAL "")
          string(APPEND lines "      ${kind}, value :: ${argument}\n")
        elseif(argument IN_LIST scalars)
          string(APPEND lines "      ${kind}, intent(inout) :: ${argument}\n")
        else()
          string(APPEND lines "      ${kind}, intent(${intent}) :: ${argument}(*)\n")
        endif()
      endif()
    endforeach()
  endif()
  list(JOIN arguments ", &\n        " arguments)
  string(APPEND interfaces "    integer(c_int64_t) function ${name}( &\n        ${arguments}) bind(c)\n      import\n${lines}    end function\n")
endforeach()

file(WRITE ${OUT} "! Tesela's algorithms for Fortran 2018: docs/c.md. Made from tesela.h, which says what each function does.
module tesela
  use, intrinsic :: iso_c_binding
  implicit none

${constants}
${types}  interface
${interfaces}    type(c_ptr) function tesela_error_c() bind(c, name='tesela_error')
      import
    end function
    subroutine tesela_cancel() bind(c)
      import
    end subroutine
  end interface

contains
  !> Returns this thread's message for its last call, empty if that returned 0.
  function tesela_error() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: c(:)
    interface
      integer(c_size_t) function strlen(s) bind(c)
        import
        type(c_ptr), value :: s
      end function
    end interface
    type(c_ptr) :: said
    integer :: i
    said = tesela_error_c()
    call c_f_pointer(said, c, [strlen(said)])
    allocate(character(size(c)) :: text)
    do i = 1, size(c)
      text(i:i) = c(i)
    end do
  end function
end module
")
