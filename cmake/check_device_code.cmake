# For the preset ci_device, as CMAKE_USER_MAKE_RULES_OVERRIDE_CUDA: nvcc checks CUDA sources, but makes no programs of
# them. The front end reads each source as device code and as host code, instantiates all templates, and writes the
# device code as intermediate representation. So each error of the front end is found, in a quarter of the time.
if(PROJECT_NAME STREQUAL "CMAKE_TRY_COMPILE")
  return()
endif()
set(CMAKE_CUDA_COMPILE_OBJECT
  "<CMAKE_CUDA_COMPILER> -forward-unknown-to-host-compiler <DEFINES> <INCLUDES> <FLAGS> -x cu -ltoir -gencode=arch=compute_90,code=lto_90 <SOURCE> -o <OBJECT>")
set(CMAKE_CUDA_LINK_EXECUTABLE "<CMAKE_COMMAND> -E touch <TARGET>")
