// Row elimination of dataflow, in the emulator: which rows are rewritten, how accurate solutions are, and
// what status() says of new values that the rewriting does not suit.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/dataflow.hpp"

namespace sptrsv::testing {
namespace {

using policy::dataflow_path;
using kind = solve_status::kind;

class RowElimination : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  static policy::dataflow rewriting(dataflow_path path = dataflow_path::row_per_thread,
                                    double max_growth = 64) {
    return {path, policy::row_order::levels, 0, false, max_growth};
  }
  static policy::dataflow in_exact_order(dataflow_path path = dataflow_path::row_per_thread) {
    return {path};
  }

  auto analyze(const matrix& a, const policy::dataflow& how, const form& f = {}) {
    return sptrsv::analyze(how, where.upload(a.by_rows), f.options(), where.stream());
  }
  solver_info info_of(const matrix& a, const policy::dataflow& how) { return analyze(a, how).info(); }

  /// Returns a chain: row i has the pivot d(i), and u(i) times d(i) left of it.
  template <class Entry, class Pivot>
  static matrix chain_of(std::int64_t size, Entry u, Pivot d) {
    matrix a = make(patterns::chain(size), {});
    for (std::int64_t i = 0; i < size; ++i) {
      a.set(i, i, d(i));
      if (i > 0) {
        a.set(i, i - 1, u(i) * d(i));
      }
    }
    return a;
  }
  static matrix chain_of(std::int64_t size, double u) {
    return chain_of(
        size, [=](auto) { return u; }, [](auto) { return 1.0; });
  }

  static std::vector<double> product(const matrix& a, const std::vector<double>& x) {
    std::vector<double> y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (auto e = static_cast<std::size_t>(a.by_rows.row_offsets[i]);
           e < static_cast<std::size_t>(a.by_rows.row_offsets[i + 1]); ++e) {
        y[i] += a.by_rows.values[e] * x[static_cast<std::size_t>(a.by_rows.column_indices[e])];
      }
    }
    return y;
  }

  using wide = long double;

  /// Returns, for each row, the largest element of `of` in the same run of 32 rows.
  static std::vector<wide> largest_of_runs_of_rows(const matrix&, const std::vector<wide>& of) {
    std::vector<wide> largest(of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      const auto base = of.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32);
      largest[i] = *std::max_element(base, base + std::min<std::ptrdiff_t>(32, of.end() - base));
    }
    return largest;
  }

  /// Returns, for each row, the largest element of `of` among itself and the rows that it needs, directly or
  /// not, in its run of `length` levels.
  static auto largest_of_runs(std::int64_t length) {
    return [=](const matrix& a, const std::vector<wide>& of) {
      const auto& rows = a.by_rows;
      std::vector<std::int64_t> levels(of.size());
      std::vector<wide> largest = of;
      for (std::size_t i = 0; i < of.size(); ++i) {
        const auto for_needed = [&](auto visit) {
          for (auto e = static_cast<std::size_t>(rows.row_offsets[i]);
               e < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++e) {
            const auto j = static_cast<std::size_t>(rows.column_indices[e]);
            if (j < i) {
              visit(j);
            }
          }
        };
        for_needed([&](std::size_t j) { levels[i] = std::max(levels[i], levels[j] + 1); });
        for_needed([&](std::size_t j) {
          if (levels[j] / length == levels[i] / length) {
            largest[i] = std::max(largest[i], largest[j]);
          }
        });
      }
      return largest;
    };
  }

  /// Expects that each residual, divided by its pivot, is at most `growth` times the largest residual that
  /// substitution may leave in the rows that are eliminated together; and that x is not further from the
  /// result of substitution than such residuals explain. `largest_together`: one of the functions above.
  template <class LargestTogether>
  static void expect_solved_together(const matrix& a, const std::vector<double>& b,
                                     const std::vector<double>& x, double growth, const std::string& name,
                                     const LargestTogether& largest_together) {
    const auto expected = reference(a, {}, b);
    const auto bound = backward_error(a.by_rows, system_options{}, b, expected).bound;
    const auto& rows = a.by_rows;
    const std::size_t size = b.size();
    std::vector<wide> missed(size);
    std::vector<wide> scale(size);
    const auto for_entries = [&](std::size_t i, auto visit) {
      for (auto e = static_cast<std::size_t>(rows.row_offsets[i]);
           e < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++e) {
        visit(static_cast<std::size_t>(rows.column_indices[e]), static_cast<wide>(rows.values[e]));
      }
    };
    std::vector<wide> pivots(size);
    for (std::size_t i = 0; i < size; ++i) {
      wide residual = b[i];
      wide terms = std::fabs(static_cast<wide>(b[i]));
      for_entries(i, [&](std::size_t j, wide value) {
        residual -= value * x[j];
        terms += std::fabs(value * x[j]);
        pivots[i] = j == i ? std::fabs(value) : pivots[i];
      });
      missed[i] = std::fabs(residual) / pivots[i];
      scale[i] = terms / pivots[i];
    }
    std::vector<wide> allowed = largest_together(a, scale);
    for (std::size_t i = 0; i < size; ++i) {
      allowed[i] *= growth * bound;
      EXPECT_LE(missed[i], allowed[i]) << name << ", row " << i;
    }
    std::vector<wide> distance(size);
    for (std::size_t i = 0; i < size; ++i) {
      distance[i] = 2 * allowed[i];
      for_entries(i, [&](std::size_t j, wide value) {
        distance[i] += j < i ? std::fabs(value) * distance[j] / pivots[i] : 0;
      });
      EXPECT_LE(std::fabs(static_cast<wide>(x[i]) - expected[i]), distance[i]) << name << ", row " << i;
    }
  }
  static void expect_solved_in_runs_of_rows(const matrix& a, const std::vector<double>& b,
                                            const std::vector<double>& x, double growth,
                                            const std::string& name) {
    expect_solved_together(a, b, x, growth, name, largest_of_runs_of_rows);
  }

  /// Rows are rewritten by runs of `length` levels.
  static policy::dataflow in_runs(int length, dataflow_path path = dataflow_path::row_per_thread,
                                  double max_growth = 64) {
    policy::dataflow how = rewriting(path, max_growth);
    how.run_levels = length;
    return how;
  }
};

bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_F(RowElimination, LeavesOneLevelForThirtyTwoRowsOfAChain) {
  const matrix a = make(patterns::chain(600), {});
  for (const auto path : {dataflow_path::row_per_thread, dataflow_path::partitioned,
                          dataflow_path::single_block, dataflow_path::automatic}) {
    auto solver = analyze(a, rewriting(path));
    const solver_info info = solver.info();
    EXPECT_TRUE(contains(info.plan, "581 of 600 rows rewritten in runs of 32 rows, levels 600 to 19"))
        << info.plan;
    EXPECT_EQ(info.rewritten_rows, 581);
    EXPECT_EQ(info.levels, 600);
    EXPECT_EQ(info.levels_solved, 19);
    EXPECT_EQ(info.longest_row, 1);
    EXPECT_EQ(info.entries, 599 + 600);
    ASSERT_EQ(info.kernels.size(), 2u);
    EXPECT_EQ(info.kernels[0].rewritten_rows, 581);
    EXPECT_EQ(info.kernels[0].levels_together, 32);
    EXPECT_TRUE(contains(info.kernels[0].text, "581 rewritten rows, 9204 entries")) << info.kernels[0].text;
    const auto b = random_vector<double>(600, 7);
    expect_solved_in_runs_of_rows(a, b, solve(solver, b), 64, info.plan);
  }
}

TEST_F(RowElimination, LowersLevelsAndNeverRaisesThem) {
  using levels = std::pair<std::int64_t, std::int64_t>;  // before and after
  const auto levels_of = [&](const pattern& p) {
    const solver_info info = info_of(make(p, {}), rewriting());
    return levels(info.levels, info.levels_solved);
  };
  EXPECT_EQ(levels_of(patterns::band(300, 5)), levels(300, 10));
  EXPECT_EQ(levels_of(patterns::dense(13)), levels(13, 1));
  EXPECT_EQ(levels_of(patterns::block_diagonal(96, 8)), levels(8, 1));
  EXPECT_EQ(levels_of(patterns::stencil_2d(30, 6)), levels(35, 6));
}

TEST_F(RowElimination, IsNotDoneUnlessAllowed) {
  const matrix a = make(patterns::chain(600), {});
  EXPECT_TRUE(policy::dataflow{}.exact_order);
  const solver_info info = analyze(a, policy::dataflow{}).info();
  EXPECT_FALSE(contains(info.plan, "rewritten")) << info.plan;
  EXPECT_EQ(info.rewritten_rows, 0);
  EXPECT_EQ(info.levels_solved, info.levels);
  EXPECT_EQ(info.kernels.size(), 1u);
  const auto b = random_vector<double>(600, 7);
  auto exact = analyze(a, in_exact_order());
  auto rewritten = analyze(a, rewriting());
  EXPECT_FALSE(same_bits(solve(exact, b), solve(rewritten, b))) << "the test sees the difference";
}

TEST_F(RowElimination, IsNotDoneWhereFewRowsGain) {
  for (const pattern& p : {patterns::diagonal(200), patterns::arrow_row(200), patterns::layers(400, 80, 3)}) {
    const matrix a = make(p, {});
    auto solver = analyze(a, rewriting());
    EXPECT_EQ(solver.info().rewritten_rows, 0) << p.name;
    EXPECT_TRUE(contains(solver.info().plan, "not rewritten: only ")) << p.name << ": " << solver.info().plan;
    const auto b = random_vector<double>(p.size, 7);
    auto exact = analyze(a, in_exact_order());
    EXPECT_TRUE(same_bits(solve(solver, b), solve(exact, b))) << p.name;
  }
}

