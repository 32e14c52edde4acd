// Incomplete factorisations in double precision, on the host and in the emulator.
#include <limits>

#include "contract/incomplete_suite.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"
#include "support/random_systems.hpp"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(host, incomplete, incomplete_types<host_target>, type_names);
INSTANTIATE_TYPED_TEST_SUITE_P(emulator, incomplete, incomplete_types<emulator_target>, type_names);

template <class Value>
struct emulated : incomplete<case_types<emulator_target, Value, std::int32_t, std::int32_t>> {
  void TestBody() override {}
};

TEST(IncompleteFactors, AreRightUnderEverySchedule) {
  const std::vector<pattern> all = {patterns::chain(70),           patterns::stencil_2d(9, 10),
                                    patterns::stencil_3d(4, 5, 4), patterns::band(60, 9),
                                    patterns::dense(40),           patterns::layers(90, 30, 5),
                                    patterns::arrow_row(60),       patterns::arrow_column(60)};
  for (std::uint64_t seed = 0; seed < trials(24); ++seed) {
    for (const std::uint32_t resident : {1u, 2u, 0u}) {
      const auto check = [&](auto s) {
        s->where.device().settings = hostile_settings(seed, resident);
        const pattern& p = all[seed % all.size()];
        const bool by_columns = seed % 2 == 0;
        s->template check<method::lu, small_incomplete>(p, by_columns, content::general);
        s->template check<method::cholesky, small_incomplete>(p, by_columns, content::general);
        s->template check<method::lu, wide_incomplete>(p, by_columns, content::general);
        s->template check<method::cholesky>(p, by_columns, content::general);
        s->template check<method::lu, cut_incomplete>(p, by_columns, content::general);
        s->template check<method::cholesky, cut_incomplete>(p, by_columns, content::general);
      };
      if (seed % 3 == 0) {
        check(std::make_unique<emulated<std::complex<double>>>());
      } else {
        check(std::make_unique<emulated<double>>());
      }
    }
  }
}

TEST(IncompleteFactors, OfRandomSystemsAreRight) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    random_source source(seed);
    emulated<double> s;
    const pattern p = draw_pattern(source);
    s.where.device().settings =
        hostile_settings(source.bits() % (1 << 20), static_cast<std::uint32_t>(source.below(4)));
    SCOPED_TRACE("seed " + std::to_string(seed));
    const content holds = source.coin() ? content::general : content::ascending;
    s.check<method::lu, small_incomplete>(p, source.coin(), holds, seed);
    s.check<method::cholesky>(p, source.coin(), holds, seed);
    s.check<method::lu, cut_incomplete>(p, source.coin(), holds, seed);
    s.check<method::cholesky, cut_incomplete>(p, source.coin(), holds, seed);
  }
}

TEST(IncompleteFactors, WithFillAreRightUnderEverySchedule) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    random_source source(seed);
    emulated<double> s;
    const pattern p = draw_pattern(source);
    s.where.device().settings = hostile_settings(seed, static_cast<std::uint32_t>(source.below(4)));
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto fill_level = static_cast<std::int64_t>(1 + source.below(3));
    s.check_fill<method::lu, small_incomplete>(p, source.coin(), content::general, fill_level, seed);
    s.check_fill<method::cholesky>(p, source.coin(), content::general, fill_level, seed);
  }
}

/// As many entries as several threads of the host search. Level 1 adds the diagonals of the squares of a
/// grid.
TEST(IncompleteFactors, OfManyRowsHaveTheFillOfLevelOne) {
  constexpr std::int64_t nx = 210;
  constexpr std::int64_t ny = 230;
  constexpr std::int64_t triangle = (nx - 1) * ny + nx * (ny - 1) + (nx - 1) * (ny - 1);
  using on_the_host = incomplete<case_types<host_target, double, std::int32_t, std::int32_t>>;
  const pattern p = patterns::stencil_2d(nx, ny);
  const auto check = [&](auto of, std::int64_t entries) {
    const auto a = on_the_host::make_system(p, false, content::general, decltype(of)::value);
    const on_the_host::factorization<decltype(of)::value> made(a.by_rows, incomplete_options::fill(1), {},
                                                               nullptr);
    EXPECT_TRUE(made.status().ok());
    ASSERT_EQ(made.info().factor_entries, entries);
    const auto view = made.view(a.by_rows);
    for (std::int64_t i = 0; i < p.size; ++i) {
      EXPECT_TRUE(std::is_sorted(view.column_indices + view.row_offsets[i],
                                 view.column_indices + view.row_offsets[i + 1]));
      EXPECT_TRUE(std::binary_search(view.column_indices + view.row_offsets[i],
                                     view.column_indices + view.row_offsets[i + 1], i));
    }
  };
  check(std::integral_constant<method, method::lu>{}, p.size + 2 * triangle);
  check(std::integral_constant<method, method::cholesky>{}, p.size + triangle);
}

/// factorize() neither allocates nor synchronises.
TEST(IncompleteFactors, AreComputedInACapture) {
  emulated<double> s;
  const auto a = s.make_system(patterns::stencil_2d(6, 6), false, content::general, method::lu);
  const auto there = s.where.upload(a.by_rows);
  for (const std::int64_t fill : {0, 2}) {
    incomplete_lu<double, std::int32_t, std::int32_t, emulator::device*> made(
        there, incomplete_options::fill(fill), s.where.stream(), nullptr);
    const auto before = s.where.device().counters;
    s.where.device().capturing = true;
    made.factorize(there.values, s.where.stream());
    s.where.device().capturing = false;
    EXPECT_EQ(s.where.device().counters.allocations, before.allocations);
    EXPECT_EQ(s.where.device().counters.synchronizations, before.synchronizations);
    s.expect_factors<method::lu>(fill > 0 ? s.with_fill(a, method::lu, fill) : a, s.download(made),
                                 "captured");
  }
}

