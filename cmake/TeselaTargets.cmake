configure_file(${PROJECT_SOURCE_DIR}/cmake/config.hpp.in ${PROJECT_BINARY_DIR}/include/runtime/config.hpp)

# The umbrella header includes every algorithm there is.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/algorithms/*.hpp)
list(TRANSFORM headers PREPEND "#include \"")
list(TRANSFORM headers APPEND "\"\n")
string(JOIN "" headers ${headers})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/tesela/tesela.hpp
     CONTENT "#pragma once\n\n// Every algorithm of Tesela, with all that writing another one needs.\n@headers@" @ONLY)

# Our own code compiles without a warning.
add_library(tesela_warnings INTERFACE)
target_compile_options(tesela_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
if(TESELA_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TESELA_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${TESELA_SANITIZE})
  if(TESELA_SANITIZE MATCHES undefined)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
endif()

# What every test runs with. hwloc loads plugins that leak and unloads them, and a leak without a name cannot be
# suppressed: with sanitizers it goes without.
set(TESELA_TEST_ENVIRONMENT "STARPU_SILENT=1" "STARPU_HOME=${PROJECT_BINARY_DIR}")
if(TESELA_SANITIZE)
  list(APPEND TESELA_TEST_ENVIRONMENT "HWLOC_PLUGINS_PATH=${PROJECT_BINARY_DIR}/no-plugins")
  # A test that asks for more memory than there is wants malloc's answer, not a report.
  list(APPEND TESELA_TEST_ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1")
  # What StarPU's reader of traces and the GPU's driver keep is not ours to free.
  list(APPEND TESELA_TEST_ENVIRONMENT "LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp")
endif()

# tesela_library(FOLDER DEPENDENCIES…): the library of one folder, from all the sources in it. It can include the
# folders it names and nothing above them.
function(tesela_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cu)
  if(TESELA_HAVE_CUDA)
    list(APPEND sources ${cuda_sources})
  endif()
  if(sources)
    add_library(tesela_${folder} ${sources})
    set(scope PUBLIC)
    target_link_libraries(tesela_${folder} PRIVATE $<BUILD_INTERFACE:tesela_warnings>)
    target_compile_definitions(tesela_${folder} PRIVATE TESELA_WITH_CUDA=${TESELA_HAVE_CUDA})
    set_target_properties(tesela_${folder} PROPERTIES POSITION_INDEPENDENT_CODE ON
      INSTALL_RPATH "$ORIGIN;${STARPU_PREFIX}/lib")
  else()
    add_library(tesela_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tesela::${folder} ALIAS tesela_${folder})
  set_target_properties(tesela_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_compile_features(tesela_${folder} ${scope} cxx_std_20)
  target_include_directories(tesela_${folder} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tesela>)
  foreach(dependency ${ARGN})
    target_link_libraries(tesela_${folder} ${scope} tesela_${dependency})
  endforeach()
endfunction()
