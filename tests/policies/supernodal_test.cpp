// The policy supernodal, in the emulator: the supernodes of complete factors, and inverses that grow.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/generators/cholesky.hpp"
#include "contract/contract_fixture.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/supernodal.hpp"

namespace sptrsv::testing {

using supernodal_case = suite_case<emulator_target, supernodal, double, std::int32_t, std::int32_t>;
using small_panels_case = suite_case<emulator_target, supernodal_small, double, std::int32_t, std::int32_t>;
using unshared_case = suite_case<emulator_target, supernodal_unshared, double, std::int32_t, std::int32_t>;
using forests_case = suite_case<emulator_target, supernodal_forests, double, std::int32_t, std::int32_t>;

/// Returns the pattern of the complete Cholesky factor of a grid, or, if `mirrored`, of its transpose from
/// the last row to the first, which is lower triangular, too.
pattern factor_of_grid(const sptrsv_common::grid& g, bool mirrored = false) {
  const sptrsv_common::pattern factor = sptrsv_common::complete_cholesky_of_grid(g);
  pattern p{"factor", factor.rows(), {}};
  for (std::int64_t i = 0; i < p.size; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = factor.row_offsets[row]; e < factor.row_offsets[row + 1] - 1; ++e) {
      const std::int64_t j = factor.columns[static_cast<std::size_t>(e)];
      p.entries.push_back(mirrored ? position{p.size - 1 - j, p.size - 1 - i} : position{i, j});
    }
  }
  std::sort(p.entries.begin(), p.entries.end(), [](const position& a, const position& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  return p;
}

template <class Case>
class Supernodes : public contract_of<Case> {
 public:
  using matrix = typename contract_of<Case>::matrix;

  static constexpr form lower{};

  kernel_info kernel_of(const matrix& a, const form& f = lower) {
    return this->analyze(a, f).info().kernels.at(0);
  }
  static void expect_same_finite(const std::vector<double>& x, const std::vector<double>& expected,
                                 const form& f) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "component " << i << ", " << f.name();
    }
  }
  /// Expects this for each right-hand side.
  void expect_same_finite(const matrix& a, const form& f, const layout& shape, const std::vector<double>& b,
                          const std::vector<double>& x) {
    for (std::int64_t j = 0; j < shape.columns; ++j) {
      const auto column = [&](const std::vector<double>& all) {
        std::vector<double> found;
        for (std::int64_t i = 0; i < shape.rows; ++i) {
          found.push_back(all[shape.at(i, j)]);
        }
        return found;
      };
      expect_same_finite(column(x), this->reference(a, f, column(b)), f);
    }
  }
  void expect_solution(const matrix& a, const form& f, const std::string& name) {
    auto solver = this->analyze(a, f, 5);
    const layout shape = row_major(a.size(), 5, 1);
    const auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), 3);
    this->expect_solved(a, f, name, shape, b, this->solve(solver, shape, b));
  }
};
using OfFactors = Supernodes<supernodal_case>;
using OfSmallPanels = Supernodes<small_panels_case>;
using OfForests = Supernodes<forests_case>;

TEST_F(OfFactors, AreFoundInAllForms) {
  const pattern p = factor_of_grid({24, 24});
  for (const form& f : tried(all_forms())) {
    const auto a = make(p, f);
    const kernel_info kernel = kernel_of(a, f);
    EXPECT_LT(kernel.partitions, p.size / 4) << f.name();
    EXPECT_GT(kernel.levels, 0) << f.name();
    EXPECT_LT(kernel.levels, 16) << f.name();
    expect_solution(a, f, p.name);
  }
}

/// A lower triangle whose rows, not its columns, form supernodes.
TEST_F(OfFactors, AreFoundInRows) {
  const pattern p = factor_of_grid({24, 24}, true);
  for (const form& f : this->forms_for(1)) {
    const auto a = make(p, f);
    EXPECT_LT(kernel_of(a, f).partitions, p.size / 4) << f.name();
    EXPECT_GT(kernel_of(a, f).levels, 0) << f.name();
    expect_solution(a, f, p.name);
  }
}