/// The status is that of the last factorisation, whichever warp meets a breakdown first.
TEST(IncompleteFactors, HaveTheStatusOfTheLastValues) {
  emulated<double> s;
  const std::int64_t size = 120;
  const auto good = s.make_system(patterns::diagonal(size), false, content::ascending, method::lu);
  auto bad = good;
  bad.set(size - 1, size - 1, 0);
  const auto there = s.where.upload(good.by_rows);
  const auto bad_values = s.where.upload(bad.values());
  emulated<double>::factorization<method::lu, wide_incomplete> made(there, {}, s.where.stream(), nullptr);
  for (std::uint64_t seed = 2; seed < trials(60); ++seed) {
    s.where.device().settings = hostile_settings(seed, 0);
    const bool breaks_down = seed % 3 == 0;
    made.factorize(breaks_down ? bad_values : there.values, s.where.stream());
    EXPECT_EQ(made.status(s.where.stream()).row.value_or(-1), breaks_down ? size - 1 : -1) << "seed " << seed;
  }
}

/// The reciprocal of a subnormal pivot overflows, the quotients do not. Rows of the second system share a
/// warp.
TEST(IncompleteFactors, AreDividedByPivotsWithoutASafeReciprocal) {
  emulated<double> s;
  for (const pattern& p : {patterns::stencil_2d(5, 6), patterns::stencil_3d(6, 6, 6)}) {
    auto a = s.make_system(p, false, content::general, method::lu);
    a.set(0, 0, std::numeric_limits<double>::min() / 8);
    const auto expected = s.on_host<method::lu>(a);
    EXPECT_TRUE(same_bits(s.on_the_target<method::lu>(a), expected)) << p.name;
    EXPECT_TRUE((same_bits(s.on_the_target<method::lu, wide_incomplete>(a), expected))) << p.name;
    EXPECT_TRUE((same_bits(s.on_the_target<method::lu, small_incomplete>(a), expected))) << p.name;
  }
}

/// Rows of the narrow middle and of wide levels, with one task per warp and with many.
TEST(IncompleteFactors, OfManyRowsAreRight) {
  emulated<double> s;
  s.check<method::lu>(patterns::stencil_2d(40, 30), false, content::ascending);
  s.check<method::cholesky>(patterns::stencil_3d(9, 10, 9), false, content::general);
  s.check<method::lu>(patterns::power_law(700, 3), false, content::general);
}

/// Rows that are cut into pieces, in addition to short ones.
TEST(IncompleteFactors, OfLongRowsAreRight) {
  const pattern p = patterns::where("long_rows", 140, [](auto i, auto j) { return i >= 137 || j < 3; });
  for (std::uint64_t seed = 0; seed < trials(8); ++seed) {
    emulated<double> s;
    s.where.device().settings = hostile_settings(seed, static_cast<std::uint32_t>(seed % 3));
    s.check<method::lu>(p, seed % 2 == 0, content::general);
    s.check<method::cholesky>(p, seed % 2 == 0, content::general);
  }
}

/// The matrix has many long rows. The search for levels takes a warp for each of them.
TEST(IncompleteFactors, OfManyLongRowsHaveTheirLevels) {
  using on_the_host = incomplete<case_types<host_target, double, std::int32_t, std::int32_t>>;
  const pattern p =
      patterns::where("many_long_rows", 200, [](auto i, auto j) { return i >= 190 || (i + j) % 30 < 4; });
  for (const content holds : {content::general, content::ascending}) {
    const auto a = on_the_host::make_system(p, false, holds, method::cholesky);
    const auto expected =
        on_the_host::factorization<method::cholesky>(a.by_rows, {}, {}, nullptr).info().levels;
    for (std::uint64_t seed = 0; seed < trials(6); ++seed) {
      emulated<double> s;
      s.where.device().settings = hostile_settings(seed, static_cast<std::uint32_t>(seed % 3));
      const emulated<double>::factorization<method::cholesky> made(s.where.upload(a.by_rows), {},
                                                                   s.where.stream(), nullptr);
      EXPECT_EQ(made.info().levels, expected) << seed;
    }
  }
}

/// Steps whose operands follow each other in row k, and steps whose operands do not, so that they are listed.
TEST(IncompleteFactors, OfLongRowsWithListedOperandsAreRight) {
  const pattern p = patterns::where("distant_operands", 300, [](auto i, auto j) {
    return j < 3 || (i % 20 == 0 && (j % 20 == 0 || j % 45 == 0));
  });
  for (std::uint64_t seed = 0; seed < trials(8); ++seed) {
    emulated<double> s;
    s.where.device().settings = hostile_settings(seed, static_cast<std::uint32_t>(seed % 3));
    s.check<method::lu, cut_incomplete>(p, seed % 2 == 0, content::general);
    s.check<method::cholesky, cut_incomplete>(p, seed % 2 == 0, content::general);
  }
}

/// Long rows of a matrix so sparse that their operands are searched, and not looked up in cells.
TEST(IncompleteFactors, OfFewLongRowsAreRight) {
  const pattern p =
      patterns::where("few_long_rows", 2600, [](auto i, auto j) { return i % 100 == 99 && j % 100 == 99; });
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    emulated<double> s;
    s.where.device().settings = hostile_settings(seed, static_cast<std::uint32_t>(seed));
    s.check<method::lu, cut_incomplete>(p, seed == 0, content::general);
    s.check<method::cholesky, cut_incomplete>(p, seed == 1, content::general);
  }
}

}  // namespace sptrsv::testing