TEST_F(RowElimination, IsDoneByPredictedTime) {
  const solver_info faster = info_of(make(patterns::chain(600), {}), rewriting(dataflow_path::automatic));
  EXPECT_EQ(faster.rewritten_rows, 581);
  EXPECT_TRUE(contains(faster.plan,
                       "; 581 of 600 rows rewritten in runs of 32 rows, levels 600 to 19, predicted 0.00"))
      << faster.plan;
  EXPECT_TRUE(contains(faster.plan, " ms, as it is 0.0")) << faster.plan;
  const solver_info slower =
      info_of(make(patterns::stencil_2d(128, 8), {}), rewriting(dataflow_path::automatic));
  EXPECT_EQ(slower.rewritten_rows, 0);
  EXPECT_EQ(slower.levels_solved, 135);
  EXPECT_TRUE(
      contains(slower.plan,
               "; not rewritten: a solve with 992 of 1024 rows rewritten in runs of 32 rows is predicted"))
      << slower.plan;
}

/// Of the 95 levels of the grid, 50 would be left if the rows of each 32 consecutive ones did not need each
/// other.
TEST_F(RowElimination, IsNotTriedWhereManyLevelsWouldBeLeft) {
  const matrix grid = make(patterns::stencil_2d(48, 48), {});
  const solver_info automatic = info_of(grid, rewriting(dataflow_path::automatic));
  EXPECT_EQ(automatic.rewritten_rows, 0);
  EXPECT_EQ(automatic.levels_solved, 95);
  EXPECT_TRUE(contains(automatic.plan, "; not rewritten: at least 52 % of the levels would be left"))
      << automatic.plan;
  EXPECT_GT(info_of(grid, rewriting()).rewritten_rows, 0) << "if a path is asked for";
}

/// One warp merges the columns of a row one by one, which takes milliseconds for a row that is nearly full.
TEST_F(RowElimination, LeavesLongRowsAsTheyAre) {
  const std::int64_t size = experimental::dataflow_tuning::longest_rewritten_row + 70;
  const auto rewritten_of = [&](std::int64_t length) {
    const pattern chain_with_long_row = patterns::where("long_row", size, [&](auto row, auto column) {
      return column + (row == size - 1 ? length : 1) >= row;
    });
    return info_of(make(chain_with_long_row, {}), rewriting()).rewritten_rows;
  };
  const std::int64_t with_short_row = rewritten_of(experimental::dataflow_tuning::longest_rewritten_row);
  EXPECT_EQ(rewritten_of(experimental::dataflow_tuning::longest_rewritten_row + 1), with_short_row - 1);
}

TEST_F(RowElimination, IsNotTriedWhereItCannotPay) {
  const matrix small = make(patterns::stencil_2d(8, 8), {});
  const solver_info automatic = info_of(small, rewriting(dataflow_path::automatic));
  EXPECT_TRUE(contains(
      automatic.plan,
      "not rewritten: no rewritten system can be solved so much faster that it pays, predicted at least"))
      << automatic.plan;
  EXPECT_GT(info_of(small, rewriting()).rewritten_rows, 0) << "if a path is asked for";
  // Its levels are wide: most of their time is that of their rows, which stay.
  const std::string of_wide =
      info_of(make(patterns::stencil_2d(64, 64), {}), rewriting(dataflow_path::automatic)).plan;
  EXPECT_TRUE(contains(of_wide, "; not rewritten: runs of 4 levels cannot save so much that it pays"))
      << of_wide;
}

TEST_F(RowElimination, StaysUnderTheBoundOfTheGrowth) {
  const auto rewritten_rows = [&](double u, const policy::dataflow& how) {
    return info_of(chain_of(320, u), how).rewritten_rows;
  };
  // If every row needs the one before it by a factor u, the growth of row k is 2 (1 + u + ... + u^k) - 1.
  EXPECT_EQ(rewritten_rows(1, rewriting()), 310) << "63 is allowed";
  EXPECT_EQ(rewritten_rows(1, rewriting(dataflow_path::row_per_thread, 62.9)), 300);
  EXPECT_EQ(rewritten_rows(3, rewriting()), 210) << "1, 7, 25, 79";
  EXPECT_EQ(rewritten_rows(100, rewriting()), 0);
  const std::string plan = info_of(chain_of(320, 100), rewriting()).plan;
  EXPECT_TRUE(contains(plan, "not rewritten: only 0 rows could be")) << plan;
}

TEST_F(RowElimination, SolvesIllConditionedTriangles) {
  const auto one = [](auto) { return 1.0; };
  const auto alternating = [](auto i) { return i % 2 == 0 ? 1.0 : -1.0; };
  const auto check = [&](const matrix& a, double growth, const std::string& name) {
    const auto any = random_vector<double>(a.size(), 7);
    for (const auto path : {dataflow_path::row_per_thread, dataflow_path::partitioned}) {
      auto solver = analyze(a, rewriting(path, growth));
      for (const auto& b :
           {any, product(a, any)}) {  // with the second, x is small although inverses are large
        expect_solved_in_runs_of_rows(a, b, solve(solver, b), growth, name);
        EXPECT_TRUE(solver.status(where.stream()).ok()) << name;
      }
    }
  };
  for (const double growth : {1.0, 8.0, 64.0, 1e6}) {
    check(chain_of(400, 1), growth, "ones");
    check(chain_of(400, alternating, one), growth, "alternating");
    check(chain_of(200, 1.5), growth, "growing");
    check(chain_of(200, -3), growth, "growing fast");
    check(chain_of(400, alternating, [](auto i) { return std::pow(10.0, static_cast<double>(i % 16) - 8); }),
          growth, "graded rows");
    check(chain_of(
              400, [](auto i) { return i % 16 == 0 ? 1e-15 : 10.0; },
              [](auto i) { return std::pow(0.1, static_cast<double>(i % 16)); }),
          growth, "graded columns");
    for (const pattern& p :
         {patterns::dense(96), patterns::band(300, 12), patterns::block_diagonal(160, 16)}) {
      matrix a = make(p, {});
      random_source source(3);
      for (const auto& e : p.entries) {
        a.set(e.row, e.column, source.between(-1.0, 1.0));
      }
      check(a, growth, p.name);
    }
  }
}

