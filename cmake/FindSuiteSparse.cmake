# Finds CHOLMOD and UMFPACK of SuiteSparse. Older versions (Debian 12 has 5.12) have no CMake packages.
#
# Sets SuiteSparse_FOUND and defines SuiteSparse::CHOLMOD and SuiteSparse::UMFPACK. Libraries that do not link on
# their own (static ones need the rest of SuiteSparse and BLAS) count as not found.

find_path(SuiteSparse_INCLUDE_DIR NAMES umfpack.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparse_CHOLMOD_LIBRARY NAMES cholmod)
find_library(SuiteSparse_UMFPACK_LIBRARY NAMES umfpack)
mark_as_advanced(SuiteSparse_INCLUDE_DIR SuiteSparse_CHOLMOD_LIBRARY SuiteSparse_UMFPACK_LIBRARY)

if(SuiteSparse_INCLUDE_DIR AND SuiteSparse_CHOLMOD_LIBRARY AND SuiteSparse_UMFPACK_LIBRARY)
  include(CheckCXXSourceCompiles)
  include(CMakePushCheckState)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_INCLUDES "${SuiteSparse_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${SuiteSparse_UMFPACK_LIBRARY}" "${SuiteSparse_CHOLMOD_LIBRARY}")
  set(CMAKE_REQUIRED_QUIET TRUE)
  check_cxx_source_compiles([[
    #include <cholmod.h>
    #include <umfpack.h>
    int main() {
      cholmod_common common;
      void* numeric = nullptr;
      umfpack_di_free_numeric(&numeric);
      return cholmod_start(&common) + cholmod_finish(&common);
    }]] SuiteSparse_LINKS)
  cmake_pop_check_state()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SuiteSparse
  REQUIRED_VARS SuiteSparse_UMFPACK_LIBRARY SuiteSparse_CHOLMOD_LIBRARY SuiteSparse_INCLUDE_DIR SuiteSparse_LINKS)

if(SuiteSparse_FOUND)
  foreach(part CHOLMOD UMFPACK)
    if(NOT TARGET SuiteSparse::${part})
      add_library(SuiteSparse::${part} UNKNOWN IMPORTED)
      set_target_properties(SuiteSparse::${part} PROPERTIES
        IMPORTED_LOCATION "${SuiteSparse_${part}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${SuiteSparse_INCLUDE_DIR}")
    endif()
  endforeach()
endif()