/// A matrix that has the rows of the system sorted has the supernodes of one that has its columns sorted. It
/// needs an index for each row of a supernode, not for each entry.
TEST_F(OfFactors, AreTheSameByRowsAndByColumns) {
  const std::vector<pattern> patterns{factor_of_grid({24, 24}), factor_of_grid({24, 24}, true),
                                      factor_of_grid({9, 9, 4}), patterns::stencil_2d(20, 20)};
  for (const pattern& p : patterns) {
    for (const uplo part : {uplo::lower, uplo::upper}) {
      for (const op operation : {op::none, op::transpose}) {
        const diag diagonal = operation == op::none ? diag::non_unit : diag::unit;
        form f{part, diagonal, operation};
        const solver_info one = this->analyze(make(p, f), f).info();
        f.by_columns = true;
        const solver_info other = this->analyze(make(p, f), f).info();
        const std::string name = p.name + ", " + f.name();
        EXPECT_EQ(one.kernels.at(0).text, other.kernels.at(0).text) << name;
        EXPECT_EQ(one.entries, other.entries) << name;
        EXPECT_EQ(one.longest_row, other.longest_row) << name;
        const auto [less, more] = std::minmax(one.solver_bytes, other.solver_bytes);
        EXPECT_TRUE(&p != patterns.data() || more - less < 3 * static_cast<std::size_t>(one.entries)) << name;
      }
    }
  }
}

TEST_F(OfFactors, AreAbsentInIncompleteOnes) {
  const pattern p = patterns::stencil_2d(20, 20);
  const auto a = make(p, lower);
  EXPECT_EQ(kernel_of(a).levels, 0);
  EXPECT_GT(kernel_of(a).partitions, 9 * p.size / 10);
  expect_solution(a, lower, p.name);
}

/// Wide panels are shared by blocks, and their inverses take several tiles.
TEST_F(OfSmallPanels, AreSharedByBlocks) {
  for (const pattern& p : {factor_of_grid({13, 11}), factor_of_grid({5, 5, 5}, true), patterns::dense(100)}) {
    for (const form& f : this->forms_for(2)) {
      expect_solution(make(p, f), f, p.name);
    }
  }
}

/// Forests hand over to panels that blocks share, and back, whatever order the blocks run in.
TEST_F(OfForests, HandOverToTheSupernodesAboveThem) {
  std::uint64_t seed = 0;
  for (const pattern& p :
       {factor_of_grid({17, 15}), factor_of_grid({5, 6, 5}, true), patterns::arrow_row(90)}) {
    for (const form& f : this->forms_for(2)) {
      const auto a = make(p, f);
      EXPECT_NE(kernel_of(a, f).text.find(" forests"), std::string::npos);
      auto solver = this->analyze(a, f);
      for (const std::uint32_t resident : {1u, 3u, 0u}) {
        this->where.device().settings = hostile_settings(seed++, resident);
        const auto b = random_vector<double>(p.size, seed);
        this->expect_solved(a, f, p.name, b, this->solve(solver, b));
      }
      expect_solution(a, f, p.name);
    }
  }
}

/// In a forest of merged supernodes, rows that do not depend on one that is not finite stay finite.
TEST_F(OfForests, KeepIndependentRowsFinite) {
  const pattern p = factor_of_grid({9, 8});
  for (const form& f : {form{uplo::lower}, form{uplo::upper}}) {
    const auto good = make(p, f);
    auto solver = this->analyze(good, f);
    for (std::int64_t row = 0; row < p.size; row += 5) {
      for (const double bad : {HUGE_VAL, std::nan("")}) {
        std::vector<double> b(static_cast<std::size_t>(p.size), 1);
        b[static_cast<std::size_t>(row)] = bad;
        this->expect_same_finite(this->solve(solver, b), this->reference(good, f, b), f);
      }
    }
  }
}

/// Panels of one column with more rows than a warp or a block has threads, in forests and, the last one, in
/// tiles.
TEST_F(OfFactors, MayBeTall) {
  for (const std::int64_t size : {100, 700, 9000}) {
    const pattern p = patterns::where("tall", size, [](auto, auto j) { return j == 0; });
    for (const form& f : this->forms_for(3)) {
      expect_solution(make(p, f), f, p.name);
    }
  }
}

/// A panel of two columns that is no forest and has more rows than the block that solves it has threads.
/// Column 2 keeps it from being merged with the columns of its rows.
TEST_F(OfForests, MayStandBesideTallPanels) {
  constexpr std::int64_t size = 150;
  const pattern p = patterns::where("tall before a dense triangle", size, [](auto i, auto j) {
    return j < 2 ? i == 1 || i > 2 : j == 2 ? i == size - 1 : true;
  });
  std::uint64_t seed = 0;
  for (const form& f : {form{}, form{uplo::lower, diag::non_unit, op::transpose}}) {
    const auto a = make(p, f);
    EXPECT_NE(kernel_of(a, f).text.find(" 0 forests"), std::string::npos);
    auto solver = this->analyze(a, f);
    this->where.device().settings = hostile_settings(seed++, 3);
    const auto b = random_vector<double>(p.size, seed);
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
  }
}