TEST_F(RowElimination, TakesNewValuesAsIfAnalysedWithThem) {
  const pattern p = patterns::band(200, 4);
  const matrix old = make(p, {}, 1);
  const matrix fresh = make(p, {}, 2);
  const auto b = random_vector<double>(p.size, 7);
  auto solver = analyze(old, rewriting());
  auto other = analyze(fresh, rewriting());
  EXPECT_EQ(solver.info().plan, other.info().plan);
  const auto old_x = solve(solver, b);
  solver.update_values(where.upload(fresh.values()), where.stream());
  EXPECT_TRUE(same_bits(solve(solver, b), solve(other, b)));
  solver.update_values(where.upload(old.values()), where.stream());
  EXPECT_TRUE(same_bits(solve(solver, b), old_x));
}

TEST_F(RowElimination, SaysThatNewValuesGrowTooMuch) {
  for (const bool upper : {false, true}) {
    const form f{upper ? uplo::upper : uplo::lower};
    const matrix a = make(patterns::chain(200), f);
    matrix grown = a;
    for (const std::int64_t index : {77, 140}) {  // neither is the first row of a run
      const std::int64_t row = upper ? 199 - index : index;
      grown.set(row, row + (upper ? 1 : -1), 100.0);
    }
    const auto b = random_vector<double>(200, 7);
    auto solver = analyze(a, rewriting(), f);
    EXPECT_TRUE(solver.status(where.stream()).ok());
    const auto x = solve(solver, b);
    solver.update_values(where.upload(grown.values()), where.stream());
    solve(solver, b);
    const solve_status status = solver.status(where.stream());
    EXPECT_EQ(status.code, kind::growth);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.row.value_or(-1), upper ? 199 - 77 : 77);
    auto bad = b;
    bad[20] = std::numeric_limits<double>::quiet_NaN();
    solve(solver, bad);
    EXPECT_EQ(solver.status(where.stream()).code, kind::non_finite) << "it comes first";
    solver.update_values(where.upload(a.values()), where.stream());
    EXPECT_TRUE(same_bits(solve(solver, b), x));
    EXPECT_TRUE(solver.status(where.stream()).ok());
    auto anew = analyze(grown, rewriting(), f);
    expect_solved(grown, f, "grown", single(200), b, solve(anew, b), 1.0, 64);
    EXPECT_TRUE(anew.status(where.stream()).ok());
  }
}

TEST_F(RowElimination, SpreadsZeroPivotsAndNaNsOfNewValuesLikeSubstitution) {
  const pattern p = patterns::band(100, 3);
  const matrix a = make(p, {});
  const auto b = random_vector<double>(p.size, 7);
  for (const std::int64_t row : {0, 40, 64, 70}) {
    for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
      auto solver = analyze(a, rewriting());
      matrix changed = a;
      changed.set(row, row, bad);
      solver.update_values(where.upload(changed.values()), where.stream());
      const auto x = solve(solver, b);
      const auto expected = reference(changed, {}, b);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "component " << i << ", pivot " << row;
      }
      const solve_status status = solver.status(where.stream());
      EXPECT_EQ(status.code, bad == 0 ? kind::zero_pivot : kind::non_finite);
      EXPECT_EQ(status.row.value_or(-1), row);
    }
  }
}

