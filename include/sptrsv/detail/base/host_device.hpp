// SPDX-License-Identifier: Apache-2.0
// What the compiler is told of functions and loops in device code. Without nvcc they are ordinary ones.
#pragma once

#include "sptrsv/version.hpp"

#ifdef __CUDACC__
#define SPTRSV_DEVICE __device__ __forceinline__
#define SPTRSV_HOST_DEVICE __host__ __device__ __forceinline__
#define SPTRSV_UNROLL _Pragma("unroll")
#define SPTRSV_NO_UNROLL _Pragma("unroll 1")
#else
#define SPTRSV_DEVICE inline
#define SPTRSV_HOST_DEVICE inline
#define SPTRSV_UNROLL
#define SPTRSV_NO_UNROLL
#endif
