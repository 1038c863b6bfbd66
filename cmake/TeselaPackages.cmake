# Debian packages by CPack: `cpack -G DEB` in the build folder, from the three components of TeselaInstall.cmake.
# scripts/deb makes the packages of a release: for cores, with a StarPU without FxT.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT BUILD_SHARED_LIBS)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tesela)
set(CPACK_PACKAGE_CONTACT "Tesela authors <tesela@tesela.invalid>")
if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library dev command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/packaging/deb.cmake)

set(library libtesela${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib ${STARPU_PREFIX}/lib ${TESELA_DEPS}/lib)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/packaging/triggers
  ${PROJECT_BINARY_DIR}/packaging/shlibs)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtesela-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME tesela)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION math)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")
set(text "
Tesela solves least-squares problems, linear systems and eigenproblems
with task graphs of tiles on every core of a machine, by StarPU.")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "The shared libraries.${text}
StarPU and OpenBLAS are in a private folder.")
set(CPACK_DEBIAN_DEV_DESCRIPTION "The headers for C++, C and Fortran.${text}")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "The command tesela, its manual pages and completion.${text}")

# The packages of programs that link our libraries depend on this version.
set(shlibs "")
foreach(name runtime tiles host codelets algorithms c)
  string(APPEND shlibs "libtesela_${name} ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${library} (>= ${PROJECT_VERSION})\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/packaging/shlibs CONTENT "${shlibs}" @ONLY)

# Read by the script that completes the packages.
set(CPACK_TESELA_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_TESELA_STARPU ${STARPU_PREFIX})
set(CPACK_TESELA_DEPS ${TESELA_DEPS})
include(CPack)
