# Run by CTest (see CMakeLists.txt for the arguments): builds a plug-in against the installed compiled library, as its
# user does, and runs its tests.
file(REMOVE_RECURSE "${SCRATCH_DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${PLUGIN_DIR}" -B "${SCRATCH_DIR}" -G "${GENERATOR}"
  -D CMAKE_BUILD_TYPE=Debug -D CMAKE_COMPILE_WARNING_AS_ERROR=ON -D "CMAKE_PREFIX_PATH=${INSTALLED}" ${ARGUMENTS}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${SCRATCH_DIR}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${SCRATCH_DIR}" --output-on-failure
  COMMAND_ERROR_IS_FATAL ANY)
