// NVIDIA's own solver as a policy: the baseline of measurements.
//
// A program that includes this header links cuSPARSE (CMake: CUDA::cusparse) of CUDA 12.4 or newer. Without
// nvcc, the header declares the policy only.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv_common::cusparse {

/// The layout of several right-hand sides in memory.
enum class rhs_layout {
  column_major,  ///< the elements of a right-hand side are contiguous
  row_major      ///< the elements of a row, one of each right-hand side, are contiguous
};

/// NVIDIA's cuSPARSE behind the interface of this library, for comparison: cusparseSpSV for one right-hand
/// side, cusparseSpSM for several.
///
/// - cuSPARSE analyses SpSM for one number of right-hand sides: `max_rhs`. Any other number is solved column
///   by column with SpSV.
/// - Arrays that cuSPARSE cannot use are copied to scratch memory and back: arrays of another layout than
///   `layout` (SpSM), with a stride between the elements of a column (SpSV), or not aligned to 16 bytes.
/// - Each workspace has an analysis of its own, since cuSPARSE keeps the analysis, the values and the scratch
///   memory of a solve in one buffer. `update_values` enqueues the update of all workspaces that exist. A
///   CUDA graph that recorded it must not be launched after one of these workspaces is destroyed.
/// - Calls for one solver may come from several threads; a mutex orders them on its cuSPARSE handle.
/// - cuSPARSE decides what zero pivots, NaN and infinite values give, and whether results repeat in every
/// bit.
/// - Memory that cuSPARSE allocates for itself does not come from the memory resource. `analyze` also creates
///   a handle (cusparseCreate), and `make_workspace` synchronises its stream.
/// - cuSPARSE 12.6 refuses 64-bit offsets with 32-bit indices; `analyze` throws errc::unsupported.
struct policy {
  static constexpr const char* name = "cusparse";  ///< in solver_info and in messages
  using default_stream = sptrsv::stream_handle;    ///< stream type of the solver: cudaStream_t

  /// true: `analyze` checks the pattern as for any other policy, and gives cuSPARSE the rows of op(T), sorted
  /// and without the rest of A; cuSPARSE never solves a transposed system. false: `analyze` gives cuSPARSE
  /// copies of the arrays of A and the transposition, and takes the time that cuSPARSE takes. An invalid
  /// pattern is undefined behaviour then, and `info()` counts all entries of A, ignores none, and has no
  /// longest row.
  bool validate = true;

  /// true: a kernel after each solve looks for the first component that is not finite. false: `solve` runs
  /// cuSPARSE only, and `status` looks for it when it is called, in the x of the last solve on the workspace,
  /// which must still exist.
  bool watch = true;

  /// The layout for which SpSM is analysed.
  rhs_layout layout = rhs_layout::column_major;
};

}  // namespace sptrsv_common::cusparse

#ifdef __CUDACC__
#include "common/cusparse/engine.cuh"
#endif
