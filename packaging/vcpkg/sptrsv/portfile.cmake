# The port of sptrsv for vcpkg. It builds the checkout that it is in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS options
  FEATURES
    compiled SPTRSV_BUILD_COMPILED
    cuda SPTRSV_ENABLE_CUDA)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${options}
    -DSPTRSV_BUILD_TESTS=OFF
    -DSPTRSV_BUILD_EXAMPLES=OFF
    -DSPTRSV_BUILD_BENCHMARKS=OFF
    -DSPTRSV_WITH_OPENMP=OFF)
vcpkg_cmake_install()
if("compiled" IN_LIST FEATURES)
  vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/sptrsv)
else()
  vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/sptrsv)
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
