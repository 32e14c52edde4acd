// SPDX-License-Identifier: Apache-2.0
// What all policies share: the options of a system, the status of a solve, and the description of a solver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Options of the system `op(T) x = alpha b`, where T is a triangle of the stored matrix A.
struct system_options {
  uplo part = uplo::lower;  ///< T; as in the BLAS, the triangle of A as it is stored, before `operation`
  diag diagonal = diag::non_unit;  ///< the diagonal of T
  op operation = op::none;         ///< op
  /// Largest number of right-hand sides of one solve: at least 1, and not more than an address space can hold
  /// of columns of x. Scratch memory grows with it.
  std::int64_t max_rhs = 1;
};

/// A part of the product of two factors.
enum class factor_part {
  first,     ///< the factor that is solved first; of sweeps: the forward sweep
  diagonal,  ///< the stored diagonal between the factors
  second     ///< the factor that is solved last; of sweeps: the backward sweep
};

/// What a solve, an application of factors, sweeps, the solve of a batch or a factorisation met; see the
/// function status() of each. Members that do not concern the call keep their defaults.
struct solve_status {
  /// What it met.
  enum class kind {
    ok,          ///< every component of x (every value of the factors) is finite, and no pivot is zero
    zero_pivot,  ///< the pivot of `row` is zero
    /// x (a value of the factors) is NaN or infinite in `row`: from b, the values of the matrix, overflow, or
    /// a negative pivot of Cholesky.
    non_finite,
    /// x is finite but may be inaccurate from `row` on: the values of the last `update_values` do not suit
    /// the plan that the analysis made by the values of `analyze`; see policy::basic_dataflow.
    growth
  };
  kind code = kind::ok;  ///< what it met
  /// The first such row of A in the order of substitution, which is from the last row on for an upper system;
  /// empty if `code` is `ok`. For factors it counts rows of the factors.
  std::optional<std::int64_t> row{};
  std::optional<factor_part> part{};     ///< of factors and sweeps: where; empty if `code` is `ok`
  std::optional<std::int64_t> system{};  ///< of a batch: the first such system; empty if `code` is `ok`
  std::int64_t boosted_pivots = 0;       ///< of a factorisation: pivots that were replaced, see pivot_options

  /// Returns whether every component of x (every value of the factors) is finite and accurate.
  [[nodiscard]] bool ok() const noexcept { return code == kind::ok; }
};
using factors_status = solve_status;  ///< what factors and sweeps met
using batch_status = solve_status;    ///< what the solve of a batch met
using factor_status = solve_status;   ///< what an incomplete factorisation met

/// A kernel that a solve runs. Numbers that a kernel does not have are 0.
struct kernel_info {
  std::string text;                   ///< the kernel and its numbers in words
  std::int64_t launches = 1;          ///< launches in one solve
  std::int64_t waiting_launches = 0;  ///< launches whose threads wait for values of other blocks
  std::int64_t levels = 0;            ///< levels in whose order rows are solved; 0: the order of substitution
  std::int64_t warps = 0;             ///< warps that share the rows
  std::int64_t lanes_per_row = 0;     ///< threads that share one row
  std::int64_t partial_rows = 0;      ///< rows added because long rows were split
  std::int64_t rewritten_rows = 0;    ///< rows that the analysis rewrote
  std::int64_t levels_together = 0;   ///< levels of a run whose rows do not need each other any more
  std::int64_t partitions = 0;        ///< partitions of the rows; for the block policies: diagonal blocks
  std::array<std::int64_t, 3> boxes{};  ///< partitions in each direction if they are boxes of a grid
  std::int64_t tiles = 0;               ///< tiles of the whole system
  std::int64_t tile_rows = 0;           ///< rows that are solved together
  std::int64_t x_ring_size = 0;         ///< components of x in the ring buffer in shared memory
  std::int64_t rhs_together = 1;        ///< right-hand sides that are solved together
};

/// The time that a cost model predicts for a solve by one of several paths.
struct predicted_time {
  std::string name;        ///< name of the path
  double nanoseconds = 0;  ///< predicted time of one solve in nanoseconds
};

/// Description of a solver: what the analysis decided, and how much memory the solver holds.
struct solver_info {
  std::string policy;  ///< name of the policy that was given to analyze
  std::string device;  ///< name of the device
  std::string chosen;  ///< name of the policy that policy::automatic chose; empty with other policies
  std::string path;    ///< name of the path that solves the system; empty if the policy has no paths
  /// The paths among which a cost model chose; empty if there was no choice.
  std::vector<predicted_time> predictions;
  /// The choice of policy and path in words, with its reasons; empty if there was no choice.
  std::string plan;
  std::vector<kernel_info> kernels;  ///< the kernels that one solve runs, in their order
  /// Whether the same system with the same right-hand sides gives the same bits in every solve. Otherwise the
  /// order of additions differs from solve to solve; the bound of the backward error is the same.
  bool bit_reproducible = true;
  std::int64_t rows = 0;     ///< rows of the system
  std::int64_t entries = 0;  ///< entries of the triangle, with the diagonal unless it is unit
  /// Entries of the stored matrix that a solve does not use: those outside the triangle and, if the diagonal
  /// is unit, those on the diagonal. A triangle without entries off its diagonal, and many ignored
  /// entries, may mean that `system_options::part` is the wrong triangle.
  std::int64_t ignored_entries = 0;
  std::int64_t levels = 0;  ///< rows on the longest chain of dependent rows; 0 if they were not counted
  std::int64_t levels_solved = 0;   ///< levels of the system that is solved: fewer if rows were rewritten
  std::int64_t rewritten_rows = 0;  ///< rows that the analysis rewrote (policy::basic_dataflow::exact_order)
  std::int64_t longest_row = 0;     ///< entries in the longest row of op(T), without the diagonal
  std::size_t solver_bytes = 0;     ///< bytes of memory for the pattern and the values
  std::size_t workspace_bytes = 0;  ///< bytes of memory of one workspace
  /// The largest number of bytes that `analyze` had allocated from its resource at one time, the solver and
  /// its workspace included; 0 for host policies, whose memory is not counted.
  std::size_t analysis_peak_bytes = 0;
};

}  // namespace sptrsv::SPTRSV_ABI
