// Gives `analyze` matrices with drawn faults. A check on the host decides which error it must report, or
// whether it must accept the matrix; then the solution must be right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "drawn_systems.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "support/any_solver.hpp"
#include "support/bad_patterns.hpp"
#include "support/first_fault.hpp"
#include "support/layout.hpp"
#include "support/raw_matrix.hpp"
#include "support/targets.hpp"
#include "trial.hpp"

namespace sptrsv_trial {

/// A matrix that may be malformed, and the options that it is analysed with.
struct malformed_matrix {
  support::raw_matrix a;
  sptrsv::system_options options;
};

/// Changes the sizes of a matrix, or sets an offset or an index to an extreme number. The arrays stay as long
/// as `analyze` may expect: sizes that the types can hold change only together with the arrays.
/// `largest_offset`: of the type.
inline void damage_extremely(support::raw_matrix& a, std::int64_t largest_offset,
                             support::random_source& source) {
  constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
  const std::int64_t too_many[] = {int32_max, int32_max + 1, std::int64_t{1} << 40, int64_max};
  const std::int64_t extremes[] = {int32_max, -int32_max - 1, int32_max - 1, 1 << 30, -1};
  switch (source.below(9)) {
    case 0:
      a.columns += source.coin() ? 1 : -1;
      break;
    case 1:
      a.rows = a.columns = -1 - source.below(1000);
      break;
    case 2:
      a.entries = -1 - source.below(1000);
      break;
    case 3:
      a.rows = a.columns = too_many[source.below(4)];
      break;
    case 4:
      a.columns = too_many[source.below(4)];
      break;
    case 5:
      a.entries = largest_offset;  // 65536 less is the limit
      break;
    case 6:  // fewer or more rows than the offsets speak of
      a.rows = a.columns = a.rows + (source.coin() ? -1 : 1);
      a.offsets.resize(static_cast<std::size_t>(a.rows) + 1, a.entries);
      break;
    case 7:
      a.offsets[static_cast<std::size_t>(source.below(a.rows + 1))] = extremes[source.below(5)];
      break;
    default:
      a.indices[static_cast<std::size_t>(source.below(a.entries))] = extremes[source.below(5)];
  }
}

/// Sorts the indices of each row (column) as far as the offsets are valid. `analyze` takes such a matrix
/// without sorting it, so it finds repeated entries in another way.
inline void sort_rows(support::raw_matrix& a) {
  for (std::size_t m = 0; m + 1 < a.offsets.size(); ++m) {
    const std::int64_t begin = a.offsets[m];
    const std::int64_t end = a.offsets[m + 1];
    if (0 <= begin && begin <= end && end <= a.entries) {
      std::sort(a.indices.begin() + begin, a.indices.begin() + end);
    }
  }
}

/// Draws a valid matrix with a few faults, some of which do no harm.
inline malformed_matrix draw_malformed(std::int64_t largest_offset, support::random_source& source) {
  malformed_matrix drawn{support::damaged_matrix(source), support::draw_form(source).options()};
  if (source.coin()) {
    sort_rows(drawn.a);
  }
  if (source.below(3) == 0) {
    damage_extremely(drawn.a, largest_offset, source);
  }
  if (source.below(16) == 0) {
    drawn.options.max_rhs = source.coin() ? 0 : -1 - source.below(5);
  }
  return drawn;
}

/// Draws values with which solutions stay bounded, for a matrix whose indices are valid.
template <class Value>
std::vector<Value> draw_bounded_values(const support::raw_matrix& a, support::random_source& source) {
  std::vector<Value> values(a.indices.size());
  for (std::int64_t m = 0; m < a.rows; ++m) {
    for (std::int64_t e = a.offsets[static_cast<std::size_t>(m)];
         e < a.offsets[static_cast<std::size_t>(m) + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      values[at] = a.indices[at] == m ? support::random_pivot<Value>(source)
                                      : support::random_value<Value>(source, 1 / static_cast<double>(a.rows));
    }
  }
  return values;
}

/// Solves with a matrix that looked wrong and is valid, and calls the solver with sizes that it must refuse.
template <class Types, class Solver, class HostArrays>
void check_accepted(typename Types::target& where, Solver& solver, const HostArrays& host,
                    const malformed_matrix& drawn, double growth, const case_id& id, mode_log& log) {
  using value = typename Types::value;
  using sptrsv::errc;
  const std::int64_t n = drawn.a.rows;
  const support::layout shape = support::single(n);
  const auto host_b = support::random_vector<value>(n, id.seed);
  const auto b = where.upload(host_b);
  auto to = where.upload(support::poisoned<value>(shape.extent));
  const auto b_view = shape.view(static_cast<const value*>(b.data()));
  const auto stream = where.stream();
  solver.solve(b_view, shape.view(to.data()), stream);
  const std::vector<value> x = where.download(to);
  log.count_solve(x.size());
  const auto result = host.visit([&](const auto& a) {
    return sptrsv::backward_error(a, drawn.options, shape.view(host_b.data()), shape.view(x.data()));
  });
  log.expect(result.error <= growth * result.bound && solver.status(stream).ok(), id,
             "accepted, and the solution is wrong");

  const auto refused = [&](const sptrsv::dense_view<const value>& from, const auto& x_view, errc code) {
    const auto failure = support::failure::of([&] { solver.solve(from, x_view, stream); });
    log.expect(failure && failure->code == code, id, "wrong sizes of b or x are not refused");
  };
  auto shorter = b_view;
  shorter.rows = n - 1;
  refused(shorter, shape.view(to.data()), errc::size_mismatch);
  const support::layout more = support::column_major(n, 2);
  refused(more.view(static_cast<const value*>(b.data())), more.view(to.data()), errc::too_many_rhs);
  const auto failure = support::failure::of([&] {
    solver.update_values({host.values.data(), host.values.size() + 1}, stream);
  });
  log.expect(failure && failure->code == errc::size_mismatch, id, "a wrong number of values is not refused");
}

/// Analyses one drawn matrix with a policy.
template <class Types>
void check_malformed(const support::tested_policy<Types>& policy, std::uint64_t seed, mode_log& log) {
  using value = typename Types::value;
  using index = typename Types::index;
  using offset = typename Types::offset;
  typename Types::target where;
  support::host_target on_host;
  support::random_source source = source_of_case(seed, policy.case_name);
  const malformed_matrix drawn = draw_malformed(std::numeric_limits<offset>::max(), source);
  const case_id id{
      seed, policy.case_name,
      "a matrix of " + std::to_string(drawn.a.rows) + " rows, " + (drawn.a.by_columns ? "CSC" : "CSR")};
  log.count_case();
  const bool has_values = !drawn.a.indices.empty();
  const auto expected = support::first_fault<index, offset>(drawn.a, has_values, drawn.options);

  support::raw_arrays<support::host_target, value, index, offset> host(on_host, drawn.a);
  support::raw_arrays<typename Types::target, value, index, offset> there(where, drawn.a);
  if (!expected) {
    host.values = draw_bounded_values<value>(drawn.a, source);
    where.overwrite(there.values, host.values);
  }
  std::optional<support::any_solver<Types>> solver;
  const auto seen = support::failure::of([&] {
    solver.emplace(
        there.visit([&](const auto& a) { return policy.analyze(a, drawn.options, where.stream()); }));
  });
  const auto text = [](const auto& fault) {
    return !fault ? std::string("no error")
                  : "error " + std::to_string(static_cast<int>(fault->code)) + " of row " +
                        std::to_string(fault->row.value_or(-1));
  };
  if (text(seen) == text(expected)) {
    if (solver) {
      check_accepted<Types>(where, *solver, host, drawn, policy.growth, id, log);
    }
  } else if (expected || !policy.may_refuse || seen->code != sptrsv::errc::unsupported) {
    log.fail(id, "analyze gives " + text(seen) + " instead of " + text(expected));
  }
  const std::string left = where.error();
  log.expect(left.empty(), id, "CUDA holds the error " + left);
}

}  // namespace sptrsv_trial
