# tesela_include_root(FOLDER): makes the include root of one folder, with headers as <tesela/FOLDER/...>, in the tree
# and installed. The root contains only this folder, so that an include of a higher layer fails.
function(tesela_include_root folder)
  set(root ${PROJECT_BINARY_DIR}/include/${folder})
  file(MAKE_DIRECTORY ${root}/tesela)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${root}/tesela/${folder} SYMBOLIC)
endfunction()

configure_file(${PROJECT_SOURCE_DIR}/cmake/config.hpp.in ${PROJECT_BINARY_DIR}/include/config/tesela/runtime/config.hpp)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/algorithms/tesela)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/algorithms/tesela.hpp ${PROJECT_BINARY_DIR}/include/algorithms/tesela/tesela.hpp
     SYMBOLIC)

# Warnings are errors in Tesela's code.
add_library(tesela_warnings INTERFACE)
target_compile_options(tesela_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wno-psabi -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
if(TESELA_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TESELA_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${TESELA_SANITIZE})
  if(TESELA_SANITIZE MATCHES undefined)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
endif()

# The environment of every test. With sanitizers hwloc loads no plugins: it unloads them, and a leak of an unloaded
# plugin has no name and cannot be suppressed.
# Idle threads soon sleep: by default OpenBLAS's wait for 2^26 cycles and StarPU's for milliseconds, on a core that
# another test needs.
set(TESELA_TEST_ENVIRONMENT "STARPU_SILENT=1" "STARPU_HOME=${PROJECT_BINARY_DIR}" "OPENBLAS_THREAD_TIMEOUT=4"
  "STARPU_BACKOFF_MAX=2")
if(TESELA_SANITIZE)
  list(APPEND TESELA_TEST_ENVIRONMENT "HWLOC_PLUGINS_PATH=${PROJECT_BINARY_DIR}/no-plugins")
  # Tests that request more memory than exists need malloc to return null.
  list(APPEND TESELA_TEST_ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1")
  # Suppresses leaks of StarPU's trace reader and the GPU driver.
  list(APPEND TESELA_TEST_ENVIRONMENT "LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp")
endif()

# tesela_library(FOLDER DEPENDENCIES…): makes the library of one folder from all its sources. It can include only the
# folders that it names. A file x_sm90a.cu is compiled for compute capability 9.0 only.
function(tesela_library folder)
  tesela_include_root(${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_(mpi|main).cpp$")  # parts of other libraries and programs
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cu)
  set(sm90a_sources ${cuda_sources})
  list(FILTER sm90a_sources INCLUDE REGEX "_sm90a.cu$")
  list(FILTER cuda_sources EXCLUDE REGEX "_sm90a.cu$")
  if(TESELA_HAVE_CUDA)
    list(APPEND sources ${cuda_sources})
  endif()
  if(TESELA_HAVE_CUDA AND sm90a_sources)
    add_library(tesela_${folder}_sm90a OBJECT ${sm90a_sources})
    get_target_property(options tesela_${folder}_sm90a COMPILE_OPTIONS)
    list(FILTER options EXCLUDE REGEX "=-O1")  # ptxas compiles wgmma with optimization only
    set_target_properties(tesela_${folder}_sm90a PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_ARCHITECTURES 90a-real
      COMPILE_OPTIONS "${options}")
    target_include_directories(tesela_${folder}_sm90a PRIVATE ${PROJECT_BINARY_DIR}/include/${folder})
    foreach(dependency ${ARGN})
      target_link_libraries(tesela_${folder}_sm90a PRIVATE tesela_${dependency})
    endforeach()
    target_link_libraries(tesela_${folder}_sm90a PRIVATE $<BUILD_INTERFACE:tesela_warnings>)
    list(APPEND sources $<TARGET_OBJECTS:tesela_${folder}_sm90a>)
  endif()
  if(sources)
    add_library(tesela_${folder} ${sources})
    set(scope PUBLIC)
    target_link_libraries(tesela_${folder} PRIVATE $<BUILD_INTERFACE:tesela_warnings>)
    set_target_properties(tesela_${folder} PROPERTIES POSITION_INDEPENDENT_CODE ON
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH "$ORIGIN;$ORIGIN/tesela;${TESELA_INSTALL_RPATH}")
  else()
    add_library(tesela_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tesela::${folder} ALIAS tesela_${folder})
  set_target_properties(tesela_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_compile_features(tesela_${folder} ${scope} cxx_std_20)
  target_include_directories(tesela_${folder} ${scope}
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include/${folder}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(dependency ${ARGN})
    target_link_libraries(tesela_${folder} ${scope} tesela_${dependency})
  endforeach()
endfunction()
