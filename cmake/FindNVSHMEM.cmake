# Finds NVSHMEM: in NVSHMEM_ROOT, in the folders of NVIDIA's Debian packages, or in PyPI's nvidia-nvshmem-cu13 of the
# python3 on PATH. Makes the target NVSHMEM::nvshmem, for programs that are compiled as relocatable device code.
if(NOT NVSHMEM_ROOT AND NOT DEFINED ENV{NVSHMEM_ROOT})
  execute_process(
    COMMAND python3 -c "import importlib.util as u; print(list(u.find_spec('nvidia.nvshmem').submodule_search_locations)[0])"
    OUTPUT_VARIABLE nvshmem_of_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_path(NVSHMEM_INCLUDE_DIR nvshmem_host.h HINTS ${nvshmem_of_python} PATH_SUFFIXES include nvshmem_13 nvshmem_12)
# PyPI's package has the host library under its soname only.
find_library(NVSHMEM_HOST_LIBRARY NAMES nvshmem_host libnvshmem_host.so.3 HINTS ${nvshmem_of_python}
  PATH_SUFFIXES lib nvshmem/13 nvshmem/12)
find_library(NVSHMEM_DEVICE_LIBRARY NAMES nvshmem_device HINTS ${nvshmem_of_python}
  PATH_SUFFIXES lib nvshmem/13 nvshmem/12)
mark_as_advanced(NVSHMEM_INCLUDE_DIR NVSHMEM_HOST_LIBRARY NVSHMEM_DEVICE_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NVSHMEM
  REQUIRED_VARS NVSHMEM_HOST_LIBRARY NVSHMEM_DEVICE_LIBRARY NVSHMEM_INCLUDE_DIR)
if(NVSHMEM_FOUND AND NOT TARGET NVSHMEM::nvshmem)
  add_library(NVSHMEM::nvshmem INTERFACE IMPORTED)
  target_include_directories(NVSHMEM::nvshmem SYSTEM INTERFACE "${NVSHMEM_INCLUDE_DIR}")
  target_link_libraries(NVSHMEM::nvshmem INTERFACE "${NVSHMEM_HOST_LIBRARY}" "${NVSHMEM_DEVICE_LIBRARY}"
    CUDA::cuda_driver)
endif()
