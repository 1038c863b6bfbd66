# cmake -D SOURCE=… -D BINARY=… -D PYTHON=… -P python_wheel.cmake
#
# Checks that a wheel built by pip from this tree and its compiled files is sufficient: a program runs with it in
# another folder, without LD_LIBRARY_PATH.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${PYTHON} -c "import scikit_build_core, nanobind" RESULT_VARIABLE missing ERROR_QUIET)
if(missing)
  message("skipped: no scikit-build-core here")
  return()
endif()

function(run expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH --unset=PYTHONPATH ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors WORKING_DIRECTORY ${work})
  if(NOT status EQUAL 0 OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN}: ${status}, not `${expected}`:\n${output}\n${errors}")
  endif()
endfunction()

set(work ${BINARY}/tests/wheel)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
# scikit-build-core configures the build folder for itself, so its cache is restored.
file(COPY ${BINARY}/CMakeCache.txt DESTINATION ${work})
execute_process(COMMAND ${PYTHON} -m pip --no-cache-dir wheel ${SOURCE} -q --no-deps --no-index --no-build-isolation
    -w ${work} -C build-dir=${BINARY}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output WORKING_DIRECTORY ${work})
file(COPY ${work}/CMakeCache.txt DESTINATION ${BINARY})
execute_process(COMMAND ${CMAKE_COMMAND} ${BINARY} OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "pip wheel: ${output}")
endif()

file(GLOB wheel ${work}/tesela-*.whl)
file(SIZE ${wheel} bytes)
if(bytes GREATER 62914560)
  message(FATAL_ERROR "${wheel} has ${bytes} bytes, more than 60 MiB")
endif()
run("" ${PYTHON} -m pip install -q --no-deps --no-index --target ${work}/site ${wheel})
file(GLOB all RELATIVE ${work}/site/tesela ${work}/site/tesela/*)
foreach(file __init__.py _tesela.pyi py.typed)
  if(NOT file IN_LIST all)
    message(FATAL_ERROR "${wheel} has no ${file}, but ${all}")
  endif()
endforeach()
file(WRITE ${work}/program.py "import numpy as np, tesela
r = tesela.lstsq(np.ones((5, 2)), np.arange(5.0))
print(tesela._tesela.__file__)
print(r.rank, r.x)
")
run("^${work}/site/tesela/_tesela[^\n]*\n1 .1. 1..\n$" ${CMAKE_COMMAND} -E env PYTHONPATH=${work}/site ${PYTHON} program.py)
