// Fuzzes `analyze` and the solver on the host. An input is decoded to a stored matrix, which may be damaged
// in any way, options, values and right-hand sides. A check of its own decides whether the matrix is valid.
// `analyze` must accept a valid matrix, and refuse any other with the code and the row of its first fault.
// Solutions must have a small backward error, or a status that names the first component that is not finite.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "support/first_fault.hpp"

namespace {

using sptrsv::errc;
using sptrsv::solve_status;
using sptrsv::system_options;
using sptrsv::fuzz::check;
using sptrsv::fuzz::input_reader;
using sptrsv::testing::fault;

template <class Value>
constexpr bool is_real = std::is_floating_point_v<Value>;

template <class Value>
Value value_of(double re, double im) {
  if constexpr (is_real<Value>) {
    return static_cast<Value>(re);
  } else {
    using real = typename Value::value_type;
    return {static_cast<real>(re), static_cast<real>(im)};
  }
}

template <class Value>
bool is_finite(const Value& v) {
  return sptrsv::detail::is_finite(*sptrsv::detail::as_scalar(&v));
}

/// Returns whether two numbers have the same bits or are both NaN: the sign and the payload of a computed NaN
/// depend on the order of the operands, which the compiler chooses.
template <class Value>
bool same_number(const Value& a, const Value& b) {
  if constexpr (is_real<Value>) {
    return std::memcmp(&a, &b, sizeof(Value)) == 0 || (std::isnan(a) && std::isnan(b));
  } else {
    return same_number(a.real(), b.real()) && same_number(a.imag(), b.imag());
  }
}
template <class Value>
bool same_bits(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_number<Value>);
}

/// A stored matrix without invariants. If `analyze` may read the arrays, they are as long as it expects.
template <class Value, class Index, class Offset>
struct stored_matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  std::vector<Offset> offsets;
  std::vector<Index> indices;
  std::vector<Value> values;
  bool by_columns = false;

  /// Calls `use` with a csr_view or a csc_view.
  template <class Use>
  auto visit(Use&& use) const {
    if (by_columns) {
      return use(sptrsv::csc_view<Value, Index, Offset>{rows, columns, entries, data(offsets), data(indices),
                                                        data(values)});
    }
    return use(sptrsv::csr_view<Value, Index, Offset>{rows, columns, entries, data(offsets), data(indices),
                                                      data(values)});
  }

  /// Returns the fault that `analyze` must report.
  [[nodiscard]] std::optional<fault> first_fault(const system_options& options) const {
    return sptrsv::testing::first_fault<Index, Offset>(*this, !values.empty(), options);
  }

 private:
  template <class T>
  static const T* data(const std::vector<T>& values) {
    return values.empty() ? nullptr : values.data();
  }
};

constexpr std::int64_t most_rows = 40;
constexpr std::int64_t most_entries = 400;
constexpr std::int64_t most_rhs = std::int64_t{1} << 32;

system_options draw_options(input_reader& input) {
  constexpr sptrsv::op operations[] = {sptrsv::op::none, sptrsv::op::transpose, sptrsv::op::conj_transpose};
  system_options options;
  const int choice = input.byte();
  options.part = (choice & 1) == 0 ? sptrsv::uplo::lower : sptrsv::uplo::upper;
  options.diagonal = (choice & 2) == 0 ? sptrsv::diag::non_unit : sptrsv::diag::unit;
  options.operation = operations[(choice >> 2) % 3];
  options.max_rhs = input.coin() ? 1 + input.below(5) : std::min(input.number(), most_rhs);
  return options;
}

