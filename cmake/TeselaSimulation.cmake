# tesela-simulated, the simulator of `tesela predict`: the objects of tesela with a second tesela_runtime, whose StarPU
# runs over SimGrid. scripts/setup --simgrid builds this StarPU below .deps/simgrid. All other libraries are tesela's.
set(simgrid ${TESELA_DEPS}/simgrid)
if(NOT TESELA_SIMGRID OR NOT BUILD_SHARED_LIBS OR TESELA_SANITIZE OR NOT PROJECT_IS_TOP_LEVEL OR
   NOT EXISTS ${simgrid}/starpu.stamp)
  return()
endif()
set(search $ENV{PKG_CONFIG_PATH})
set(ENV{PKG_CONFIG_PATH} ${simgrid}/lib/pkgconfig)
pkg_check_modules(STARPU_SIMGRID REQUIRED IMPORTED_TARGET starpu-1.4)
set(ENV{PKG_CONFIG_PATH} "${search}")

set(have_cuda ${TESELA_HAVE_CUDA})
set(TESELA_HAVE_CUDA 0)
configure_file(${PROJECT_SOURCE_DIR}/cmake/config.hpp.in
  ${PROJECT_BINARY_DIR}/include/simulated/tesela/runtime/config.hpp)
set(TESELA_HAVE_CUDA ${have_cuda})

get_target_property(sources tesela_runtime SOURCES)
add_library(tesela_simulated_runtime SHARED ${sources})
set_target_properties(tesela_simulated_runtime PROPERTIES OUTPUT_NAME tesela_runtime
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/simulated
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(tesela_simulated_runtime PRIVATE cxx_std_20)
target_compile_definitions(tesela_simulated_runtime PRIVATE TESELA_SIMULATED=1)
target_compile_options(tesela_simulated_runtime PRIVATE $<$<CONFIG:Release>:-O1>)
target_precompile_headers(tesela_simulated_runtime PRIVATE <algorithm> <filesystem> <fstream> <sstream>
  <tesela/runtime/internal/graph_impl.hpp>)
target_include_directories(tesela_simulated_runtime PRIVATE ${PROJECT_BINARY_DIR}/include/simulated
  ${PROJECT_BINARY_DIR}/include/runtime)
target_link_libraries(tesela_simulated_runtime PRIVATE PkgConfig::STARPU_SIMGRID PkgConfig::HWLOC Threads::Threads
  fmt::fmt-header-only tesela_warnings ${CMAKE_DL_LIBS})

set_source_files_properties(${PROJECT_SOURCE_DIR}/runtime/trace/trace_page.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# Libraries by their files: their targets would bring the other tesela_runtime and the other StarPU.
add_executable(tesela_simulated $<TARGET_OBJECTS:tesela_cli> ${PROJECT_SOURCE_DIR}/runtime/internal/simulated_main.cpp)
set_target_properties(tesela_simulated PROPERTIES OUTPUT_NAME tesela-simulated)
target_link_options(tesela_simulated PRIVATE -Wl,--wrap=main)
target_link_libraries(tesela_simulated PRIVATE tesela_simulated_runtime)
foreach(library problems peers checks app algorithms codelets host tiles)
  target_link_libraries(tesela_simulated PRIVATE $<TARGET_FILE:tesela_${library}>)
  add_dependencies(tesela_simulated tesela_${library})
endforeach()
target_link_libraries(tesela_simulated PRIVATE ${STARPU_SIMGRID_LINK_LIBRARIES} fmt::fmt PkgConfig::OPENBLAS
  tesela_warnings)
if(TESELA_HAVE_CUDA)
  target_link_libraries(tesela_simulated PRIVATE CUDA::cudart CUDA::cublas CUDA::cusolver CUDA::cusparse)
endif()
