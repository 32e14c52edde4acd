# Installs the headers and the package that find_package(sptrsv) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/sptrsv")  # nothing here depends on the machine's architecture

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/sptrsv")

install(TARGETS sptrsv_headers EXPORT sptrsvTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT sptrsvTargets NAMESPACE sptrsv:: DESTINATION "${package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/sptrsvConfig.cmake.in" "${PROJECT_BINARY_DIR}/sptrsvConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sptrsvConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion  # before 1.0.0 a minor version may change the interface
  ARCH_INDEPENDENT)
install(
  FILES "${PROJECT_BINARY_DIR}/sptrsvConfig.cmake" "${PROJECT_BINARY_DIR}/sptrsvConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/SptrsvDependencies.cmake"
  DESTINATION "${package_dir}")
