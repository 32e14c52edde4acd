# Run by CTest (see CMakeLists.txt for the arguments): builds and runs consumer/ in an empty scratch folder.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${SCRATCH_DIR}")
set(arguments -G "${GENERATOR}" -D "CMAKE_CXX_COMPILER=${CXX_COMPILER}" -D CONSUMER_LANGUAGE=${LANGUAGE})
if(LANGUAGE STREQUAL "CUDA")
  list(GET CUDA_ARCHITECTURES 0 architecture)  # one is enough to see that it compiles
  list(APPEND arguments -D "CMAKE_CUDA_COMPILER=${CUDA_COMPILER}" -D CMAKE_CUDA_ARCHITECTURES=${architecture})
endif()

if(WAY MATCHES "^find_package")
  run("${CMAKE_COMMAND}" --install "${BINARY_DIR}" --prefix "${SCRATCH_DIR}/installed")
  # Moved, because a package must not remember where it was installed.
  file(RENAME "${SCRATCH_DIR}/installed" "${SCRATCH_DIR}/moved")
  list(APPEND arguments -D "CMAKE_PREFIX_PATH=${SCRATCH_DIR}/moved")
  if(WAY STREQUAL "find_package_alone")
    foreach(package CUDAToolkit OpenMP)
      list(APPEND arguments -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
    endforeach()
    list(APPEND arguments -D CONSUMER_LACKS=cuda,openmp)
  endif()
else()
  list(APPEND arguments -D "SPTRSV_SOURCE_DIR=${SOURCE_DIR}")
endif()

run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${SCRATCH_DIR}/build" ${arguments})
run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/build")
run("${SCRATCH_DIR}/build/consumer")
