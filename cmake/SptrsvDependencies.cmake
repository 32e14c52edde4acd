# Links what the library can do without to a target, as far as it was found: the CUDA runtime and OpenMP. Used by the
# build tree and by the installed package, where each is looked for anew.

# sptrsv_link_dependencies(<target>): reads sptrsv_has_cuda and sptrsv_has_openmp.
function(sptrsv_link_dependencies target)
  if(sptrsv_has_cuda)
    # A program must hold one CUDA runtime, so follow the kind its own CUDA sources are linked with (CMake's
    # default is the static one).
    target_link_libraries(${target} INTERFACE
      "$<IF:$<STREQUAL:$<TARGET_PROPERTY:CUDA_RUNTIME_LIBRARY>,Shared>,CUDA::cudart,CUDA::cudart_static>")
  endif()
  if(sptrsv_has_openmp)
    target_link_libraries(${target} INTERFACE OpenMP::OpenMP_CXX)
    # FindOpenMP's target covers C++ sources only; nvcc hands the flag on to its host compiler.
    target_compile_options(${target} INTERFACE
      "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=${OpenMP_CXX_FLAGS}>")
  endif()
endfunction()
