// sync_free_thread: see the policy in the header below.
#pragma once

#include "sptrsv/detail/sync_free_thread/engine.hpp"

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