/// Values that are not finite, and zeros, in small bands: at `analyze`, in update_values and in b. Rows next
/// to them are rewritten, and have stored zeros where factors are zero.
TEST_F(RowElimination, SpreadsWhatIsNotFiniteLikeSubstitutionOnEveryPath) {
  using limits = std::numeric_limits<double>;
  const double bad[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity(), 0.0};
  const dataflow_path paths[] = {dataflow_path::row_per_thread, dataflow_path::partitioned,
                                 dataflow_path::single_block, dataflow_path::natural_blocks};
  int rewritten = 0;
  for (std::uint64_t trial = 100; trial < 200; ++trial) {
    random_source source(trial);
    const std::int64_t size = 10 + source.below(40);
    const std::int64_t width = 1 + source.below(3);
    matrix a = make(patterns::band(size, width), {}, trial);
    const auto spoil = [&] {
      const std::int64_t row = source.below(size);
      a.set(row, std::max<std::int64_t>(0, row - source.below(width + 1)), bad[source.below(4)]);
    };
    spoil();
    auto solver = analyze(a, rewriting(paths[trial % 3]));
    rewritten += solver.info().rewritten_rows > 0 ? 1 : 0;
    auto b = random_vector<double>(size, trial);
    for (const bool updates : {false, true}) {
      if (updates) {
        spoil();
        b[static_cast<std::size_t>(source.below(size))] = bad[source.below(3)];
        solver.update_values(where.upload(a.values()), where.stream());
      }
      const auto x = solve(solver, b);
      const auto expected = reference(a, {}, b);
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i]))
            << "trial " << trial << ", component " << i << (updates ? ", new values" : "");
      }
      const auto first =
          std::find_if(expected.begin(), expected.end(), [](double v) { return !std::isfinite(v); });
      const solve_status status = solver.status(where.stream());
      if (first != expected.end()) {
        ASSERT_EQ(status.row.value_or(-1), first - expected.begin()) << "trial " << trial;
      }
    }
  }
  EXPECT_GT(rewritten, 50);
}

TEST_F(RowElimination, SumsUpTheGrowthOfNewValues) {
  auto solver = analyze(chain_of(200, 0.1), rewriting());
  const auto row_for = [&](double u) {
    const matrix a = chain_of(200, u);
    solver.update_values(where.upload(a.values()), where.stream());
    return solver.status(where.stream()).row.value_or(-1);
  };
  EXPECT_EQ(row_for(3), 3) << "1, 7, 25, 79";
  EXPECT_EQ(row_for(-3), 3);
  EXPECT_EQ(row_for(1), -1);
}

/// Row 33 would have ten times an entry of row 32.
TEST_F(RowElimination, IsNotDoneWhereInversesOverflow) {
  const pattern p = patterns::band(64, 2);
  matrix a = make(p, {});
  a.set(33, 32, 10.0);
  a.set(33, 33, 1.0);
  a.set(32, 32, 1.0);
  a.set(32, 31, 1e308);
  a.set(31, 31, 1e300);
  auto solver = analyze(a, rewriting());
  EXPECT_EQ(solver.info().rewritten_rows, 0);
  EXPECT_TRUE(contains(solver.info().plan, "not rewritten: inverses are not finite")) << solver.info().plan;
  const auto b = random_vector<double>(p.size, 7);
  expect_solved(a, {}, p.name, b, solve(solver, b));
}

/// The row_per_thread path combines a single right-hand side itself.
TEST_F(RowElimination, TakesOneLaunchMoreExceptByRows) {
  const matrix a = make(patterns::chain(100), {});
  const auto b = random_vector<double>(100, 7);
  const auto launches_of = [&](const policy::dataflow& how) {
    auto solver = analyze(a, how);
    const auto before = where.device().counters.launches;
    solve(solver, b);
    return where.device().counters.launches - before;
  };
  EXPECT_EQ(launches_of(in_exact_order()), 1u);
  EXPECT_EQ(launches_of(rewriting()), 1u);
  EXPECT_EQ(launches_of(rewriting(dataflow_path::partitioned)), 2u);
}

using LevelRuns = RowElimination;

TEST_F(LevelRuns, LeaveOneLevelOfEachRun) {
  const auto levels_of = [&](const pattern& p, int length) {
    const solver_info info = info_of(make(p, {}), in_runs(length));
    EXPECT_EQ(info.kernels[0].levels_together, std::min<std::int64_t>(length, info.levels)) << p.name;
    return std::pair<std::int64_t, std::int64_t>(info.levels, info.levels_solved);
  };
  using levels = std::pair<std::int64_t, std::int64_t>;  // before and after
  const pattern grid = patterns::stencil_2d(20, 20);
  EXPECT_EQ(levels_of(grid, 2), levels(39, 20));
  EXPECT_EQ(levels_of(grid, 3), levels(39, 13));
  EXPECT_EQ(levels_of(grid, 4), levels(39, 10));
  EXPECT_EQ(levels_of(patterns::chain(600), 16), levels(600, 38));
  EXPECT_EQ(levels_of(patterns::layers(400, 80, 3), 2), levels(5, 3));
  EXPECT_EQ(levels_of(patterns::block_diagonal(96, 8), 100), levels(8, 1)) << "one product without waits";
}

TEST_F(LevelRuns, SolveOnEveryPath) {
  for (const auto path :
       {dataflow_path::row_per_thread, dataflow_path::partitioned, dataflow_path::single_block,
        dataflow_path::natural_blocks, dataflow_path::automatic}) {
    for (const int length : {3, 8}) {
      for (const pattern& p :
           {patterns::stencil_2d(20, 20), patterns::random(200, 6, 1), patterns::block_diagonal(96, 8),
            patterns::power_law(257, 5), patterns::chain(200)}) {
        const matrix a = make(p, {});
        auto solver = analyze(a, in_runs(length, path));
        const solver_info info = solver.info();
        EXPECT_GT(info.rewritten_rows, p.size / 8) << p.name;
        ASSERT_EQ(info.kernels.size(), 2u);
        EXPECT_EQ(info.kernels[0].rewritten_rows, info.rewritten_rows);
        const auto b = random_vector<double>(p.size, 7);
        expect_solved_together(a, b, solve(solver, b), 64, p.name + ": " + info.plan,
                               largest_of_runs(length));
        EXPECT_TRUE(solver.status(where.stream()).ok());
      }
    }
  }
}

