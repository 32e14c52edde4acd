# Run by CTest (see CMakeLists.txt for the arguments): builds the compiled library with the policies of the host,
# as a static and as a shared library, installs each, and builds and runs the users in compiled/ against it.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${SCRATCH_DIR}")
set(compilers -G "${GENERATOR}" -D "CMAKE_CXX_COMPILER=${CXX_COMPILER}")
set(with_fortran OFF)
if(Fortran_COMPILER)
  set(with_fortran ON)
  list(APPEND compilers -D "CMAKE_Fortran_COMPILER=${Fortran_COMPILER}")
endif()
foreach(shared OFF ON)  # the second build compiles little anew
  run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${SCRATCH_DIR}/library" ${compilers}
    -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 -D SPTRSV_ENABLE_CUDA=OFF
    -D SPTRSV_BUILD_COMPILED=ON -D SPTRSV_BUILD_TESTS=OFF -D SPTRSV_BUILD_EXAMPLES=OFF
    -D SPTRSV_BUILD_BENCHMARKS=OFF -D CMAKE_INSTALL_LIBDIR=lib -D BUILD_SHARED_LIBS=${shared}
    -D SPTRSV_BUILD_FORTRAN=${with_fortran}
    -D CMAKE_UNITY_BUILD=ON -D CMAKE_UNITY_BUILD_BATCH_SIZE=5)  # the types share much that is compiled once then
  run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/library" --parallel ${CORES})
  run("${CMAKE_COMMAND}" --install "${SCRATCH_DIR}/library" --prefix "${SCRATCH_DIR}/installed")
  file(REMOVE_RECURSE "${SCRATCH_DIR}/moved_${shared}")
  file(RENAME "${SCRATCH_DIR}/installed" "${SCRATCH_DIR}/moved_${shared}")
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/compiled" -B "${SCRATCH_DIR}/users_${shared}" ${compilers}
    -D "CMAKE_PREFIX_PATH=${SCRATCH_DIR}/moved_${shared}")
  run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/users_${shared}" --parallel ${CORES})
  run("${SCRATCH_DIR}/users_${shared}/user_cpp")
  run("${SCRATCH_DIR}/users_${shared}/user_c")

  if(with_fortran)
    run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/compiled_fortran" -B "${SCRATCH_DIR}/user_fortran_${shared}"
      -G "${GENERATOR}" -D "CMAKE_Fortran_COMPILER=${Fortran_COMPILER}"
      -D "CMAKE_PREFIX_PATH=${SCRATCH_DIR}/moved_${shared}")
    run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/user_fortran_${shared}")
    run("${SCRATCH_DIR}/user_fortran_${shared}/user_fortran")
  endif()

  # A project in C alone, and one without CMake.
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/compiled_c" -B "${SCRATCH_DIR}/user_in_c_${shared}"
    -G "${GENERATOR}" -D "CMAKE_PREFIX_PATH=${SCRATCH_DIR}/moved_${shared}")
  run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/user_in_c_${shared}")
  run("${SCRATCH_DIR}/user_in_c_${shared}/user_c")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${SCRATCH_DIR}/moved_${shared}/lib/pkgconfig"
    pkg-config --cflags --libs sptrsv OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(cc -std=c99 "${CMAKE_CURRENT_LIST_DIR}/compiled/user.c" ${flags}
    "-Wl,-rpath,${SCRATCH_DIR}/moved_${shared}/lib" -o "${SCRATCH_DIR}/user_of_pkg_config_${shared}")
  run("${SCRATCH_DIR}/user_of_pkg_config_${shared}")
endforeach()
