# Helpers for the programs of this repository. Consumers of the library do not get them.

# One target per group of programs, so that the scripts build only what they run.
add_custom_target(sptrsv_tests)
add_custom_target(sptrsv_types_tests)  # the contract in further types
add_custom_target(sptrsv_papers_tests)  # the policies of the papers, in double
add_custom_target(sptrsv_papers_types_tests)
add_custom_target(sptrsv_gpu_tests)  # minutes of nvcc, worth it where they can run
add_custom_target(sptrsv_examples)
add_custom_target(sptrsv_benchmarks)
add_custom_target(sptrsv_docs)  # the code blocks of the pages that need a GPU

# What GCC and Clang warn of in the headers and in the programs of this repository.
set(sptrsv_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion)

# The compile options of all programs of this repository. CMAKE_COMPILE_WARNING_AS_ERROR turns warnings into errors.
function(sptrsv_configure_target target)
  target_link_libraries(${target} PRIVATE sptrsv::sptrsv)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:${sptrsv_warnings}>"
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=-Wall,-Wextra>")
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
endfunction()

# The options of programs that run kernels on a GPU. The baseline of common/cusparse/ needs the vendor's library.
function(sptrsv_link_cuda_libraries target)
  if(TARGET CUDA::cusparse)
    target_link_libraries(${target} PRIVATE CUDA::cusparse)
  endif()
endfunction()

# sptrsv_add_test(<name> SOURCES <file>... [CUDA] [EMULATOR] [OPTIMISED] [SEEDED] [FILTER <filter>] [SHARDS <n>]
#                 [LABELS <label>...])
#
# Adds a GoogleTest program, and its cases as tests of CTest, see sptrsv_add_cases.
#   CUDA      compile all sources with nvcc, .cpp too; without a CUDA compiler the program is left out
#   EMULATOR  kernels run in the emulator; its headers and GoogleTest's are precompiled
#   OPTIMISED compile with -O1; most programs run so little that it takes less time to compile them with -O0
#   LABELS    programs with the labels `papers`, `types` or `gpu` have targets of their own in place of sptrsv_tests
function(sptrsv_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA;EMULATOR;OPTIMISED;SEEDED" "FILTER;SHARDS" "SOURCES;LABELS")
  if(NOT arg_SOURCES OR (arg_CUDA AND NOT sptrsv_has_cuda))
    return()
  endif()
  if(arg_CUDA)
    set_source_files_properties(${arg_SOURCES} PROPERTIES LANGUAGE CUDA)
  endif()

  add_executable(${name} ${arg_SOURCES})
  set(group sptrsv)
  foreach(label papers types gpu)
    if(label IN_LIST arg_LABELS)
      string(APPEND group "_${label}")
    endif()
  endforeach()
  add_dependencies(${group}_tests ${name})
  sptrsv_configure_target(${name})
  set(level -O0)
  if(arg_OPTIMISED)
    set(level -O1)
  endif()
  target_compile_options(${name} PRIVATE
    "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:${level}>")
  if(arg_EMULATOR)
    target_link_libraries(${name} PRIVATE sptrsv_emulator)
    target_precompile_headers(${name} REUSE_FROM sptrsv_test_headers${level})
  endif()
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  if(arg_CUDA)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CUDA)
    sptrsv_link_cuda_libraries(${name})
  endif()
  set(seeded)
  if(arg_SEEDED)
    set(seeded SEEDED)
  endif()
  sptrsv_add_cases(${name} PROGRAM ${name} ${seeded} FILTER "${arg_FILTER}" SHARDS "${arg_SHARDS}"
    LABELS ${arg_LABELS})
endfunction()

# sptrsv_add_cases(<test> PROGRAM <target> [SEEDED] [FILTER <filter>] [SHARDS <n>] [LABELS <label>...])
#
# Adds cases of a GoogleTest program to CTest: as one test, or as <n> tests with a share of the cases each, because a
# process for each of thousands of typed cases would take longer than the cases. The report is written to
# test-results/, where scripts/count_tests.py counts the cases.
#   SEEDED    threads and random numbers are simulated: what has passed is not repeated, see scripts/passed.py
#   FILTER    the cases, as --gtest_filter takes them; all by default
#   LABELS    labels of CTest: `gpu` tests are skipped on a machine without a GPU
function(sptrsv_add_cases test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SEEDED" "PROGRAM;FILTER;SHARDS" "LABELS")
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(NOT arg_FILTER)
    set(arg_FILTER "*")
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(name ${test})
    if(arg_SHARDS GREATER 1)
      string(APPEND name "_${shard}")
    endif()
    set(report "${PROJECT_BINARY_DIR}/test-results/${name}.json")
    set(launcher)
    if("gpu" IN_LIST arg_LABELS)
      set(launcher "${PROJECT_SOURCE_DIR}/tests/run_if_gpu.sh")
    elseif(arg_SEEDED AND Python3_FOUND)
      set(launcher Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/scripts/passed.py" --output "${report}" --)
    endif()
    add_test(NAME ${name} COMMAND ${launcher} "$<TARGET_FILE:${arg_PROGRAM}>" "--gtest_filter=${arg_FILTER}"
      "--gtest_output=json:${report}")
    math(EXPR index "${shard} - 1")
    set_tests_properties(${name} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index};GTEST_BRIEF=1"
      LABELS "${arg_LABELS}"
      SKIP_RETURN_CODE 77
      TIMEOUT 900)
    if("gpu" IN_LIST arg_LABELS)
      set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)
    elseif(arg_SHARDS GREATER 1)
      # CTest starts tests with a high cost first: those that need all cores, then long ones.
      set_tests_properties(${name} PROPERTIES COST 100)
    endif()
  endforeach()
endfunction()