TEST_F(LevelRuns, KeepRowsThatGrowTooMuch) {
  const auto rewritten_rows = [&](double u, const policy::dataflow& how) {
    return info_of(chain_of(320, u), how).rewritten_rows;
  };
  EXPECT_EQ(rewritten_rows(1, in_runs(32)), 310) << "63 is allowed";
  EXPECT_EQ(rewritten_rows(1, in_runs(32, dataflow_path::row_per_thread, 62.9)), 300);
  EXPECT_EQ(rewritten_rows(3, in_runs(32)), 210) << "1, 7, 25, 79";
  EXPECT_EQ(rewritten_rows(100, in_runs(32)), 0);
}

/// The levels are those of the rows, or the rows themselves. The pivot is the last entry of each row.
TEST_F(LevelRuns, ListTheSameShortRowsUnderEverySchedule) {
  bool longer = false;
  for (const pattern& p : {patterns::random(200, 6, 1), patterns::stencil_3d(6, 6, 6), patterns::band(200, 2),
                           patterns::power_law(257, 5), patterns::dense(70)}) {
    const matrix a = make(p, {});
    const auto there = where.upload(a.by_rows);
    const detail::triangle_form form(system_options{}, false);
    for (const std::int64_t length : {3, 32}) {
      std::vector<std::int32_t> expected;
      for (std::uint64_t i = 0; i < trials(p.name == "random" ? 18 : 3); ++i) {
        const std::string name =
            p.name + ", runs of " + std::to_string(length) + ", settings " + std::to_string(i);
        where.device().settings = hostile_settings(i, 0);
        const auto triangle =
            detail::build_on_device(detail::pattern_of(there.view()), form, where.on(), where.resource());
        const auto before = where.download(triangle.row_offsets);
        auto levels = detail::levels_of_rows(triangle, where.on(), where.resource());
        if (length == 32) {
          levels.count = p.size;
          detail::simt::for_each_by_tile<32>(
              where.on(), detail::simt::ceil_div(p.size, std::int64_t{32}),
              detail::dataflow::row_elimination::number_rows<std::int32_t, std::int32_t>{
                  triangle.view(), levels.of_row.data()});
        }
        detail::dataflow::row_elimination::rewritten_system<double, std::int32_t, std::int32_t,
                                                            emulator::executor>
            made(triangle, levels, length, there.values.data(), form, {64, 1.5, 8, 256}, where.on(),
                 where.resource());
        ASSERT_GT(made.rewritten(), 0) << name;
        ASSERT_LT(made.rewritten(), a.size()) << name;
        made.make_pattern(where.on(), where.resource());
        const auto pattern = made.pattern();
        const auto offsets = detail::download_array(pattern.offsets, pattern.size + 1, where.on());
        const auto columns = detail::download_array(pattern.indices, pattern.entries, where.on());
        std::int64_t room = 0;
        for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
          const auto begin = columns.begin() + offsets[row];
          const auto end = columns.begin() + offsets[row + 1];
          const auto most = std::max((before[row + 1] - before[row]) * 3 / 2, 8);
          ASSERT_LE(end - begin - 1, most) << name << ", row " << row;
          ASSERT_EQ(*(end - 1), static_cast<std::int32_t>(row)) << name;
          ASSERT_TRUE(std::adjacent_find(begin, end, std::greater_equal<>{}) == end)
              << name << ", row " << row;
          longer = longer || end - begin - 1 > std::max(before[row + 1] - before[row], 8);
          room += most - (end - begin - 1);
        }
        ASSERT_LE(made.rhs_entries(), room) << name;
        expected = i == 0 ? columns : expected;
        ASSERT_EQ(columns, expected) << name;
      }
    }
  }
  EXPECT_TRUE(longer) << "the limit of long rows";
}

/// One lane has the row itself, 31 have the entries that it eliminates.
TEST_F(LevelRuns, LeaveRowsThatEliminateManyEntries) {
  for (const std::int64_t needed : {31, 32}) {
    const pattern p = patterns::where("fan_in", 60 + 1, [&](auto row, auto column) {
      return row == column || (row == 60 && column >= 60 - needed);
    });
    policy::dataflow how = in_runs(2);
    const solver_info info = info_of(make(p, {}), how);
    EXPECT_EQ(info.rewritten_rows, 0) << "a row of 61 does not pay: " << info.plan;
    EXPECT_TRUE(contains(info.plan, "not rewritten: only " + std::to_string(needed == 31 ? 1 : 0)))
        << info.plan;
  }
}