/// A wide panel whose masks have more than eight words. A few rows are missing in its first columns.
TEST_F(OfFactors, MayBeTallAndWide) {
  const pattern p =
      patterns::where("tall and wide", 270, [](auto i, auto j) { return j >= 6 || i % 20 != 17; });
  const auto a = make(p, lower);
  EXPECT_EQ(kernel_of(a).partitions, 2);
  expect_solution(a, lower, p.name);
}

/// Supernodes that do not need each other are merged into one panel; what is not finite does not pass from
/// one to the other, also if the values of the analysis made it cut the panel. In packs, values that are not
/// finite may meet right-hand sides that are.
TEST_F(OfFactors, KeepSiblingsApartWhereValuesAreNotFinite) {
  // Columns 0 and 1, and 2 and 3, are leaves; columns 4 to 6 are their parent.
  const pattern p = patterns::where(
      "siblings", 7, [](auto i, auto j) { return i >= 4 || (i == 1 && j == 0) || (i == 3 && j == 2); });
  for (const form& f : {form{uplo::lower}, form{uplo::upper}}) {
    const auto set = [&](matrix& a, const position& e, double value) {
      f.part == uplo::lower ? a.set(e.row, e.column, value) : a.set(e.column, e.row, value);
    };
    const auto good = make(p, f);
    EXPECT_EQ(kernel_of(good, f).partitions, 1);
    std::vector<position> places = p.entries;
    for (std::int64_t i = 0; i < p.size; ++i) {
      places.push_back({i, i});
    }
    for (const position& first : {position{0, 0}, position{1, 0}, position{3, 2}, position{5, 4}}) {
      auto a = good;
      set(a, first, first.row == 0 ? 1.0 : HUGE_VAL);
      auto solver = this->analyze(a, f, 8);
      for (const position& at : places) {
        for (const double bad : {HUGE_VAL, std::nan(""), 0.0}) {
          a = good;
          set(a, at, bad);
          solver.update_values(this->where.upload(a.values()), this->where.stream());
          for (const std::int64_t columns : {1, 8}) {
            const layout shape = column_major(p.size, columns);
            const std::vector<double> b(shape.extent, 1);
            this->expect_same_finite(a, f, shape, b, this->solve(solver, shape, b));
          }
        }
      }
    }
  }
}

/// Rows above one that is not finite stay finite, in a panel of several tiles.
TEST_F(OfFactors, KeepEarlierRowsFinite) {
  const pattern p = patterns::dense(100);
  const std::vector<double> b(100, 1);
  for (const form& f : {form{uplo::lower}, form{uplo::upper}}) {
    const auto good = make(p, f);
    auto solver = this->analyze(good, f);
    for (const position& at : {position{99, 0}, position{70, 3}, position{64, 40}, position{33, 31}}) {
      auto a = good;
      f.part == uplo::lower ? a.set(at.row, at.column, HUGE_VAL) : a.set(at.column, at.row, HUGE_VAL);
      solver.update_values(this->where.upload(a.values()), this->where.stream());
      this->expect_same_finite(this->solve(solver, b), this->reference(a, f, b), f);
    }
  }
}

/// Kahan's triangle: a unit diagonal and -c everywhere below it. The norm of its inverse is about (1 + c)^n.
void set_kahan(OfFactors::matrix& a, double c) {
  for (std::int64_t i = 0; i < a.size(); ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      a.set(i, j, -c);
    }
    a.set(i, i, 1);
  }
}

/// The more the inverses grow, the narrower the supernodes, down to substitution; the error stays bounded.
TEST_F(OfFactors, AreCutWhereInversesGrow) {
  const pattern p = patterns::dense(48);
  auto a = make(p, lower);
  std::int64_t before = 1;
  for (const double c : {1e-4, 0.5, 1.0, 1e3}) {
    set_kahan(a, c);
    const std::int64_t supernodes = kernel_of(a).partitions;
    EXPECT_GE(supernodes, before) << c;
    before = supernodes;
    auto solver = this->analyze(a, lower);
    // The solution of the last ones would overflow for most right-hand sides.
    std::vector<double> b(48, 0);
    b[40] = 1;
    this->expect_solved(a, lower, p.name, b, this->solve(solver, b));
    EXPECT_TRUE(solver.status(this->where.stream()).ok()) << c;
  }
  EXPECT_EQ(before, p.size);
}

