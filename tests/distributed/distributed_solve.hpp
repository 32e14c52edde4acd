// Solves a system on several PEs: on the devices of an emulated cluster, or on GPUs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/generators/cholesky.hpp"
#include "sptrsv/detail/distributed/distributed_engine.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "support/layout.hpp"
#include "support/limited_resource.hpp"
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

/// Returns the rows [begin, end).
template <class Value>
matrix_slice<Value> rows_of(const csr_matrix<Value, std::int32_t, std::int32_t>& a, std::int64_t begin,
                            std::int64_t end) {
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
template <class Value>
matrix_slice<Value> slice(const csr_matrix<Value, std::int32_t, std::int32_t>& a, int rank, int pes) {
  const auto [begin, end] = share_of(a.rows, rank, pes);
  return rows_of(a, begin, end);
}

/// Returns the pattern of the complete factor of a grid in nested dissection.
inline pattern factor_of_grid(int nx, int ny, int nz = 1) {
  const sptrsv_common::pattern factor = sptrsv_common::complete_cholesky_of_grid({nx, ny, nz});
  pattern made{"factor_" + std::to_string(factor.rows()), factor.rows(), {}};
  for (std::int64_t i = 0; i < made.size; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = factor.row_offsets[row]; e < factor.row_offsets[row + 1] - 1; ++e) {
      made.entries.push_back({i, factor.columns[static_cast<std::size_t>(e)]});
    }
  }
  return made;
}

/// Panels of a few entries for warps and blocks, so that small systems have tasks of every kind.
struct small_tasks : experimental::supernodal_tuning {
  static constexpr int block_threads = 64;
  static constexpr int max_width = 12;
  static constexpr double max_padding = 0.5;
  static constexpr double max_narrow_padding = 0.6;
  static constexpr int tile_bytes = 512;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int product_rows = 8;
  static constexpr int product_columns = 8;
};
/// Forests, and above them panels that blocks share.
struct small_forests_of_pes : small_tasks {
  static constexpr int tile_bytes = 2560;
};

/// How a plan is made: a policy, with the costs of a machine.
struct plan_options {
  int pes = 0;
  supernode_dealing how = supernode_dealing::automatic;
  double max_growth = 1000;
  detail::distributed::machine_costs costs{};
  pe_transport sends = pe_transport::automatic;
  int grid_rows = 0;
  pe_tree tree = pe_tree::automatic;

  [[nodiscard]] sptrsv::policy::distributed policy() const {
    sptrsv::policy::distributed made;
    made.pes = pes;
    made.dealing = how;
    made.max_growth = max_growth;
    made.transport = sends;
    made.grid_rows = grid_rows;
    made.tree = tree;
    return made;
  }
};

/// A distributed solver of one PE, and what a test does with it.
template <class Tuning, class Value, class Team, class Executor>
class pe_solver {
 public:
  using scalar = detail::scalar_t<Value>;
  using engine = detail::distributed::engine<Tuning, scalar, std::int32_t, std::int32_t, Team, Executor>;

  pe_solver(const matrix_slice<Value>& rows, std::int64_t size, const system_options& options,
            const plan_options& how, Team& team, const Executor& on, memory_resource* resource = nullptr)
      : rows_(rows.rows),
        first_(rows.first),
        on_(on),
        engine_({rows.first, rows.rows, size, rows.offsets.data(), rows.columns.data(),
                 detail::as_scalar(rows.values.data())},
                options, how.policy(), how.costs, team, on_,
                resource != nullptr ? *resource : on_.default_resource()) {}

  [[nodiscard]] engine& get() { return engine_; }
  [[nodiscard]] const Executor& on() const { return on_; }

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
  Executor on_;
  engine engine_;
};

/// A run of several solves, enqueued one after the other without waiting in between.
struct solve_run {
  pattern p;
  form f;
  plan_options how{};
  std::vector<std::int64_t> columns{1, 3, 2, 1, 1, 3};
};