/// Decodes a matrix of consistent arrays; entries may be repeated, and pivots may be missing.
template <class Value, class Index, class Offset>
stored_matrix<Value, Index, Offset> draw_matrix(input_reader& input) {
  stored_matrix<Value, Index, Offset> a;
  a.by_columns = input.coin();
  a.rows = a.columns = input.below(most_rows);
  a.offsets.push_back(0);
  for (std::int64_t m = 0; m < a.rows; ++m) {
    const int choice = input.byte();  // 0: the pivot alone
    if (choice % 16 != 15) {
      a.indices.push_back(static_cast<Index>(m));
    }
    for (int k = 0; k < choice % 16 / 2; ++k) {
      a.indices.push_back(static_cast<Index>(input.below(static_cast<int>(a.rows))));
    }
    if (choice >= 128) {
      std::reverse(a.indices.begin() + static_cast<std::ptrdiff_t>(a.offsets.back()), a.indices.end());
    }
    a.offsets.push_back(static_cast<Offset>(a.indices.size()));
  }
  a.entries = static_cast<std::int64_t>(a.indices.size());
  a.values.resize(a.indices.size());
  return a;
}

template <class T>
void damage(std::vector<T>& array, input_reader& input) {
  if (!array.empty()) {
    const auto at = static_cast<std::size_t>(input.byte()) % array.size();
    const T near = input.coin() ? 1 : -1;
    const bool is_extreme =
        array[at] == std::numeric_limits<T>::max() || array[at] == std::numeric_limits<T>::min();
    array[at] =
        input.coin() || is_extreme ? static_cast<T>(input.number()) : static_cast<T>(array[at] + near);
  }
}

/// Damages the matrix in up to three places. Sizes that `analyze` does not refuse are reduced, so that the
/// arrays can be as long as it expects.
template <class Value, class Index, class Offset>
void damage(stored_matrix<Value, Index, Offset>& a, input_reader& input) {
  bool no_arrays[3] = {};
  for (int accidents = input.below(4); accidents > 0; --accidents) {
    switch (input.below(8)) {
      case 0:
      case 1:
        damage(a.offsets, input);
        break;
      case 2:
      case 3:
        damage(a.indices, input);
        break;
      case 4:
        a.rows = input.number();
        a.columns = input.coin() ? a.rows : a.columns;
        break;
      case 5:
        a.columns = input.number();
        break;
      case 6:
        a.entries = input.number();
        break;
      default:
        no_arrays[input.below(3)] = true;
    }
  }
  if (a.rows >= 0 && a.rows == a.columns && a.rows <= std::numeric_limits<Index>::max()) {
    a.rows = a.columns = a.rows % most_rows;
    a.offsets.resize(static_cast<std::size_t>(a.rows) + 1, a.offsets.back());
    a.offsets.shrink_to_fit();
  }
  if (a.entries >= 0 && a.entries <= std::numeric_limits<Offset>::max()) {
    a.entries %= most_entries;
    a.indices.resize(static_cast<std::size_t>(a.entries));
    a.values.resize(a.indices.size());
    a.indices.shrink_to_fit();
    a.values.shrink_to_fit();
  }
  if (no_arrays[0]) {
    a.offsets = {};
  }
  if (no_arrays[1]) {
    a.indices = {};
  }
  if (no_arrays[2]) {
    a.values = {};
  }
}

/// Draws a number that arithmetic treats in a way of its own.
template <class Real>
double draw_extreme(input_reader& input) {
  using limits = std::numeric_limits<Real>;
  switch (const int choice = input.byte(); choice % 12) {
    case 0:
      return 0;
    case 1:
      return -0.0;
    case 2:
      return limits::infinity();
    case 3:
      return -limits::infinity();
    case 4:
      return limits::quiet_NaN();
    case 5:
      return limits::max();
    case 6:
      return limits::min();
    case 7:
      return limits::denorm_min();
    default:
      return choice / 16.0 - 4;
  }
}