/// Rows whose sizes differ by many orders of magnitude do not count: rows are scaled by their pivots.
TEST_F(OfFactors, AreKeptWhereRowsAreGraded) {
  const pattern p = patterns::dense(48);
  auto a = make(p, lower);
  for (std::int64_t i = 0; i < p.size; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(20 * (i % 5)) - 40);
    for (std::int64_t j = 0; j < i; ++j) {
      a.set(i, j, scale / 64);
    }
    a.set(i, i, scale);
  }
  EXPECT_EQ(kernel_of(a).partitions, 1);
  expect_solution(a, lower, p.name);
}

/// Pivots that are nearly 0, and columns whose sizes differ by many orders of magnitude: scaled rows are
/// large beside their pivots, so supernodes are cut there, and only there.
TEST_F(OfFactors, AreCutWhereNearlySingular) {
  const pattern p = patterns::dense(48);
  const auto good = make(p, lower);
  ASSERT_EQ(kernel_of(good).partitions, 1);
  auto small_pivots = good;
  for (const std::int64_t i : {20, 47}) {
    small_pivots.set(i, i, 1e-14);
  }
  auto graded = good;
  for (std::int64_t i = 0; i < p.size; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      graded.set(i, j, std::ldexp(i == j ? 1.0 : 0.5, static_cast<int>(20 * (j % 5)) - 40));
    }
  }
  for (const auto* a : {&small_pivots, &graded}) {
    const std::int64_t supernodes = kernel_of(*a).partitions;
    EXPECT_GT(supernodes, 1);
    EXPECT_LT(supernodes, p.size);
    expect_solution(*a, lower, p.name);
    for (const form& f : {lower, form{uplo::lower, diag::non_unit, op::transpose}}) {
      auto solver = this->analyze(*a, f);
      const auto b = random_vector<double>(p.size, 3);
      this->expect_solved(*a, f, p.name, b, this->solve(solver, b));
      EXPECT_TRUE(solver.status(this->where.stream()).ok()) << f.name();
    }
  }
}

TEST_F(OfFactors, SayWhenLaterValuesGrow) {
  const pattern p = patterns::dense(48);
  const auto b = random_vector<double>(p.size, 3);
  for (const bool is_upper : {false, true}) {
    const form f{is_upper ? uplo::upper : uplo::lower};
    auto a = make(p, f);
    const auto set = [&](double c) {
      for (std::int64_t i = 0; i < p.size; ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
          is_upper ? a.set(j, i, -c) : a.set(i, j, -c);
        }
        a.set(i, i, 1);
      }
    };
    set(1e-3);
    auto solver = this->analyze(a, f);
    const auto status_after = [&](double c) {
      set(c);
      solver.update_values(this->where.upload(a.values()), this->where.stream());
      this->solve(solver, b);
      return solver.status(this->where.stream());
    };
    EXPECT_TRUE(status_after(1e-4).ok());
    const solve_status grown = status_after(1);
    EXPECT_EQ(grown.code, solve_status::kind::growth);
    EXPECT_EQ(grown.row.value_or(-1), is_upper ? p.size - 1 : 0);
    EXPECT_TRUE(status_after(1e-4).ok());
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
  }
}

/// Several right-hand sides: full packs, and last packs of every size.
template <class Case>
class PacksOf : public Supernodes<Case> {
 public:
  using typename Supernodes<Case>::matrix;

  /// Solves in place for each of these numbers of right-hand sides, one after the other on one workspace.
  void expect_solutions(const pattern& p, const form& f, const std::vector<std::int64_t>& columns) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, *std::max_element(columns.begin(), columns.end()));
    std::uint64_t seed = 1;
    for (const std::int64_t k : columns) {
      const layout shape = k % 3 == 0   ? row_major(p.size, k, k % 2)
                           : k % 3 == 1 ? column_major(p.size, k, 1)
                                        : scattered(p.size, k);
      const auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), ++seed);
      auto both = this->where.upload(b);
      solver.solve(shape.view(static_cast<const double*>(both.data())), shape.view(both.data()),
                   this->where.stream());
      const auto x = this->where.download(both);
      EXPECT_TRUE(gaps_untouched(shape, b, x)) << p.name << ", " << f.name() << ", " << k << " columns";
      this->expect_solved(a, f, p.name, shape, b, x);
    }
  }
};
using PacksOfFactors = PacksOf<supernodal_case>;
using PacksOfSmallPanels = PacksOf<small_panels_case>;
using PacksOfOneBlock = PacksOf<unshared_case>;

TEST_F(PacksOfSmallPanels, MayHaveAnySize) {
  for (const pattern& p : {factor_of_grid({9, 7}), patterns::dense(60)}) {
    for (const form& f : this->forms_for(1)) {
      expect_solutions(p, f, {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 9, 17, 8, 16, 2, 17});
    }
  }
}