/// Solves on all PEs and checks the backward errors. `pes.run(body)` calls body(team, executor) for each PE.
template <class Value, class Tuning, class Pes>
void check_solves(const solve_run& run, Pes& pes) {
  form by_rows = run.f;
  by_rows.by_columns = false;
  const auto a = make_matrix<Value>(run.p, by_rows).by_rows;
  const auto size = run.p.size;
  std::vector<std::vector<Value>> b, x;
  for (std::size_t k = 0; k < run.columns.size(); ++k) {
    b.push_back(random_vector<Value>(size * run.columns[k], k));
    x.push_back(poisoned<Value>(b.back().size()));
  }
  const auto alpha = make_value<Value>(1.5);
  pes.run([&](auto& team, const auto& on) {
    pe_solver<Tuning, Value, std::decay_t<decltype(team)>, std::decay_t<decltype(on)>> solver(
        slice(a, team.rank(), team.size()), size, run.f.options(3), run.how, team, on);
    std::vector<buffer<Value>> from, to;
    for (std::size_t k = 0; k < b.size(); ++k) {
      from.push_back(solver.upload(b[k], size, run.columns[k]));
      to.push_back(solver.upload(x[k], size, run.columns[k]));
    }
    for (std::size_t k = 0; k < b.size(); ++k) {
      solver.enqueue(from[k], k % 2 == 0 ? to[k] : from[k], run.columns[k], alpha);
    }
    detail::distributed::gather(team, std::vector<char>{});  // all have enqueued before one waits for its GPU
    for (std::size_t k = 0; k < b.size(); ++k) {
      solver.take(k % 2 == 0 ? to[k] : from[k], size, run.columns[k], x[k]);
    }
    EXPECT_TRUE(solver.get().status(solver.on()).ok());
  });
  for (std::size_t k = 0; k < b.size(); ++k) {
    const dense_view<const Value> from(b[k].data(), size, run.columns[k], 1, size);
    const dense_view<const Value> to(x[k].data(), size, run.columns[k], 1, size);
    const auto error = backward_error(a, run.f.options(3), from, to, alpha);
    EXPECT_TRUE(error.error <= run.how.max_growth * error.bound)
        << run.p.name << ", " << run.f.name() << ", solve " << k << ": " << error.error << " exceeds "
        << error.bound;
  }
}

/// Solves for b = 1 with the factor of a grid on PEs that have `limit` bytes of memory each, and returns the
/// most memory that a PE had. Checks the backward error. The supernodes above the subtrees are dealt one by
/// one, so that PEs have similar shares of the entries.
template <class Pes>
std::size_t solve_in_memory(const pattern& p, std::size_t limit, Pes& pes) {
  const auto a = make_matrix<double>(p, form{}).by_rows;
  const std::vector<double> b(static_cast<std::size_t>(a.rows), 1);
  std::vector<double> x(b.size());
  std::atomic<std::size_t> peak{0};
  pes.run([&](auto& team, const auto& on) {
    limited_resource memory(on.default_resource(), limit);
    {
      pe_solver<experimental::supernodal_tuning, double, std::decay_t<decltype(team)>,
                std::decay_t<decltype(on)>>
          solver(slice(a, team.rank(), team.size()), a.rows, {}, {team.size(), supernode_dealing::top, 1000},
                 team, on, &memory);
      auto own = solver.upload(b, a.rows, 1);
      solver.enqueue(own, own, 1, 1);
      detail::distributed::gather(team, std::vector<char>{});
      solver.take(own, a.rows, 1, x);
    }
    std::size_t before = peak;
    while (before < memory.peak() && !peak.compare_exchange_weak(before, memory.peak())) {
    }
  });
  const auto error =
      backward_error(a, form{}.options(1), dense_view<const double>(b.data(), a.rows, 1, 1, a.rows),
                     dense_view<const double>(x.data(), a.rows, 1, 1, a.rows), 1.0);
  EXPECT_LE(error.error, 1000 * error.bound);
  return peak;
}

/// A factor that needs 2.5 times the memory of one PE is solved by four that have no more each.
template <class MakePes>
void check_memory_limit(const pattern& p, const MakePes& make_pes) {
  auto one = make_pes(1);
  const std::size_t needed = solve_in_memory(p, std::numeric_limits<std::size_t>::max(), *one);
  const std::size_t share = needed * 2 / 5;
  try {
    auto alone = make_pes(1);
    solve_in_memory(p, share, *alone);
    ADD_FAILURE() << "one PE needs no more than " << share << " bytes";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory) << e.what();
  }
  auto four = make_pes(4);
  EXPECT_LE(solve_in_memory(p, share, *four), share);
}

/// A bound on the growth, so that supernodes are cut where the values of a test need it.
inline constexpr double test_growth = 8;

/// Returns plans for `pes` PEs that deal the supernodes in different ways.
inline std::vector<plan_options> plans_for(int pes) {
  const auto grid = [&](int rows, pe_tree tree) {
    plan_options how{pes, supernode_dealing::grid, test_growth};
    how.grid_rows = rows;
    how.tree = tree;
    return how;
  };
  return {{pes, supernode_dealing::cyclic, test_growth},
          {pes, supernode_dealing::subtrees, test_growth},
          {pes, supernode_dealing::top, test_growth},
          grid(pes, pe_tree::binary),
          grid(pes % 2 == 0 && pes > 2 ? pes / 2 : pes, pe_tree::flat)};
}

}  // namespace sptrsv::testing
