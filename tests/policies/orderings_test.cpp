// Orderings on the host, and colouring in the emulator.
#include "sptrsv/orderings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "sptrsv/device_colouring.hpp"
#include "sptrsv/host/structure.hpp"
#include "support/emulator_target.hpp"
#include "support/matrices.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

using matrix = csr_matrix<double>;

/// Returns a matrix with a symmetric pattern, in random order of the entries.
matrix symmetric(const pattern& p) {
  coordinates<double> entries;
  for (const position& e : p.entries) {
    entries.add(e.row, e.column, 1);
    entries.add(e.column, e.row, 1);
  }
  for (std::int64_t i = 0; i < p.size; ++i) {
    entries.add(i, i, 4);
  }
  return compress<double>(entries, p.size, true, 1);
}

std::vector<pattern> graphs() {
  return {patterns::diagonal(0),      patterns::diagonal(5),      patterns::chain(40),
          patterns::dense(70),        patterns::arrow_row(50),    patterns::stencil_2d(9, 8),
          patterns::random(60, 3, 1), patterns::power_law(80, 2), patterns::block_diagonal(40, 5)};
}

bool is_permutation(std::vector<std::int32_t> order, std::int64_t size) {
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

std::int32_t bandwidth(const matrix& a) {
  std::int32_t widest = 0;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(a.rows); ++i) {
    for (auto e = a.row_offsets[static_cast<std::size_t>(i)];
         e < a.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
      widest = std::max(widest, std::abs(a.column_indices[static_cast<std::size_t>(e)] - i));
    }
  }
  return widest;
}

/// Expects that neighbours have different colours and that all colours are used.
void expect_colouring(const matrix& a, const std::vector<std::int32_t>& colours, std::int64_t count,
                      const std::string& name) {
  std::int32_t largest = -1;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    ASSERT_GE(colours[i], 0) << name;
    largest = std::max(largest, colours[i]);
    for (auto e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
      const auto j = static_cast<std::size_t>(a.column_indices[static_cast<std::size_t>(e)]);
      EXPECT_TRUE(i == j || colours[i] != colours[j]) << name << ": rows " << i << " and " << j;
    }
  }
  EXPECT_EQ(count, largest + 1) << name;
}

TEST(Orderings, ArePermutations) {
  for (const pattern& p : graphs()) {
    const matrix a = symmetric(p);
    EXPECT_TRUE(is_permutation(reverse_cuthill_mckee(a), p.size)) << p.name;
    EXPECT_TRUE(is_permutation(greedy_colouring(a).order(), p.size)) << p.name;
  }
}

TEST(Orderings, ReverseCuthillMcKeeMakesTheBandNarrow) {
  // A chain and a grid in random order get back a band as narrow as possible, or nearly so.
  random_source source(3);
  for (const auto& [p, widest] :
       {std::pair{patterns::chain(60), 1}, std::pair{patterns::stencil_2d(20, 6), 7}}) {
    std::vector<std::int32_t> shuffled(static_cast<std::size_t>(p.size));
    std::iota(shuffled.begin(), shuffled.end(), 0);
    source.shuffle(shuffled);
    const matrix a = reordered(symmetric(p), shuffled).matrix;
    EXPECT_GT(bandwidth(a), 2 * widest);
    EXPECT_LE(bandwidth(reordered(a, reverse_cuthill_mckee(a)).matrix), widest) << p.name;
  }
}

/// A row with many neighbours comes after them: the factors have no fill.
TEST(Orderings, ReverseCuthillMcKeeIsReversed) {
  const pattern p = patterns::arrow_column(30);
  EXPECT_EQ(reverse_cuthill_mckee(symmetric(p))[28], 0);
}

TEST(Orderings, ColoursAreLevels) {
  for (const pattern& p : graphs()) {
    const matrix a = symmetric(p);
    const auto colours = greedy_colouring(a);
    expect_colouring(a, colours.colour_of_row, colours.colours, p.name);
    EXPECT_LE(structure_of(reordered(a, colours.order()).matrix, {}).levels, colours.colours) << p.name;
  }
  EXPECT_EQ(greedy_colouring(symmetric(patterns::stencil_2d(9, 8))).colours, 2);
  EXPECT_EQ(greedy_colouring(symmetric(patterns::dense(70))).colours, 70);
}

TEST(Orderings, OfUnsymmetricPatternsUseBothTriangles) {
  form f;
  f.holds = content::triangle;
  const auto a = make_matrix<double>(patterns::random(50, 3, 1), f).by_rows;
  const auto whole = symmetric(patterns::random(50, 3, 1));
  EXPECT_EQ(reverse_cuthill_mckee(a), reverse_cuthill_mckee(whole));
  EXPECT_EQ(reverse_cuthill_mckee(to_csc(a)), reverse_cuthill_mckee(whole));
  EXPECT_EQ(greedy_colouring(a).colour_of_row, greedy_colouring(whole).colour_of_row);
}

