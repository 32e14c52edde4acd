// SPDX-License-Identifier: Apache-2.0
// The engine of a policy: what the solver requires of it, and what the solver and its engines share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The host side of a policy; specialised in detail/<policy>/<policy>_engine.hpp. Scalar is scalar_t<Value>.
///
///   engine(const Policy&, const valued_pattern<Scalar, Index, Offset>&, const triangle_form&, max_rhs,
///          executor, resource);  // most engines take a pattern_view: they do not plan by values
///   engine(const Policy&, const valued<Scalar, panel_pattern<Index, Offset>>&, ...);  // optional
///   engine(const engine&, op, executor, resource);  // optional; for solver::transposed
///   class both_triangles;  // optional, with begin_both() and a constructor: see the engine of dataflow
///   void update_values(const Scalar* values, executor);
///   workspace make_workspace(executor, resource) const;  // move-only; for one solve in flight
///   void workspace::reset(executor);  // enqueues the state before the first solve, in the same memory
///   void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace&, executor) const;
///   std::int64_t first_nonfinite_index(workspace&, executor) const;  // substitution index, or -1
///   bool is_zero_pivot(std::int64_t substitution_index, workspace&, executor) const;
///   std::int64_t first_grown_index(executor) const;  // optional; see first_grown_index() below
///   void describe(solver_info&, const executor&) const;
///
/// update_values() and solve() enqueue only. The functions that return a value synchronise.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class engine;

/// True if `Engine` has the optional function first_grown_index().
template <class Engine, class Executor, class = void>
inline constexpr bool knows_growth = false;
template <class Engine, class Executor>
inline constexpr bool knows_growth<
    Engine, Executor,
    std::void_t<decltype(std::declval<const Engine&>().first_grown_index(std::declval<Executor>()))>> = true;

/// Returns the substitution index of the first row of too large growth; -1: none, or it is not computed.
template <class Engine, class Executor>
std::int64_t first_grown_index(const Engine& of, const Executor& on) {
  if constexpr (knows_growth<Engine, Executor>) {
    return of.first_grown_index(on);
  } else {
    return -1;
  }
}

/// Returns the view with the scalars of its elements.
template <class T>
auto as_scalars(const dense_view<T>& v) {
  auto* const data = as_scalar(v.data);
  return dense_view<std::remove_pointer_t<decltype(data)>>(data, v.rows, v.columns, v.row_stride,
                                                           v.column_stride);
}

/// Returns a number that no other solver of the process has; not 0.
inline std::uint64_t next_solver_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// The last call of one kind on an object. If it threw, a part of its work may be missing.
class whole_call {
 public:
  /// Calls `enqueue`.
  template <class Enqueue>
  void run(const Enqueue& enqueue) {
    is_whole_ = false;
    enqueue();
    is_whole_ = true;
  }

  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Throws errc::invalid_argument if the last call has failed. `what`: its name. `remedy`: what to do.
  void expect_whole(const char* what, const char* remedy) const {
    SPTRSV_EXPECTS(is_whole_, errc::invalid_argument, "the last ", what,
                   " failed before all its work was enqueued: ", remedy);
  }

 private:
  bool is_whole_ = true;
};

/// Keeps alive what an engine shares with another one.
struct shared_owner {
  std::shared_ptr<const void> shares_with;
};

/// Returns the name of the prediction and its time in milliseconds, as solver_info reports it.
inline std::string to_text(const predicted_time& prediction) {
  std::array<char, 32> milliseconds{};
  std::snprintf(milliseconds.data(), milliseconds.size(), " %.3g ms", prediction.nanoseconds * 1e-6);
  return prediction.name + milliseconds.data();
}

/// Returns the predictions, separated by commas.
inline std::string to_text(const std::vector<predicted_time>& predictions) {
  std::string text;
  for (const predicted_time& prediction : predictions) {
    text += (text.empty() ? "" : ", ") + to_text(prediction);
  }
  return text;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
