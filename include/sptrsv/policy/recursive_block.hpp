// recursive_block: see the policy in the header below.
#pragma once

#include "sptrsv/detail/block/recursive_block.hpp"

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
