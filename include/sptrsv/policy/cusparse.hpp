// cusparse: see the policy in detail/cusparse/policy.hpp.
//
// Not part of policy.hpp: a program that includes this header links cuSPARSE (CMake: CUDA::cusparse) of CUDA
// 12.4 or newer. Without nvcc only the policy is declared.
#pragma once

#include "sptrsv/detail/cusparse/policy.hpp"

#ifdef __CUDACC__
#include "sptrsv/detail/cusparse/engine.cuh"
#endif