/// Draws the values of a valid matrix. Unless they are `extreme`, solutions grow by at most a constant per
/// row.
template <class Value, class Index, class Offset>
void draw_values(stored_matrix<Value, Index, Offset>& a, bool extreme, input_reader& input) {
  using real = sptrsv::detail::real_t<Value>;
  for (std::int64_t m = 0; m < a.rows; ++m) {
    for (auto e = static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(m)]);
         e < static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(m) + 1]); ++e) {
      if (extreme) {
        const double re = draw_extreme<real>(input);
        a.values[e] = value_of<Value>(re, is_real<Value> ? 0 : draw_extreme<real>(input));
      } else {
        const int choice = input.byte();
        const double size = a.indices[e] == m ? 1 + choice / 256.0 : (choice - 128) / 128.0 / most_rows;
        a.values[e] = value_of<Value>(choice % 2 == 0 ? size : -size, size / 2);
      }
    }
  }
}

/// b or x: element (i, j) is at `i * row_stride + j * column_stride`.
template <class Value>
struct operand {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::vector<Value> elements;

  operand(std::int64_t row_count, std::int64_t column_count, input_reader& input)
      : rows(row_count), columns(column_count) {
    const int gap = input.below(3);
    const bool by_rows = input.coin();
    row_stride = by_rows ? columns + gap : 1;
    column_stride = by_rows ? 1 : rows + gap;
    if (rows > 0 && columns > 0) {
      elements.resize(static_cast<std::size_t>((rows - 1) * row_stride + (columns - 1) * column_stride + 1),
                      Value(1));
    }
  }
  [[nodiscard]] Value& at(std::int64_t i, std::int64_t j) {
    return elements[static_cast<std::size_t>(i * row_stride + j * column_stride)];
  }
  [[nodiscard]] sptrsv::dense_view<Value> view() {
    return {elements.data(), rows, columns, row_stride, column_stride};
  }
  [[nodiscard]] std::vector<Value> packed() {
    std::vector<Value> made;
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) {
        made.push_back(at(i, j));
      }
    }
    return made;
  }
};

/// Returns the code of what `action` throws; other exceptions than sptrsv::error end the process.
template <class Action>
std::optional<errc> code_of(Action&& action) {
  try {
    action();
  } catch (const sptrsv::error& refused) {
    return refused.code();
  }
  return std::nullopt;
}

/// Checks the status of a solve against its solution.
template <class Value>
void check_status(const solve_status& status, operand<Value>& x, const system_options& options) {
  std::optional<std::int64_t> first;
  const bool ascending = (options.part == sptrsv::uplo::lower) == (options.operation == sptrsv::op::none);
  for (std::int64_t k = 0; k < x.rows && !first; ++k) {
    const std::int64_t row = ascending ? k : x.rows - 1 - k;
    for (std::int64_t j = 0; j < x.columns && !first; ++j) {
      if (!is_finite(x.at(row, j))) {
        first = row;
      }
    }
  }
  check(status.ok() == !first.has_value(), "the status is ok exactly if the solution is finite");
  check(status.row == first, "the status names the first row that is not finite");
}

/// Calls the solver with sizes that it must refuse.
template <class Solver>
void check_refused_calls(Solver& solver, std::int64_t entries, input_reader& input) {
  using value = typename Solver::value_type;
  std::vector<value> few(1);
  const std::int64_t rows = input.coin() ? solver.rows() : input.number();
  const std::int64_t columns = input.number();
  const sptrsv::dense_view<value> operand(few.data(), rows, columns, 1, 1);
  if (rows != solver.rows() || columns < 0) {
    check(code_of([&] { solver.solve(operand, operand); }) == errc::size_mismatch, "sizes are checked");
  } else if (columns > solver.max_rhs()) {
    check(code_of([&] { solver.solve(operand, operand); }) == errc::too_many_rhs, "max_rhs is checked");
  }
  const auto count = static_cast<std::size_t>(input.number());
  if (count != static_cast<std::size_t>(entries)) {
    check(code_of([&] {
            solver.update_values({few.data(), count});
          }) == errc::size_mismatch,
          "the number of values is checked");
  }
}