TEST_F(LevelRuns, TakeNewValuesAsIfAnalysedWithThem) {
  const pattern p = patterns::stencil_2d(16, 16);
  const matrix old = make(p, {}, 1);
  const matrix fresh = make(p, {}, 2);
  const auto b = random_vector<double>(p.size, 7);
  for (const auto path : {dataflow_path::row_per_thread, dataflow_path::partitioned}) {
    auto solver = analyze(old, in_runs(4, path));
    auto other = analyze(fresh, in_runs(4, path));
    EXPECT_EQ(solver.info().plan, other.info().plan);
    const auto old_x = solve(solver, b);
    solver.update_values(where.upload(fresh.values()), where.stream());
    EXPECT_TRUE(same_bits(solve(solver, b), solve(other, b)));
    solver.update_values(where.upload(old.values()), where.stream());
    EXPECT_TRUE(same_bits(solve(solver, b), old_x));
  }
}

TEST_F(LevelRuns, SayThatNewValuesGrowTooMuch) {
  for (const bool upper : {false, true}) {
    const form f{upper ? uplo::upper : uplo::lower};
    const matrix a = make(patterns::chain(200), f);
    matrix grown = a;
    for (const std::int64_t index : {77, 141}) {  // neither is the first row of a run
      const std::int64_t row = upper ? 199 - index : index;
      grown.set(row, row + (upper ? 1 : -1), 100.0);
    }
    const auto b = random_vector<double>(200, 7);
    auto solver = analyze(a, in_runs(4), f);
    const auto x = solve(solver, b);
    EXPECT_TRUE(solver.status(where.stream()).ok());
    solver.update_values(where.upload(grown.values()), where.stream());
    solve(solver, b);
    const solve_status status = solver.status(where.stream());
    EXPECT_EQ(status.code, kind::growth);
    EXPECT_EQ(status.row.value_or(-1), upper ? 199 - 77 : 77);
    solver.update_values(where.upload(a.values()), where.stream());
    EXPECT_TRUE(same_bits(solve(solver, b), x));
    EXPECT_TRUE(solver.status(where.stream()).ok());
    auto anew = analyze(grown, in_runs(4), f);
    expect_solved(grown, f, "grown", single(200), b, solve(anew, b), 1.0, 64);
  }
}

TEST_F(LevelRuns, SpreadWhatIsNotFiniteLikeSubstitution) {
  using limits = std::numeric_limits<double>;
  const double bad[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity(), 0.0};
  int rewritten = 0;
  for (std::uint64_t trial = 300; trial < 360; ++trial) {
    random_source source(trial);
    const std::int64_t width = 3 + source.below(5);
    const std::int64_t size = width * width;
    matrix a = make(patterns::stencil_2d(width, width), {}, trial);
    const auto spoil = [&] {
      const std::int64_t row = source.below(size);
      a.set(row, row % width > 0 && source.below(2) == 0 ? row - 1 : row, bad[source.below(4)]);
    };
    spoil();
    auto solver =
        analyze(a, in_runs(3, trial % 2 == 0 ? dataflow_path::row_per_thread : dataflow_path::partitioned));
    rewritten += solver.info().rewritten_rows > 0 ? 1 : 0;
    auto b = random_vector<double>(size, trial);
    for (const bool updates : {false, true}) {
      if (updates) {
        spoil();
        b[static_cast<std::size_t>(source.below(size))] = bad[source.below(3)];
        solver.update_values(where.upload(a.values()), where.stream());
      }
      const auto x = solve(solver, b);
      const auto expected = reference(a, {}, b);
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i]))
            << "trial " << trial << ", component " << i << (updates ? ", new values" : "");
      }
    }
  }
  EXPECT_GT(rewritten, 40);
}

/// The row_per_thread path combines a single right-hand side itself, unless it is overwritten by x.
TEST_F(LevelRuns, TakeOneLaunchMoreExceptForOneRhsByRows) {
  const matrix a = make(patterns::stencil_2d(16, 16), {});
  const auto b = random_vector<double>(256, 7);
  const auto launches_of = [&](const policy::dataflow& how) {
    auto solver = analyze(a, how);
    const auto kernels = solver.info().kernels;
    const auto before = where.device().counters.launches;
    solve(solver, b);
    const auto launches = where.device().counters.launches - before;
    EXPECT_EQ(static_cast<std::int64_t>(launches), kernels[0].launches + kernels[1].launches);
    return launches;
  };
  EXPECT_EQ(launches_of(in_runs(4)), 1u);
  EXPECT_EQ(launches_of(in_runs(4, dataflow_path::partitioned)), 2u);
}

TEST_F(LevelRuns, AreChosenByPredictedTime) {
  const matrix parallel = make(patterns::layers(12800, 100, 1), {});
  policy::dataflow how = rewriting(dataflow_path::automatic);
  const solver_info faster = info_of(parallel, how);
  EXPECT_EQ(faster.kernels[0].levels_together, experimental::dataflow_tuning::run_levels) << faster.plan;
  EXPECT_EQ(faster.levels, 128);
  EXPECT_EQ(faster.levels_solved, 32);
  EXPECT_TRUE(contains(faster.plan,
                       "; 9600 of 12800 rows rewritten in runs of 4 levels, levels 128 to 32, predicted 0.0"))
      << faster.plan;
  how.run_levels = 1;
  const solver_info by_rows = info_of(parallel, how);
  EXPECT_EQ(by_rows.rewritten_rows, 0) << "runs of rows alone take no level out";
  const solver_info slower =
      info_of(make(patterns::stencil_2d(96, 96), {}), rewriting(dataflow_path::automatic));
  EXPECT_EQ(slower.rewritten_rows, 0);
  EXPECT_TRUE(
      contains(slower.plan, "; not rewritten: runs of 4 levels would have 31296 entries instead of 18240"))
      << slower.plan;
}