TEST(Orderings, ReorderedMatricesHoldTheSameEntries) {
  const pattern p = patterns::random(30, 3, 1);
  form f;
  f.holds = content::general;
  const auto a = make_matrix<double>(p, f).by_rows;
  std::vector<std::int32_t> order(30);
  std::iota(order.begin(), order.end(), 0);
  random_source(5).shuffle(order);
  auto made = reordered(a, order);
  const auto entry = [](const matrix& m, std::int32_t i, std::int32_t j) {
    for (auto e = m.row_offsets[static_cast<std::size_t>(i)];
         e < m.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
      if (m.column_indices[static_cast<std::size_t>(e)] == j) {
        return m.values[static_cast<std::size_t>(e)];
      }
    }
    return 0.0;
  };
  auto changed = a;
  for (double& v : changed.values) {
    v *= 3;
  }
  for (const matrix& from : {a, changed}) {
    made.update_values(from.values);
    for (std::int32_t k = 0; k < 30; ++k) {
      for (std::int32_t l = 0; l < 30; ++l) {
        ASSERT_EQ(entry(made.matrix, k, l),
                  entry(from, order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(l)]));
      }
    }
  }
  EXPECT_EQ(made.matrix.values.size(), a.values.size());
}

TEST(Orderings, RefuseBadInput) {
  const auto code = [](auto&& action) {
    const auto seen = failure::of(action);
    return seen ? std::pair{seen->code, seen->row.value_or(-1)} : std::pair{errc::io_error, std::int64_t{-2}};
  };
  using expected = std::pair<errc, std::int64_t>;
  EXPECT_EQ(code([] { inverse_order(std::vector<int>{0, 3, 1}); }), expected(errc::index_out_of_range, 1));
  EXPECT_EQ(code([] { inverse_order(std::vector<int>{0, 1, 0}); }), expected(errc::invalid_argument, 2));
  const matrix a = symmetric(patterns::chain(4));
  EXPECT_EQ(code([&] { reordered(a, std::vector<int>{0, 1}); }), expected(errc::size_mismatch, -1));
  matrix bad = a;
  bad.column_indices[1] = 4;
  EXPECT_EQ(code([&] { reverse_cuthill_mckee(bad); }), expected(errc::index_out_of_range, 0));
  bad = a;
  bad.columns = 5;
  EXPECT_EQ(code([&] { greedy_colouring(bad); }), expected(errc::not_square, -1));
}

/// The colours that Jones and Plassmann's method gives, row by row in the order of priority.
std::vector<std::int32_t> colours_by_priority(const matrix& a) {
  const auto size = static_cast<std::size_t>(a.rows);
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), detail::orderings::is_before);
  std::vector<std::int32_t> colours(size, -1);
  for (const std::int64_t row : order) {
    const auto i = static_cast<std::size_t>(row);
    std::vector<char> used(size + 1, 0);
    for (auto e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
      const auto colour = colours[static_cast<std::size_t>(a.column_indices[static_cast<std::size_t>(e)])];
      used[static_cast<std::size_t>(colour < 0 ? static_cast<std::int32_t>(size) : colour)] = 1;
    }
    colours[i] = static_cast<std::int32_t>(std::find(used.begin(), used.end(), 0) - used.begin());
  }
  return colours;
}

TEST(DeviceColouring, IsTheSameUnderEverySchedule) {
  std::uint64_t seed = 0;
  for (const pattern& p : graphs()) {
    const matrix a = symmetric(p);
    const auto expected = colours_by_priority(a);
    for (int k = 0; k < 4; ++k) {
      emulator_target t(hostile_settings(seed++, static_cast<std::uint32_t>(k)));
      const auto there = t.upload(a);
      const auto made = colour_on_device(there, t.stream());
      const auto colours = t.download(made.colour_of_row);
      EXPECT_EQ(colours, expected) << p.name;
      expect_colouring(a, colours, made.colours, p.name);
      EXPECT_EQ(t.download(made.order), (colouring<std::int32_t>{colours, made.colours}.order())) << p.name;
    }
  }
}

TEST(DeviceColouring, RefusesBadInput) {
  emulator_target t;
  const auto code = [&](const raw_matrix& bad) {
    const raw_arrays<emulator_target, double, std::int32_t, std::int32_t> there(t, bad);
    const auto seen = there.visit(
        [&](const auto& view) { return failure::of([&] { colour_on_device(view, t.stream()); }); });
    return seen ? std::pair{seen->code, seen->row.value_or(-1)} : std::pair{errc::io_error, std::int64_t{-2}};
  };
  using expected = std::pair<errc, std::int64_t>;
  EXPECT_EQ(code(raw_matrix::of({{0, 1}, {2}, {0}})).first, errc::unsupported);
  EXPECT_EQ(code(raw_matrix::of({{0}, {1, 3}, {2}})), expected(errc::index_out_of_range, 1));
  raw_matrix wrong = raw_matrix::of({{0}, {1}, {2}});
  wrong.offsets[2] = 0;
  EXPECT_EQ(code(wrong), expected(errc::offsets_not_monotone, 1));
  EXPECT_EQ(t.device().live_bytes(), 0u);
}

}  // namespace
}  // namespace sptrsv::testing
