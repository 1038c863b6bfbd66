# Run by CPack before it packs the components: adds Debian's files to each (copyright, changelog) and compresses manual
# pages.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or SOURCE_DATE_EPOCH
foreach(component IN ITEMS LIBRARY DEV COMMAND)
  string(TOLOWER ${component} folder)
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/${folder})
  set(package ${CPACK_DEBIAN_${component}_PACKAGE_NAME})
  set(documents ${folder}/usr/share/doc/${package})
  if(NOT IS_DIRECTORY ${folder}/usr)
    message(FATAL_ERROR "nothing is installed for ${package} in ${folder}")
  endif()

  file(READ ${CPACK_TESELA_SOURCE}/LICENSE licence)
  string(REGEX REPLACE "^BSD[^\n]*\n\n[^\n]*\n\n" "" licence "${licence}")
  string(REGEX REPLACE "\n\n" "\n.\n" licence "${licence}")
  string(REGEX REPLACE "\n(.)" "\n \\1" licence "${licence}")
  set(copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tesela

Files: *
Copyright: 2026, the Tesela authors
License: BSD-3-Clause
 ${licence}")
  if(component STREQUAL LIBRARY)
    # The private libraries, and code that is compiled in.
    configure_file(${CPACK_TESELA_SOURCE}/NOTICE ${documents}/NOTICE COPYONLY)
    configure_file(${CPACK_TESELA_DEPS}/include/ducc0/LICENCE ${documents}/ducc COPYONLY)
    file(GLOB private ${folder}/usr/lib/tesela/* ${folder}/usr/lib/*/tesela/*)
    execute_process(COMMAND strip --strip-unneeded ${private} COMMAND_ERROR_IS_FATAL ANY)
    if(private MATCHES "libopenblas")
      configure_file(${CPACK_TESELA_DEPS}/openblas.licence ${documents}/openblas COPYONLY)
      string(APPEND copyright "
Files: usr/lib/*/tesela/libopenblas.so.0
Copyright: 2011-2014, the OpenBLAS project
 1992-2013, the University of Tennessee and others (LAPACK)
License: OpenBLAS
 BSD-3-Clause for OpenBLAS and LAPACK, GPL-3+ with the GCC Runtime Library Exception for GCC's libraries in it. The
 texts are in /usr/share/doc/${package}/openblas.
")
    endif()
    if(private MATCHES "libstarpu")
      if(EXISTS ${CPACK_TESELA_STARPU}/src/starpu/debian/copyright)
        configure_file(${CPACK_TESELA_STARPU}/src/starpu/debian/copyright ${documents}/starpu COPYONLY)
      endif()
      string(APPEND copyright "
Files: usr/lib/*/tesela/libstarpu*
Copyright: 2008-2025, Université de Bordeaux, CNRS, INRIA and others
License: LGPL-2.1+
 /usr/share/common-licenses/LGPL-2.1 has the text. Tesela's source has the changes in scripts/patches.
")
    endif()
  endif()
  if(NOT component STREQUAL DEV)
    # dpkg-shlibdeps finds Debian's OpenBLAS too. CPack removes this file.
    file(WRITE ${folder}/debian/shlibs.local "libopenblas 0\n")
  endif()
  if(EXISTS ${folder}/usr/share/zsh/site-functions)  # Debian's zsh reads another folder
    file(RENAME ${folder}/usr/share/zsh/site-functions ${folder}/usr/share/zsh/vendor-completions)
  endif()
  file(WRITE ${documents}/copyright "${copyright}")
  file(WRITE ${documents}/changelog "tesela (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md of the source.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB_RECURSE texts ${folder}/usr/share/man/man*/*.[1-9])
  foreach(text IN LISTS texts ITEMS ${documents}/changelog)
    execute_process(COMMAND gzip -9nf ${text} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(GLOB_RECURSE texts LIST_DIRECTORIES false ${folder}/usr/share/*)
  foreach(text IN LISTS texts)
    file(CHMOD ${text} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endforeach()
endforeach()
