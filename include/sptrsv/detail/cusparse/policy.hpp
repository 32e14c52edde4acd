// The policy of NVIDIA's own solver.
#pragma once

#include "sptrsv/solver.hpp"

namespace sptrsv::policy {

/// How several right-hand sides lie in memory.
enum class rhs_layout { column_major, row_major };

/// NVIDIA's cuSPARSE behind the interface of this library, to be compared with: cusparseSpSV for one
/// right-hand side, cusparseSpSM for several.
///
/// - cuSPARSE analyses SpSM for one number of columns: `max_rhs` of them. Other numbers, and one, are solved
///   column by column with SpSV.
/// - Arrays that cuSPARSE cannot take are copied to scratch memory and back: of another layout than `layout`
///   (SpSM), with a stride between the elements of a column (SpSV), not aligned to 16 bytes.
/// - Each workspace has an analysis of its own, since cuSPARSE keeps the analysis, the values and the scratch
///   memory of a solve in one buffer. `update_values` enqueues the new values for all workspaces that exist;
///   a CUDA graph that recorded it must not be launched once one of these is gone.
/// - Calls for one solver take turns on its cuSPARSE handle; they may come from several threads.
/// - What zero pivots, NaN and Inf give, and whether results repeat in every bit, is up to cuSPARSE.
/// - What cuSPARSE allocates for itself does not come from the memory resource; `analyze` also makes a handle
///   (cusparseCreate).
/// - Refused by cuSPARSE 12.6, hence by `analyze` (errc::unsupported): 64-bit offsets with 32-bit indices.
struct cusparse {
  static constexpr const char* name = "cusparse";
  using default_stream = stream_handle;

  /// true: `analyze` checks the pattern as for any policy, and hands cuSPARSE the rows of op(T), sorted and
  /// without the rest of A: never a transposed solve. false: A's arrays go to cuSPARSE as they are (copied),
  /// transposition included, and `analyze` takes the time that cuSPARSE takes. Then a pattern that is not
  /// sound is undefined behaviour, and `info()` counts all of A's entries and no longest row.
  bool validate = true;

  /// true: a kernel after each solve looks for the first value that is not finite. false: `solve` runs
  /// cuSPARSE only, and `status` looks when it is called, in the x of the last call of `solve` on the
  /// workspace, which must still be there.
  bool watch = true;

  /// What SpSM is analysed for.
  rhs_layout layout = rhs_layout::column_major;
};

}  // namespace sptrsv::policy