/// Returns 5 chains of 800 rows. Five rows of a chain are followed by five of the next chain.
pattern woven_chains() {
  constexpr std::int64_t chains = 5;
  constexpr std::int64_t together = 5;
  constexpr std::int64_t length = 800;
  pattern made{"woven_chains", chains * length, {}};
  for (std::int64_t row = 0; row < made.size; ++row) {
    const bool is_first = row % together == 0;
    const std::int64_t needed = is_first ? row - 1 - (chains - 1) * together : row - 1;
    if (needed >= 0) {
      made.entries.push_back({row, needed});
    }
  }
  return made;
}

TEST_F(LevelRuns, ComeBeforeRunsOfRowsUnlessTheseLeaveFewLevels) {
  const solver_info runs = info_of(make(woven_chains(), {}), rewriting(dataflow_path::automatic));
  EXPECT_TRUE(contains(runs.plan, "rewritten in runs of 8 levels, levels 800 to 100")) << runs.plan;
  const solver_info blocks = info_of(make(patterns::chain(4000), {}), rewriting(dataflow_path::automatic));
  EXPECT_TRUE(contains(blocks.plan, "rows rewritten in runs of 32 rows, levels 4000 to 125")) << blocks.plan;
}

/// Runs of rows leave 25 of 800 levels of five chains, one behind the other, and of five bands.
TEST_F(LevelRuns, AreTheOnlyWayToRewriteUnlessRowsAreShort) {
  const auto bands = [](std::int64_t width) {
    return make(patterns::where("bands", 4000,
                                [=](auto row, auto column) {
                                  return row / 800 == column / 800 && row - column <= width;
                                }),
                {});
  };
  const solver_info short_rows = info_of(bands(1), rewriting(dataflow_path::automatic));
  EXPECT_TRUE(contains(short_rows.plan, "rows rewritten in runs of 32 rows, levels 800 to 25"))
      << short_rows.plan;
  const solver_info long_rows = info_of(bands(3), rewriting(dataflow_path::automatic));
  EXPECT_EQ(long_rows.kernels[0].levels_together, experimental::dataflow_tuning::narrow_run_levels)
      << long_rows.plan;
}

TEST_F(LevelRuns, AreNotTriedWhereThereAreFewLevels) {
  const solver_info few =
      info_of(make(patterns::layers(6400, 800, 1), {}), rewriting(dataflow_path::automatic));
  EXPECT_EQ(few.rewritten_rows, 0);
  EXPECT_TRUE(contains(few.plan, "; not rewritten: there are only 8 levels")) << few.plan;
  // The last row is long: its partial rows add levels, which are not those of the system.
  const solver_info long_row = info_of(
      make(patterns::where("long_row", 6400,
                           [](auto row, auto column) { return row / 6 == column / 6 || row == 6399; }),
           {}),
      rewriting(dataflow_path::automatic));
  EXPECT_TRUE(contains(long_row.plan, "; not rewritten: there are only 11 levels")) << long_row.plan;
}

TEST_F(LevelRuns, SolveIllConditionedTriangles) {
  const auto check = [&](const matrix& a, double growth, const std::string& name) {
    const auto any = random_vector<double>(a.size(), 7);
    for (const int length : {2, 8}) {
      auto solver = analyze(a, in_runs(length, dataflow_path::row_per_thread, growth));
      for (const auto& b :
           {any, product(a, any)}) {  // with the second, x is small although inverses are large
        expect_solved_together(a, b, solve(solver, b), growth, name, largest_of_runs(length));
        EXPECT_TRUE(solver.status(where.stream()).ok()) << name;
      }
    }
  };
  for (const double growth : {1.0, 8.0, 64.0, 1e6}) {
    check(chain_of(200, 1.5), growth, "growing");
    check(chain_of(200, -3), growth, "growing fast");
    check(chain_of(
              400, [](auto i) { return i % 16 == 0 ? 1e-15 : 10.0; },
              [](auto i) { return std::pow(0.1, static_cast<double>(i % 16)); }),
          growth, "graded columns");
    for (const pattern& p :
         {patterns::dense(96), patterns::stencil_2d(16, 16), patterns::block_diagonal(160, 16)}) {
      matrix a = make(p, {});
      random_source source(3);
      for (const auto& e : p.entries) {
        a.set(e.row, e.column, source.between(-1.0, 1.0));
      }
      check(a, growth, p.name);
    }
  }
}

}  // namespace
}  // namespace sptrsv::testing
