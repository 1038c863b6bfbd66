include(CMakePackageConfigHelpers)

# Three components, one for each Debian package (TeselaPackages.cmake): library, command and, by default, dev.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
set(libraries tesela_runtime tesela_tiles tesela_host tesela_codelets tesela_algorithms)
install(TARGETS tesela ${libraries} EXPORT tesela LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
foreach(folder runtime tiles host codelets algorithms)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc" PATTERN internal EXCLUDE PATTERN tesela.hpp EXCLUDE)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/config/tesela/runtime/config.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela/runtime)
install(FILES ${PROJECT_SOURCE_DIR}/algorithms/tesela.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela)
if(TESELA_INSTALLS_STARPU)
  file(GLOB starpu_libraries ${STARPU_PREFIX}/lib/libstarpu-1.4.so* ${STARPU_PREFIX}/lib/libstarpumpi-1.4.so*)
  list(FILTER starpu_libraries EXCLUDE REGEX "[.]so$")  # a link for compilers
  install(FILES ${starpu_libraries} DESTINATION ${TESELA_PRIVATE_LIBDIR} COMPONENT library)
  # StarPU's installation writes the folder of libstarpu into libstarpumpi. Here both are in one folder.
  foreach(library IN LISTS starpu_libraries)
    if(library MATCHES "starpumpi" AND NOT IS_SYMLINK ${library})
      cmake_path(GET library FILENAME name)
      install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${TESELA_PRIVATE_LIBDIR}/${name}\" NEW_RPATH [=[$ORIGIN]=])"
        COMPONENT library)
    endif()
  endforeach()
endif()
install(FILES ${TESELA_INSTALLED_OPENBLAS} DESTINATION ${TESELA_PRIVATE_LIBDIR} COMPONENT library)
if(TARGET tesela_c)  # scripts/demo does not build it
  install(TARGETS tesela_c EXPORT tesela_c OPTIONAL LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
  install(FILES ${PROJECT_BINARY_DIR}/interfaces/tesela.h ${PROJECT_BINARY_DIR}/interfaces/tesela.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} OPTIONAL)
endif()
if(TARGET tesela_mpi)
  install(TARGETS tesela_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endif()
if(TARGET tesela_cli)
  install(TARGETS tesela_cli COMPONENT command)
  install(TARGETS tesela_bench OPTIONAL COMPONENT command)  # if it was built
  foreach(text "bash-completion/completions/tesela" "zsh/site-functions/_tesela" "fish/vendor_completions.d/tesela.fish")
    string(REGEX MATCH "^[a-z]+" kind ${text})
    install(CODE "set(text \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${text}\")
      cmake_path(GET text PARENT_PATH folder)
      file(MAKE_DIRECTORY \"\${folder}\")
      execute_process(COMMAND \"$<TARGET_FILE:tesela_cli>\" completion ${kind} OUTPUT_FILE \"\${text}\"
                      COMMAND_ERROR_IS_FATAL ANY)" COMPONENT command)
  endforeach()
  install(CODE "set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:tesela_cli>\" completion man --dir \"\${folder}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT command)
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
install(EXPORT tesela NAMESPACE tesela:: FILE tesela-targets.cmake DESTINATION ${config_dir})
if(TARGET tesela_c)
  install(EXPORT tesela_c NAMESPACE tesela:: FILE tesela_c-targets.cmake DESTINATION ${config_dir})
endif()
configure_package_config_file(cmake/tesela-config.cmake.in ${PROJECT_BINARY_DIR}/tesela-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesela-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesela-config.cmake ${PROJECT_BINARY_DIR}/tesela-config-version.cmake
  DESTINATION ${config_dir})

# tesela.pc derives its prefix from its folder, so that the installed tree can be moved. It requires no other .pc file,
# which a user's pkg-config might not find: shared libraries load their dependencies, and for static libraries
# tesela.pc contains the flags.
file(RELATIVE_PATH TESELA_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TESELA_PC_PREFIX ${TESELA_PC_PREFIX})
set(TESELA_PC_LIBS "")
foreach(library IN ITEMS algorithms codelets host tiles runtime)
  get_target_property(type tesela_${library} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    string(APPEND TESELA_PC_LIBS " -ltesela_${library}")
  endif()
endforeach()
if(NOT BUILD_SHARED_LIBS)
  list(JOIN STARPU_LDFLAGS " " starpu)
  list(JOIN HWLOC_LDFLAGS " " hwloc)
  list(JOIN OPENBLAS_LDFLAGS " " openblas)
  list(JOIN HWY_LDFLAGS " " hwy)
  string(APPEND TESELA_PC_LIBS " ${TESELA_CSV} ${ZLIB_LIBRARIES} ${starpu} -Wl,-rpath,${STARPU_PREFIX}/lib ${hwloc} ${openblas} ${hwy} -lpthread -l${CMAKE_DL_LIBS}")
  if(TESELA_HAVE_CUDA)
    list(GET CUDAToolkit_LIBRARY_DIR 0 cuda_libraries)
    string(APPEND TESELA_PC_LIBS " -L${cuda_libraries} -Wl,-rpath,${cuda_libraries} -lcudart -lcublas -lcusolver -lcufft")
  endif()
endif()
if(TARGET tesela_c)
  set(TESELA_C_LIBS "")
  if(NOT BUILD_SHARED_LIBS)
    set(TESELA_C_LIBS "${TESELA_PC_LIBS} -lstdc++ -lm")
  endif()
  configure_file(cmake/tesela_c.pc.in ${PROJECT_BINARY_DIR}/tesela_c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tesela_c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
configure_file(cmake/tesela.pc.in ${PROJECT_BINARY_DIR}/tesela.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tesela.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
