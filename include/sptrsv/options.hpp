// What all policies share: the description of the system, and what a solve reports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sptrsv/types.hpp"

namespace sptrsv {

/// The system `op(T) x = alpha b`, where T is the `part` triangle of the stored matrix A. As in the BLAS,
/// `part` speaks of A as stored, before `operation`.
struct system_options {
  uplo part = uplo::lower;
  diag diagonal = diag::non_unit;
  op operation = op::none;
  /// The largest number of right-hand sides that one solve may have; scratch memory grows with it.
  std::int64_t max_rhs = 1;
};

/// What the last solve met, see `solver::status`.
struct solve_status {
  enum class kind {
    ok,          ///< every component of x is finite
    zero_pivot,  ///< the pivot of `row` is zero
    non_finite,  ///< x is NaN or infinite at `row`: from b, the values, or overflow
    growth       ///< the values of the last `update_values` do not suit what the analysis planned by those of
                 ///< `analyze`: x is finite but may be inaccurate, from `row` on; see policy::basic_dataflow
  };
  kind code = kind::ok;
  /// The row of A where substitution first met it (the last row first, for an upper triangle).
  std::optional<std::int64_t> row;

  [[nodiscard]] bool ok() const noexcept { return code == kind::ok; }
};

/// One kernel that a solve runs. Quantities that a kernel does not have are 0.
struct kernel_info {
  std::string text;                   ///< one sentence: the kernel and its quantities
  std::int64_t launches = 1;          ///< of one solve
  std::int64_t waiting_launches = 0;  ///< those whose threads wait for values of other blocks
  std::int64_t levels = 0;  ///< levels in whose order it solves rows; 0 if it keeps the order of substitution
  std::int64_t warps = 0;   ///< that share the rows
  std::int64_t lanes_per_row = 0;  ///< threads that share one row
  std::int64_t partial_rows = 0;   ///< rows added because long rows were split
  std::int64_t rewritten_rows = 0;
  std::int64_t partitions = 0;          ///< of the rows; for policies by blocks: diagonal blocks
  std::array<std::int64_t, 3> boxes{};  ///< partitions in each direction if they are boxes of a grid
  std::int64_t tiles = 0;
  std::int64_t tile_rows = 0;     ///< rows that are solved together
  std::int64_t x_ring_size = 0;   ///< components of x in the ring buffer in shared memory
  std::int64_t rhs_together = 1;  ///< right-hand sides that are solved together
};

/// The time that the cost model predicts for a solve by one of several candidates.
struct predicted_time {
  std::string name;  ///< of the policy or path
  double nanoseconds = 0;
};

/// What the analysis decided, and what the solver holds.
struct solver_info {
  std::string policy;  ///< name of the policy that was asked for
  std::string device;  ///< where it runs
  std::string chosen;  ///< name of the policy that solves: another one than `policy` with policy::automatic
  std::string path;    ///< name of the policy's path that solves; empty if it has one only
  /// The candidates among which the cost model chose, policies before paths; empty if there was no choice.
  std::vector<predicted_time> predictions;
  /// Which policy and path was chosen and why, in words; empty if there was no choice.
  std::string plan;
  std::vector<kernel_info> kernels;  ///< what one solve runs, in order
  /// Whether the same system with the same right-hand sides gives the same bits in every solve. Otherwise
  /// sums are added in another order each time, and only the backward error is the same.
  bool bit_reproducible = true;
  std::int64_t rows = 0;
  std::int64_t entries = 0;  ///< of the triangle; with its diagonal unless that is unit
  std::int64_t levels = 0;   ///< rows on the longest chain of dependent rows; 0 if they were not counted
  std::int64_t levels_solved = 0;   ///< levels of the system that is solved: fewer if rows were rewritten
  std::int64_t rewritten_rows = 0;  ///< rows that the analysis rewrote (policy::basic_dataflow::exact_order)
  std::int64_t longest_row = 0;     ///< entries in the longest row of op(T), without the diagonal
  std::size_t solver_bytes = 0;     ///< device (or host) memory held for the pattern and the values
  std::size_t workspace_bytes = 0;  ///< memory held for one solve in flight
};

}  // namespace sptrsv
