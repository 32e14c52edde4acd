// Solves a system on the devices of an emulated cluster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sptrsv/detail/distributed/engine.hpp"
#include "support/emulator_target.hpp"
#include "support/emulator_team.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"

namespace sptrsv::testing {

/// Rows [first, first + rows) of a matrix.
template <class Value>
struct matrix_slice {
  std::int64_t first;
  std::int64_t rows;
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<Value> values;
};

/// Returns the share of PE `rank` of `pes` in the rows: of different sizes, some of them empty.
inline std::pair<std::int64_t, std::int64_t> share_of(std::int64_t size, int rank, int pes) {
  const auto cut = [&](std::int64_t r) { return size * r * r / (std::int64_t{pes} * pes); };
  return {cut(rank), cut(rank + 1)};
}

template <class Value>
matrix_slice<Value> slice(const csr_matrix<Value, std::int32_t, std::int32_t>& a, int rank, int pes) {
  const auto [begin, end] = share_of(a.rows, rank, pes);
  matrix_slice<Value> made{begin, end - begin, {0}, {}, {}};
  for (std::int64_t i = begin; i < end; ++i) {
    for (auto e = a.row_offsets[static_cast<std::size_t>(i)];
         e < a.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
      made.columns.push_back(a.column_indices[static_cast<std::size_t>(e)]);
      made.values.push_back(a.values[static_cast<std::size_t>(e)]);
    }
    made.offsets.push_back(static_cast<std::int32_t>(made.columns.size()));
  }
  return made;
}

/// A distributed solver of one PE, and what a test does with it.
template <class Value>
class pe_solver {
 public:
  using scalar = detail::scalar_t<Value>;
  using engine =
      detail::distributed::engine<scalar, std::int32_t, std::int32_t, emulator_team, emulator::executor>;

  pe_solver(const matrix_slice<Value>& rows, std::int64_t size, const system_options& options,
            const detail::distributed::plan_options& how, emulator_team& team, emulator::device& where)
      : rows_(rows.rows),
        first_(rows.first),
        on_(&where),
        engine_({rows.first, rows.rows, size, rows.offsets.data(), rows.columns.data(),
                 detail::as_scalar(rows.values.data())},
                options, how, team, on_, where.resource()) {}

  [[nodiscard]] engine& get() { return engine_; }
  [[nodiscard]] const emulator::executor& on() const { return on_; }

  /// Enqueues a solve for the own rows.
  void enqueue(const buffer<Value>& b, buffer<Value>& x, std::int64_t columns, Value alpha) {
    engine_.solve(detail::load_scalar(detail::as_scalar(&alpha)),
                  {detail::as_scalar(static_cast<const Value*>(b.data())), rows_, columns, 1, rows_},
                  {detail::as_scalar(x.data()), rows_, columns, 1, rows_}, on_);
  }
  /// Returns the own rows of `b`, which has `columns` columns of the whole system.
  buffer<Value> upload(const std::vector<Value>& b, std::int64_t size, std::int64_t columns) {
    std::vector<Value> mine;
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        mine.push_back(b[static_cast<std::size_t>(c * size + first_ + i)]);
      }
    }
    buffer<Value> made(mine.size(), on_.default_resource(), on_.stream());
    on_.upload(made.data(), mine.data(), made.bytes());
    return made;
  }
  /// Copies the own rows of a solution to their places in `x`.
  void take(const buffer<Value>& from, std::int64_t size, std::int64_t columns, std::vector<Value>& x) {
    std::vector<Value> mine(from.size());
    on_.download(mine.data(), from.data(), from.bytes());
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        x[static_cast<std::size_t>(c * size + first_ + i)] = mine[static_cast<std::size_t>(c * rows_ + i)];
      }
    }
  }

 private:
  std::int64_t rows_;
  std::int64_t first_;
  emulator::executor on_;
  engine engine_;
};

}  // namespace sptrsv::testing
