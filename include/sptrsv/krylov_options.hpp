// SPDX-License-Identifier: Apache-2.0
// Options and results of the Krylov methods.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::krylov {

/// How the GPU repeats an iteration. The host loops itself and ignores it.
enum class repetition {
  /// One CUDA graph loops on the device until the method stops (conditional nodes, CUDA 12.4). Where CUDA
  /// does not take the graph, as `graphs`.
  on_device,
  /// An iteration is one CUDA graph; the host launches it check_interval times and reads whether to go on.
  graphs,
  /// The host launches the kernels of check_interval iterations, and reads whether to go on. No CUDA graph is
  /// made: for operators that cannot be captured.
  launches
};

/// When a method stops, and how it runs.
struct options {
  double tolerance = 1e-8;              ///< largest norm of b - A x that is wanted, relative to that of b
  double absolute_tolerance = 0;        ///< a norm of b - A x that is small enough, too
  std::int32_t max_iterations = 10000;  ///< iterations at most
  std::int32_t restart = 30;            ///< iterations of a cycle of gmres
  bool keep_history = false;            ///< whether the result has the residual of each iteration
  /// Whether conjugate_gradients tests the symmetry of A first: u^H A v and v^H A u for two vectors of signs.
  bool check_symmetry = true;
  repetition repeat = repetition::on_device;  ///< what repeats an iteration on the GPU
  std::int32_t check_interval = 8;  ///< iterations between two looks of the host; not with on_device
};

/// Why a method has ended.
enum class reason {
  converged,              ///< the residual of x is at most a tolerance
  iteration_limit,        ///< options::max_iterations
  stagnation,             ///< rounding errors keep the residual of x above the tolerances
  breakdown,              ///< a divisor of the method is 0, and its cycle has not halved the residual of x
  not_finite,             ///< b, x, A or the preconditioner gave a NaN or an infinity, or an overflow
  not_symmetric,          ///< conjugate_gradients: A is not symmetric (Hermitian)
  not_positive_definite,  ///< conjugate_gradients: p^H A p or r^H M^-1 r is not positive
};

/// What a method has reached.
struct result {
  reason why = reason::converged;  ///< what ended the method
  std::int32_t iterations = 0;  ///< completed ones: what ended the method otherwise happened in the next one
  /// Norm of b - A x, computed from x at the end, relative to that of b; 0 if b is 0.
  double residual = 0;
  /// With options::keep_history: the residual that the method has updated, after 0, 1, ... iterations.
  std::vector<double> history;

  /// Returns whether the residual is small enough.
  [[nodiscard]] bool converged() const noexcept { return why == reason::converged; }
};

/// Returns a reason in words, for messages.
inline const char* name_of(reason why) noexcept {
  const char* const names[] = {"converged",  "iteration limit", "stagnation",           "breakdown",
                               "not finite", "not symmetric",   "not positive definite"};
  return names[static_cast<int>(why)];
}

}  // namespace sptrsv::SPTRSV_ABI::krylov