/// Several blocks share the packs of a task. Solves of fewer packs leave some of them without work, and all
/// reset what larger solves left behind, whatever order the blocks run in.
TEST_F(PacksOfSmallPanels, AreSharedByBlocks) {
  for (const pattern& p : {factor_of_grid({6, 5}), patterns::dense(40)}) {
    for (const form& f : {form{uplo::lower}, form{uplo::upper}}) {
      this->where.device().settings = {};
      const auto a = make(p, f);
      auto solver = this->analyze(a, f, 41);
      struct task {
        layout shape;
        std::vector<double> b;
        std::vector<double> x;
      };
      std::vector<task> tasks;
      for (const std::int64_t columns : {41, 6, 19}) {
        const layout shape = column_major(p.size, columns);
        const auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), tasks.size());
        tasks.push_back({shape, b, this->solve(solver, shape, b)});
        this->expect_solved(a, f, p.name, shape, b, tasks.back().x);
      }
      for (std::uint64_t i = 0; i < trials(12); ++i) {
        this->where.device().settings = hostile_settings(i, i % 4);
        const task& t = tasks[(i * 5 + i / 3) % 3];
        ASSERT_TRUE(same_bits(this->solve(solver, t.shape, t.b), t.x)) << f.name() << ", settings " << i;
      }
    }
  }
}

/// A block takes one pack of a task after the other. In two of the patterns, six columns or rows have so many
/// entries that the warps of a block share their only octet, in every pack.
TEST_F(PacksOfOneBlock, FollowEachOther) {
  constexpr std::int64_t size = 96;
  const auto has = [](std::int64_t i, std::int64_t j) { return i < 6 || j >= 6 || i % 3 == 0; };
  const auto is_mirrored = [&](std::int64_t i, std::int64_t j) { return has(size - 1 - j, size - 1 - i); };
  for (const pattern& p :
       {factor_of_grid({9, 7}), factor_of_grid({9, 7}, true), patterns::where("six_columns", size, has),
        patterns::where("six_rows", size, is_mirrored)}) {
    expect_solutions(p, this->lower, {9, 17, 24});
  }
}

/// The rows of a wide tile stand apart in shared memory; tiles with other widths are copied as they are.
TEST_F(PacksOfFactors, HaveWideTiles) {
  for (const std::int64_t width : {136, 131}) {
    for (const form& f : {form{uplo::lower}, form{uplo::upper}}) {
      expect_solutions(patterns::dense(width), f, {9});
    }
  }
}

/// What is not finite in one right-hand side stays there, and does not reach rows that do not depend on it.
TEST_F(PacksOfSmallPanels, KeepRightHandSidesApartWhereOneIsNotFinite) {
  for (const pattern& p : {factor_of_grid({6, 5}), patterns::dense(40)}) {
    for (const form& f : {form{uplo::lower}, form{uplo::upper}}) {
      const auto a = make(p, f);
      auto solver = this->analyze(a, f, 11);
      const layout shape = column_major(p.size, 11);
      for (const std::int64_t bad : {0, 5, 10}) {
        auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), 3);
        b[shape.at(p.size / 2, bad)] = bad == 5 ? std::nan("") : HUGE_VAL;
        const auto x = this->solve(solver, shape, b);
        this->expect_same_finite(a, f, shape, b, x);
        EXPECT_EQ(solver.status(this->where.stream()).code, solve_status::kind::non_finite);
      }
    }
  }
}

/// A workspace has one state for few right-hand sides and one for packs: the status is that of the last
/// solve.
TEST_F(PacksOfSmallPanels, HaveTheStatusOfTheLastSolve) {
  const pattern p = factor_of_grid({6, 5});
  for (const form& f : {form{uplo::lower}, form{uplo::upper}}) {
    auto solver = this->analyze(make(p, f), f, 3);
    const auto status_after = [&](std::int64_t columns, bool is_finite) {
      auto b = random_vector<double>(p.size * columns, 3);
      b[static_cast<std::size_t>(p.size * columns - 1)] = is_finite ? 1.0 : HUGE_VAL;
      this->solve(solver, column_major(p.size, columns), b);
      return solver.status(this->where.stream()).ok();
    };
    for (const std::int64_t first : {1, 3}) {
      for (const std::int64_t second : {1, 3}) {
        EXPECT_FALSE(status_after(first, false)) << first;
        EXPECT_TRUE(status_after(second, true)) << first << ", then " << second;
        EXPECT_FALSE(status_after(second, false)) << second;
      }
    }
  }
}

}  // namespace sptrsv::testing
