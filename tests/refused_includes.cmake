# cmake -D CXX=… -D "ALGORITHMS=…" -D "PROBLEMS=…" -D LAYERS=… -D FOLDER=… -P refused_includes.cmake
#
# Checks that upward includes do not compile, with the include paths of the libraries, and that the test layers finds
# them.
cmake_minimum_required(VERSION 3.25)

# The compiler must find `below` and must not find `above` with these include paths.
function(refuse library paths below above)
  file(WRITE ${FOLDER}/planted.cpp "#if !__has_include(${below})
#error ${below} is not found
#elif __has_include(${above})
#error ${above} is found
#endif
")
  list(REMOVE_ITEM paths "")
  list(TRANSFORM paths PREPEND -I)
  execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only ${paths} ${FOLDER}/planted.cpp RESULT_VARIABLE code
    ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(SEND_ERROR "${library}: ${errors}")
  endif()
endfunction()
refuse(algorithms "${ALGORITHMS}" "<tesela/codelets/dense/gemm.hpp>" "\"tools/app/sizes.hpp\"")
refuse(tools/problems "${PROBLEMS}" "\"tools/app/sizes.hpp\"" "\"tools/commands/dense/direct_solve.hpp\"")

set(tree ${FOLDER}/planted)
file(WRITE ${tree}/algorithms/tesela.hpp "")
file(WRITE ${tree}/algorithms/dense/planted.cpp "#include \"tools/app/sizes.hpp\"\n")
file(WRITE ${tree}/tools/problems/planted.cpp "#include \"tools/commands/dense/direct_solve.hpp\"\n")
execute_process(COMMAND ${CMAKE_COMMAND} -D SOURCE=${tree} -P ${LAYERS} RESULT_VARIABLE code ERROR_VARIABLE found)
foreach(sentence "algorithms/ must not include tools/app/" "tools/problems/ must not include tools/commands/")
  string(FIND "${found}" "${sentence}" at)
  if(code EQUAL 0 OR at EQUAL -1)
    message(SEND_ERROR "layers does not report \"${sentence}\": ${found}")
  endif()
endforeach()
