// What all policies share: the description of the system, and what a solve reports.
#pragma once

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

/// What the analysis decided and holds.
struct solver_info {
  std::string policy;  ///< the name of the policy
  std::string device;  ///< where it runs
  /// Which policy, and which of its paths, was chosen and why, with predicted times; empty where there was no
  /// choice.
  std::string plan;
  std::vector<std::string> kernels;  ///< what one solve runs, in order, with counts
  /// Whether the same system with the same right-hand sides gives the same bits in every solve; otherwise
  /// sums are added up in another order each time, and only the backward error is the same.
  bool bit_reproducible = true;
  std::int64_t rows = 0;
  std::int64_t entries = 0;         ///< of the triangle; its diagonal included unless it is unit
  std::int64_t levels = 0;          ///< longest chain of dependent rows; 0 where the policy does not count
  std::int64_t longest_row = 0;     ///< entries in the longest row of op(T), diagonal excluded
  std::size_t solver_bytes = 0;     ///< held for the pattern and the values
  std::size_t workspace_bytes = 0;  ///< held for one solve in flight
};

}  // namespace sptrsv
