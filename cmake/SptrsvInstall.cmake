# Installs the headers and the package that find_package(sptrsv) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The headers alone do not depend on the machine's architecture, the compiled library does.
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/sptrsv")
set(independent ARCH_INDEPENDENT)
if(SPTRSV_BUILD_COMPILED)
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sptrsv")
  set(independent)
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${PROJECT_SOURCE_DIR}/plugins/interop/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/sptrsv")

install(TARGETS sptrsv_headers EXPORT sptrsvTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT sptrsvTargets NAMESPACE sptrsv:: DESTINATION "${package_dir}")
# What a program that links the static library needs beside it.
set(sptrsv_compiled_needs)
set(sptrsv_cxx_runtime)
if(SPTRSV_BUILD_COMPILED)
  install(TARGETS sptrsv_compiled EXPORT sptrsvCompiledTargets)
  install(EXPORT sptrsvCompiledTargets NAMESPACE sptrsv:: DESTINATION "${package_dir}")
  set(private_libs)
  if(NOT BUILD_SHARED_LIBS)
    list(APPEND private_libs ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
    list(REMOVE_ITEM private_libs ${CMAKE_C_IMPLICIT_LINK_LIBRARIES} gcc gcc_s c)
    list(REMOVE_DUPLICATES private_libs)
    set(sptrsv_cxx_runtime "${private_libs}")
    list(TRANSFORM private_libs PREPEND "-l")
    foreach(part cuda openmp)
      if(sptrsv_has_${part})
        list(APPEND sptrsv_compiled_needs ${part})
      endif()
    endforeach()
    if(sptrsv_has_openmp)
      list(APPEND private_libs ${OpenMP_CXX_FLAGS})
    endif()
    if(sptrsv_has_cuda)
      list(APPEND private_libs "-L${CUDAToolkit_LIBRARY_DIR}" -lcudart_static -lpthread -ldl -lrt)
    endif()
  endif()
  list(JOIN private_libs " " private_libs)
  # For users without CMake. A static library's own needs stand in Libs, so that `--static` is not needed for it.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/sptrsv.pc" @ONLY CONTENT "prefix=\${pcfiledir}/../..
Name: sptrsv
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
Libs: -L\${prefix}/@CMAKE_INSTALL_LIBDIR@ -lsptrsv @private_libs@
")
  install(FILES "${PROJECT_BINARY_DIR}/sptrsv.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/sptrsvConfig.cmake.in" "${PROJECT_BINARY_DIR}/sptrsvConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sptrsvConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion  # before 1.0.0 a minor version may change the interface
  ${independent})
install(
  FILES "${PROJECT_BINARY_DIR}/sptrsvConfig.cmake" "${PROJECT_BINARY_DIR}/sptrsvConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/SptrsvDependencies.cmake"
  DESTINATION "${package_dir}")
