include(CMakePackageConfigHelpers)

set(libraries tesela_runtime tesela_tiles tesela_codelets tesela_algorithms)
install(TARGETS tesela ${libraries} EXPORT tesela)
foreach(folder runtime tiles codelets algorithms)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela
    FILES_MATCHING PATTERN "*.hpp" PATTERN internal EXCLUDE PATTERN tesela.hpp EXCLUDE)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/config/tesela/runtime/config.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela/runtime)
install(FILES ${PROJECT_SOURCE_DIR}/algorithms/tesela.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela)
if(TESELA_INSTALLS_STARPU)
  file(GLOB starpu_libraries ${STARPU_PREFIX}/lib/libstarpu-1.4.so* ${STARPU_PREFIX}/lib/libstarpumpi-1.4.so*)
  install(FILES ${starpu_libraries} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # StarPU's own installation writes the place of libstarpu into libstarpumpi; here both lie in one folder.
  foreach(library IN LISTS starpu_libraries)
    if(library MATCHES "starpumpi" AND NOT IS_SYMLINK ${library})
      cmake_path(GET library FILENAME name)
      install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/${name}\" NEW_RPATH [=[$ORIGIN]=])")
    endif()
  endforeach()
endif()
if(TARGET tesela_mpi)
  install(TARGETS tesela_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET tesela_cli)
  install(TARGETS tesela_cli)
  install(TARGETS tesela_bench OPTIONAL)  # where it was built
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
install(EXPORT tesela NAMESPACE tesela:: FILE tesela-targets.cmake DESTINATION ${config_dir})
configure_package_config_file(cmake/tesela-config.cmake.in ${PROJECT_BINARY_DIR}/tesela-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesela-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesela-config.cmake ${PROJECT_BINARY_DIR}/tesela-config-version.cmake
  DESTINATION ${config_dir})

# tesela.pc finds its prefix from where it stands, so that the tree may be installed or moved anywhere. It requires no
# other .pc file, which a user's pkg-config might not find: shared libraries bring along what they stand on, and for
# static ones the flags stand here.
file(RELATIVE_PATH TESELA_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TESELA_PC_PREFIX ${TESELA_PC_PREFIX})
set(TESELA_PC_LIBS "")
foreach(library IN ITEMS algorithms codelets tiles runtime)
  get_target_property(type tesela_${library} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    string(APPEND TESELA_PC_LIBS " -ltesela_${library}")
  endif()
endforeach()
if(NOT BUILD_SHARED_LIBS)
  list(JOIN STARPU_LDFLAGS " " starpu)
  list(JOIN HWLOC_LDFLAGS " " hwloc)
  list(JOIN OPENBLAS_LDFLAGS " " openblas)
  list(JOIN FFTW_LDFLAGS " " fftw)
  string(APPEND TESELA_PC_LIBS " ${TESELA_CSV} ${starpu} -Wl,-rpath,${STARPU_PREFIX}/lib ${hwloc} ${openblas} ${fftw} -lpthread -l${CMAKE_DL_LIBS}")
  if(TESELA_HAVE_CUDA)
    list(GET CUDAToolkit_LIBRARY_DIR 0 cuda_libraries)
    string(APPEND TESELA_PC_LIBS " -L${cuda_libraries} -Wl,-rpath,${cuda_libraries} -lcudart -lcublas -lcusolver -lcufft")
  endif()
endif()
configure_file(cmake/tesela.pc.in ${PROJECT_BINARY_DIR}/tesela.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tesela.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
