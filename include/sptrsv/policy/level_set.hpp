// level_set: see the policy in the header below.
#pragma once

#include "sptrsv/detail/level_set/engine.hpp"

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
