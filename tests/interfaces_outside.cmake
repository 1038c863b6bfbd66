# Included by install_and_build_outside.cmake: C and Fortran programs that use the prefix.
find_program(CC NAMES cc gcc clang)
find_program(GFORTRAN gfortran)
set(strict -std=c99 -Wall -Wpedantic -Werror)
set(examples ${SOURCE}/interfaces/c/examples)

# With find_package.
run(0 "" ${CMAKE_COMMAND} -S ${examples} -B ${work}/c -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_C_COMPILER=${CC} -D CMAKE_BUILD_TYPE=${CONFIG} -D "CMAKE_C_FLAGS=${FLAGS}")
run(0 "" ${CMAKE_COMMAND} --build ${work}/c --config ${CONFIG})
stop_if_failed()
run(0 "rank deficient +rank 6, residual norm 1.6e-05, coefficients -0.001978 and -0.001978\n" ${work}/c/gels)
run(0 "amplitude  0.50 -0.25i\n" ${work}/c/zgels)
run(0 "rounding\n" ${work}/c/graph)
run(0 "64 eigenvalues below 0.25, the last 0.246180; 64 counted" ${work}/c/eigenvalue_count)

# With pkg-config, as C and as C++, without warnings.
run(0 "-ltesela_c" pkg-config --cflags --libs tesela_c)
separate_arguments(c_flags UNIX_COMMAND "${output}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
run(0 "" ${CC} ${flags} ${strict} ${examples}/graph.c -o ${work}/graph ${c_flags} -lm)
run(0 "rounding\n" ${work}/graph)
file(WRITE ${work}/header.c "#include <tesela.h>\nint main(void) { return tesela_stop() != 0; }\n")
run(0 "" ${CC} ${flags} ${strict} -Wextra ${work}/header.c -o ${work}/header ${c_flags})
run(0 "" ${work}/header)
run(0 "" ${CXX} ${flags} -x c++ -Wall -Wpedantic -Werror ${work}/header.c -o ${work}/header ${c_flags})
run(0 "" ${work}/header)

# The library exports only names that begin with tesela_.
if(EXISTS ${prefix}/lib/libtesela_c.so)
  execute_process(COMMAND nm -D --defined-only -P ${prefix}/lib/libtesela_c.so OUTPUT_VARIABLE symbols)
  string(REGEX MATCHALL "(^|\n)[^\n ]+ T" symbols "${symbols}")
  list(FILTER symbols EXCLUDE REGEX "tesela_[a-z_0-9]+ T|_init T|_fini T")
  if(NOT symbols STREQUAL "")
    message("FAILED: libtesela_c exports ${symbols}")
    math(EXPR failures "${failures} + 1")
  endif()
endif()

if(GFORTRAN)
  run(0 "" ${GFORTRAN} ${flags} -std=f2018 -Wall -Werror ${prefix}/include/tesela.f90
    ${SOURCE}/interfaces/fortran/examples/gels.f90 -o ${work}/gels_fortran ${c_flags})
  run(0 "rank 6, coefficients -0.001978 and -0.001978\n" ${work}/gels_fortran)
else()
  message("skipped: no gfortran here")
endif()
stop_if_failed()