/// Solves with the values of `a` and checks the solution. Returns it.
template <class Solver, class Matrix>
auto solve_and_check(Solver& solver, const Matrix& a, const system_options& options, bool extreme,
                     input_reader input) {
  using value = typename Solver::value_type;
  using real = sptrsv::detail::real_t<value>;
  const std::int64_t columns = std::min<std::int64_t>(options.max_rhs, input.below(5));
  operand<value> b(a.rows, columns, input);
  operand<value> x(a.rows, columns, input);
  const value alpha = extreme ? value_of<value>(draw_extreme<real>(input), 0)
                              : value_of<value>(input.below(5) - 2, is_real<value> ? 0 : input.below(3) - 1);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const double im = i % 3 - 1.0;
      b.at(i, j) = extreme ? value_of<value>(draw_extreme<real>(input), im)
                           : value_of<value>(input.byte() / 64.0 - 2, im);
    }
  }
  solver.solve(b.view(), x.view(), alpha);
  const solve_status status = solver.status();
  if (columns > 0) {
    check_status(status, x, options);
  }
  if (!extreme) {
    check(columns == 0 || status.ok(), "a solution of moderate values is finite");
    const auto result = a.visit([&](const auto& view) {
      return sptrsv::backward_error(view, options, sptrsv::dense_view<const value>(b.view()),
                                    sptrsv::dense_view<const value>(x.view()), alpha);
    });
    check(result.ok(), "the backward error is within its bound");
  }
  solver.solve(b.view(), b.view(), alpha);
  check(same_bits(b.packed(), x.packed()), "a solution in place has the same bits");
  return x.packed();
}

/// Analyses the matrix and, if it is valid, solves with it, with other values, and again.
template <class Policy, class Matrix>
void check_policy(const Policy& policy, Matrix a, const system_options& options, input_reader input) {
  const std::optional<fault> expected = a.first_fault(options);
  std::optional<fault> seen;
  const auto analyze = [&] {
    return a.visit([&](const auto& view) {
      return std::make_unique<decltype(sptrsv::analyze(policy, view, options))>(
          sptrsv::analyze(policy, view, options));
    });
  };
  decltype(analyze()) solver;
  const bool extreme = input.coin();
  if (!expected.has_value()) {
    draw_values(a, extreme, input);
  }
  try {
    solver = analyze();
  } catch (const sptrsv::error& refused) {
    seen = fault{refused.code(), refused.row()};
  }
  check(seen.has_value() == expected.has_value(), "exactly the matrices that are not valid are refused");
  if (seen.has_value()) {
    check(seen->code == expected->code, "the code is that of the first fault");
    check(seen->row == expected->row, "the error names the first row with the fault");
    return;
  }
  check_refused_calls(*solver, a.entries, input);
  const auto first = solve_and_check(*solver, a, options, extreme, input);
  check(same_bits(first, solve_and_check(*solver, a, options, extreme, input)),
        "a repeated solve: same bits");
  draw_values(a, extreme, input);
  solver->update_values({a.values.data(), a.values.size()});
  const auto updated = solve_and_check(*solver, a, options, extreme, input);
  const auto anew = analyze();
  check(same_bits(updated, solve_and_check(*anew, a, options, extreme, input)),
        "update_values gives the bits of a new analysis");
}

template <class Value, class Index, class Offset>
void check_types(input_reader input) {
  const int workers = input.below(5);  // 0: host_serial
  const system_options options = draw_options(input);
  auto a = draw_matrix<Value, Index, Offset>(input);
  damage(a, input);
  if (workers == 0) {
    check_policy(sptrsv::policy::host_serial{}, a, options, input);
  } else {
    check_policy(sptrsv::policy::host_parallel{workers - 1}, a, options, input);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input_reader input(data, size);
  switch (input.below(4)) {
    case 0:
      check_types<double, std::int32_t, std::int32_t>(input);
      break;
    case 1:
      check_types<float, std::int64_t, std::int64_t>(input);
      break;
    case 2:
      check_types<std::complex<double>, std::int32_t, std::int64_t>(input);
      break;
    default:
      check_types<std::complex<float>, std::int32_t, std::int32_t>(input);
  }
  return 0;
}
