// Solves one system with one policy, checks the solution and measures the times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/measurement/placement.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv_examples {

/// The result of one system with one policy.
struct measurement {
  sptrsv::solver_info info;
  double analysis_ms = 0;
  double solve_ms = 0;  ///< median
  sptrsv::backward_error_result quality;
  sptrsv::solve_status status;

  [[nodiscard]] bool ok() const { return quality.ok() && status.ok(); }
};

/// Returns a view of vectors of `rows` components that are stored one after the other.
template <class Vector>
auto as_columns(Vector& vectors, std::int64_t rows) {
  return sptrsv::dense_view<std::remove_pointer_t<decltype(vectors.data())>>::column_major(
      vectors.data(), rows, static_cast<std::int64_t>(vectors.size()) / std::max<std::int64_t>(rows, 1),
      rows);
}

/// Returns the median time of three solves in milliseconds.
template <class Policy, class Value>
double try_policy(const Policy& policy, const sptrsv::csr_matrix<Value>& a,
                  const sptrsv::system_options& options, const std::vector<Value>& b) {
  using placement = sptrsv_common::placement_of<Policy>;
  auto solver = sptrsv::analyze(policy, placement::put_matrix(a), options);
  auto x = placement::put(b);
  const auto from = placement::put(b);
  return sptrsv_common::median_time<placement>(
      3, [&] { solver.solve(as_columns(from, a.rows), as_columns(x, a.rows)); });
}

/// Analyses and solves the system and replaces `b` by the solution. `a` and `b` are in host memory; `b` holds
/// `options.max_rhs` right-hand sides. `repeat`: timed solves. The time of the analysis does not include the
/// copy of the matrix to the device.
template <class Policy, class Value>
measurement measure(const Policy& policy, const sptrsv::csr_matrix<Value>& a,
                    const sptrsv::system_options& options, std::vector<Value>& b, int repeat) {
  using placement = sptrsv_common::placement_of<Policy>;
  auto&& placed = placement::put_matrix(a);
  const auto start = std::chrono::steady_clock::now();
  auto solver = sptrsv::analyze(policy, placed, options);  // the analysis is complete when analyze returns
  const auto stop = std::chrono::steady_clock::now();

  const auto from = placement::put(b);
  auto to = placement::put(b);
  measurement made;
  made.solve_ms = sptrsv_common::median_time<placement>(
      repeat, [&] { solver.solve(as_columns(from, a.rows), as_columns(to, a.rows)); });
  made.analysis_ms = std::chrono::duration<double, std::milli>(stop - start).count();
  made.info = solver.info();
  made.status = solver.status();
  const std::vector<Value> x = placement::get(to);
  made.quality = sptrsv::backward_error(a, options, as_columns(b, a.rows), as_columns(x, a.rows));
  b = x;
  return made;
}

}  // namespace sptrsv_examples
