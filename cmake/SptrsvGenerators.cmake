# sptrsv_generators: the dependencies of programs of this repository that include benchmarks/generators. If
# SuiteSparse is found, the generated systems include complete factors. Consumers of the library do not get this
# target.

add_library(sptrsv_generators INTERFACE)
target_include_directories(sptrsv_generators INTERFACE "${PROJECT_SOURCE_DIR}")
target_link_libraries(sptrsv_generators INTERFACE sptrsv::sptrsv)

sptrsv_find_optional(SUITESPARSE SuiteSparse)
if(sptrsv_has_suitesparse)
  target_link_libraries(sptrsv_generators INTERFACE SuiteSparse::UMFPACK SuiteSparse::CHOLMOD)
  target_compile_definitions(sptrsv_generators INTERFACE SPTRSV_BENCHMARKS_WITH_SUITESPARSE)
  message(STATUS "sptrsv: SuiteSparse found: the benchmarks have complete factors by CHOLMOD and UMFPACK")
elseif(SPTRSV_WITH_SUITESPARSE)
  message(STATUS "sptrsv: SuiteSparse not found (Debian: libsuitesparse-dev): no factors by CHOLMOD and UMFPACK "
                 "in the benchmarks")
else()
  message(STATUS "sptrsv: SuiteSparse is off: no factors by CHOLMOD and UMFPACK in the benchmarks")
endif()
