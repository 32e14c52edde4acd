# For the preset ci_device, as CMAKE_USER_MAKE_RULES_OVERRIDE_CUDA: nvcc checks CUDA sources, but makes no programs of
# them. The front end reads each source as device code and as host code, instantiates all templates, and writes the
# device code as intermediate representation. So each error of the front end is found, in a quarter of the time. A
# source that has passed before with the same headers is not read again (scripts/passed.py).
if(PROJECT_NAME STREQUAL "CMAKE_TRY_COMPILE")
  return()
endif()
find_package(Python3 QUIET COMPONENTS Interpreter)
set(passed)
if(Python3_FOUND)
  set(passed "${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/../scripts/passed.py --depfile <DEP_FILE> --touch <OBJECT> --input <SOURCE> --")
endif()
set(CMAKE_CUDA_COMPILE_OBJECT
  "${passed} <CMAKE_CUDA_COMPILER> -forward-unknown-to-host-compiler <DEFINES> <INCLUDES> <FLAGS> -x cu -ltoir -gencode=arch=compute_90,code=lto_90 <SOURCE> -o <OBJECT>")
set(CMAKE_CUDA_LINK_EXECUTABLE "<CMAKE_COMMAND> -E touch <TARGET>")
