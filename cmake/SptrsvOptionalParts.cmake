# Finds what the library can do without: a CUDA compiler and OpenMP. SptrsvCommon.cmake finds what the examples
# and benchmarks can do without. Each has a cache variable with the values AUTO (use it if it is there), ON (stop if it
# is not there) and OFF.

function(sptrsv_tristate variable help)
  set(${variable} AUTO CACHE STRING "${help}: AUTO, ON or OFF")
  set_property(CACHE ${variable} PROPERTY STRINGS AUTO ON OFF)
endfunction()

# sptrsv_find_optional(<SUFFIX> <package> [<arguments of find_package>...]): sets sptrsv_has_<suffix>. It is a macro,
# because packages set variables in the caller's scope.
macro(sptrsv_find_optional suffix package)
  sptrsv_tristate(SPTRSV_WITH_${suffix} "Use ${package}")
  string(TOLOWER sptrsv_has_${suffix} sptrsv_has_it)
  set(${sptrsv_has_it} FALSE)
  if(SPTRSV_WITH_${suffix} STREQUAL "AUTO")
    find_package(${package} QUIET ${ARGN})
    set(${sptrsv_has_it} ${${package}_FOUND})
  elseif(SPTRSV_WITH_${suffix})
    find_package(${package} REQUIRED ${ARGN})
    set(${sptrsv_has_it} TRUE)
  endif()
endmacro()

# The architecture of this machine's GPU, else 90, so that developers compile for one architecture only. To build
# binaries for others, set CMAKE_CUDA_ARCHITECTURES.
function(sptrsv_default_cuda_architectures result)
  set(architectures 90)
  find_program(SPTRSV_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(SPTRSV_NVIDIA_SMI)
  if(SPTRSV_NVIDIA_SMI)
    execute_process(
      COMMAND "${SPTRSV_NVIDIA_SMI}" --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE capabilities OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND capabilities MATCHES "^[0-9.\n]+$")
      string(REPLACE "." "" architectures "${capabilities}")
      string(REPLACE "\n" ";" architectures "${architectures}")
      list(REMOVE_DUPLICATES architectures)
    endif()
  endif()
  set(${result} "${architectures}" PARENT_SCOPE)
endfunction()

# Sets sptrsv_has_cuda and prints one line with the result. The language is enabled only if this repository compiles
# something, because the library is an interface target. It is a macro, because languages are enabled at file scope.
macro(sptrsv_find_cuda)
  sptrsv_tristate(SPTRSV_ENABLE_CUDA "Build device code with nvcc")
  set(sptrsv_has_cuda FALSE)
  if(SPTRSV_ENABLE_CUDA)  # AUTO is true, too
    include(CheckLanguage)
    check_language(CUDA)
  endif()

  if(SPTRSV_ENABLE_CUDA AND CMAKE_CUDA_COMPILER)
    if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      sptrsv_default_cuda_architectures(sptrsv_cuda_targets)
      set(CMAKE_CUDA_ARCHITECTURES "${sptrsv_cuda_targets}" CACHE STRING "CUDA architectures")
    endif()
    if(SPTRSV_BUILD_COMPILED OR SPTRSV_BUILD_TESTS OR SPTRSV_BUILD_EXAMPLES OR SPTRSV_BUILD_BENCHMARKS)
      enable_language(CUDA)
    endif()
    find_package(CUDAToolkit REQUIRED)
    set(sptrsv_has_cuda TRUE)

    set(sptrsv_cuda_targets "${CMAKE_CUDA_ARCHITECTURES}")
    list(TRANSFORM sptrsv_cuda_targets REPLACE "^([0-9]+[a-z]?)(-real)?$" "sm_\\1")
    list(JOIN sptrsv_cuda_targets ", " sptrsv_cuda_targets)
    set(sptrsv_built_for)
    if(sptrsv_cuda_targets)
      set(sptrsv_built_for ": device code is built for ${sptrsv_cuda_targets}")
    endif()
    message(STATUS "sptrsv: CUDA ${CUDAToolkit_VERSION} found${sptrsv_built_for}")
  elseif(SPTRSV_ENABLE_CUDA STREQUAL "AUTO")
    message(STATUS "sptrsv: no CUDA compiler: building the host policies and the emulated kernels only")
  elseif(SPTRSV_ENABLE_CUDA)
    message(FATAL_ERROR "sptrsv: SPTRSV_ENABLE_CUDA is ON, but there is no CUDA compiler: put nvcc on PATH, set "
                        "CMAKE_CUDA_COMPILER, or set SPTRSV_ENABLE_CUDA=AUTO")
  else()
    message(STATUS "sptrsv: CUDA is off: building the host policies and the emulated kernels only")
  endif()
endmacro()
