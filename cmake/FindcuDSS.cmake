# Finds cuDSS, NVIDIA's direct solver for sparse systems. It is no part of the CUDA toolkit: it comes as an archive, as
# a package of a distribution, or as the wheel nvidia-cudss-cu12 or nvidia-cudss-cu13 of PyPI. Set cuDSS_ROOT to the
# folder that holds its `include` and `lib` unless CMake searches that folder by itself.
#
# Sets cuDSS_FOUND and defines cuDSS::cuDSS.

find_path(cuDSS_INCLUDE_DIR NAMES cudss.h)
find_library(cuDSS_LIBRARY NAMES cudss libcudss.so.1 libcudss.so.0)  # wheels have no libcudss.so
mark_as_advanced(cuDSS_INCLUDE_DIR cuDSS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuDSS REQUIRED_VARS cuDSS_LIBRARY cuDSS_INCLUDE_DIR)

if(cuDSS_FOUND AND NOT TARGET cuDSS::cuDSS)
  add_library(cuDSS::cuDSS UNKNOWN IMPORTED)
  set_target_properties(cuDSS::cuDSS PROPERTIES
    IMPORTED_LOCATION "${cuDSS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${cuDSS_INCLUDE_DIR}")
endif()
