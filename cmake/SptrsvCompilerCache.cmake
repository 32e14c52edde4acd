# Compiles through ccache where it is installed; CUDA sources that are only checked, through scripts/passed.py. Names of files below the source folder count relative to the build
# folder, so that a clone in another folder finds what this one has compiled.
option(SPTRSV_WITH_CCACHE "Compile through ccache, if it is installed" ON)

find_program(sptrsv_ccache ccache)
mark_as_advanced(sptrsv_ccache)
if(SPTRSV_WITH_CCACHE AND sptrsv_ccache)
  foreach(language CXX CUDA)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER AND NOT CMAKE_USER_MAKE_RULES_OVERRIDE_${language})
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
        "${sptrsv_ccache}")
    endif()
  endforeach()
endif()
