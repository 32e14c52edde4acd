# sptrsv_common: what the examples, benchmarks and tests share, for programs that include common/. Programs that include
# common/command_line/command_line.hpp need CLI11. With SuiteSparse the generated matrices include complete factors.
# Nothing of it reaches a consumer of the library.

add_library(sptrsv_common INTERFACE)
target_include_directories(sptrsv_common INTERFACE "${PROJECT_SOURCE_DIR}")
target_link_libraries(sptrsv_common INTERFACE sptrsv::sptrsv)

sptrsv_find_optional(ZLIB ZLIB)  # compressed Matrix Market files
if(sptrsv_has_zlib)
  target_link_libraries(sptrsv_common INTERFACE ZLIB::ZLIB)
  target_compile_definitions(sptrsv_common INTERFACE SPTRSV_WITH_ZLIB)
endif()

find_package(CLI11 QUIET)
set(sptrsv_has_cli11 ${CLI11_FOUND})
if(sptrsv_has_cli11)
  target_link_libraries(sptrsv_common INTERFACE CLI11::CLI11)
else()
  message(STATUS "sptrsv: CLI11 not found (Debian: libcli11-dev): no programs with a command line (solve, the "
                 "benchmarks, sptrsv_acceptance)")
endif()

# Only the benchmarks and tests generate matrices.
if(SPTRSV_BUILD_TESTS OR SPTRSV_BUILD_BENCHMARKS)
  sptrsv_find_optional(SUITESPARSE SuiteSparse)
  if(sptrsv_has_suitesparse)
    target_link_libraries(sptrsv_common INTERFACE SuiteSparse::UMFPACK SuiteSparse::CHOLMOD)
    target_compile_definitions(sptrsv_common INTERFACE SPTRSV_WITH_SUITESPARSE)
    message(STATUS "sptrsv: SuiteSparse found: the benchmarks have complete factors by CHOLMOD and UMFPACK")
  elseif(SPTRSV_WITH_SUITESPARSE)
    message(STATUS "sptrsv: SuiteSparse not found (Debian: libsuitesparse-dev): no factors by CHOLMOD and UMFPACK "
                   "in the benchmarks")
  else()
    message(STATUS "sptrsv: SuiteSparse is off: no factors by CHOLMOD and UMFPACK in the benchmarks")
  endif()
endif()
