// Matrices on the host: assembly, conversions, structure, and the triangle's form.
#include "sptrsv/conversions.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sptrsv/host/structure.hpp"
#include "support/matrices.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

using entry_map = std::multimap<std::pair<std::int64_t, std::int64_t>, double>;

template <class I, class O>
entry_map entries_of(const csr_matrix<double, I, O>& a) {
  entry_map entries;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (O e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const auto at = static_cast<std::size_t>(e);
      entries.insert({{i, a.column_indices[at]}, a.values[at]});
    }
  }
  return entries;
}
template <class I, class O>
entry_map entries_of(const csc_matrix<double, I, O>& a) {
  entry_map entries;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (O e = a.column_offsets[static_cast<std::size_t>(j)];
         e < a.column_offsets[static_cast<std::size_t>(j) + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      entries.insert({{a.row_indices[at], j}, a.values[at]});
    }
  }
  return entries;
}

TEST(MakeCsr, KeepsEntriesAndTheirOrder) {
  const std::vector<int> rows{2, 0, 2, 1, 2};
  const std::vector<int> columns{1, 3, 0, 2, 1};
  const std::vector<double> values{1, 2, 3, 4, 5};
  const auto a = make_csr<std::int64_t>(4, 5, rows, columns, values);
  EXPECT_EQ(a.rows, 4);
  EXPECT_EQ(a.columns, 5);
  EXPECT_EQ(a.row_offsets, (std::vector<std::int64_t>{0, 1, 2, 5, 5}));
  EXPECT_EQ(a.column_indices, (std::vector<int>{3, 2, 1, 0, 1}));
  EXPECT_EQ(a.values, (std::vector<double>{2, 4, 1, 3, 5}));
}

TEST(MakeCsr, RefusesWhatLiesOutside) {
  const std::vector<double> value{1};
  using ints = std::vector<int>;
  EXPECT_NO_THROW(make_csr<int>(2, 3, ints{1}, ints{2}, value));
  EXPECT_THROW(make_csr<int>(2, 3, ints{2}, ints{2}, value), error);
  EXPECT_THROW(make_csr<int>(2, 3, ints{1}, ints{3}, value), error);
  EXPECT_THROW(make_csr<int>(2, 3, ints{-1}, ints{0}, value), error);
  EXPECT_THROW(make_csr<int>(2, 3, ints{0}, ints{-1}, value), error);
  EXPECT_THROW(make_csr<int>(2, 3, ints{0, 1}, ints{0}, value), error);
  EXPECT_EQ(make_csr<int>(2, 3, ints{}, ints{}, std::vector<double>{}).row_offsets, (ints{0, 0, 0}));
  EXPECT_EQ(make_csr<int>(0, 0, ints{}, ints{}, std::vector<double>{}).row_offsets, ints{0});
}

TEST(MakeCsr, RefusesSizesThatTheTypesCannotCount) {
  const auto code_of = [](const auto& make) {
    const auto seen = failure::of(make);
    return seen ? std::optional<errc>(seen->code) : std::nullopt;
  };
  const std::vector<std::int64_t> none;
  const std::vector<double> no_values;
  EXPECT_EQ(code_of([&] { make_csr<int>(-1, 3, none, none, no_values); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { make_csr<int>(3, -1, none, none, no_values); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { make_csr<int>(INT64_MIN, 3, none, none, no_values); }), errc::invalid_argument);
  for (const std::int64_t rows : {INT64_MAX, INT64_MAX - 1, INT64_MAX / 4}) {
    EXPECT_EQ(code_of([&] { make_csr<int>(rows, 3, none, none, no_values); }), errc::out_of_memory) << rows;
  }
#ifndef __SANITIZE_ADDRESS__  // which ends the program when the C++ heap refuses memory
  EXPECT_EQ(code_of([&] { make_csr<int>(std::int64_t{1} << 60, 3, none, none, no_values); }),
            errc::out_of_memory);
#endif
  const std::vector<int> few;
  EXPECT_EQ(code_of([&] { make_csr<int>(std::int64_t{1} << 31, 3, few, few, no_values); }),
            errc::invalid_argument);
  for (const std::size_t entries : {32767U, 32768U, 65536U, 65537U}) {  // 16-bit offsets wrap
    const std::vector<int> zeros(entries, 0);
    const auto code =
        code_of([&] { make_csr<std::int16_t>(1, 1, zeros, zeros, std::vector<double>(entries)); });
    EXPECT_EQ(code, entries < 32768 ? std::nullopt : std::optional(errc::invalid_argument)) << entries;
  }
}

TEST(MakeCsr, SaysIfIndicesCountFromOne) {
  const auto seen = failure::of([] {
    make_csr<int>(3, 3, std::vector<int>{1, 2, 3}, std::vector<int>{1, 2, 3}, std::vector<double>(3));
  });
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->code, errc::index_out_of_range);
  EXPECT_TRUE(seen->mentions("count from 1")) << seen->message;
  const auto other = failure::of([] {
    make_csr<int>(3, 3, std::vector<int>{0, 2, 3}, std::vector<int>{1, 2, 3}, std::vector<double>(3));
  });
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(other->mentions("count from 1")) << other->message;
}

TEST(Conversions, KeepTheMatrix) {
  random_source source(3);
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (int e = 0; e < 300; ++e) {
    rows.push_back(static_cast<std::int32_t>(source.below(40)));
    columns.push_back(static_cast<std::int32_t>(source.below(70)));
    values.push_back(e);
  }
  const auto a = make_csr<std::int64_t>(41, 72, rows, columns, values);
  const auto by_columns = to_csc(a);
  EXPECT_EQ(by_columns.rows, 41);
  EXPECT_EQ(by_columns.columns, 72);
  EXPECT_EQ(entries_of(by_columns), entries_of(a));
  for (std::int64_t j = 0; j < by_columns.columns; ++j) {
    EXPECT_TRUE(std::is_sorted(
        by_columns.row_indices.begin() + by_columns.column_offsets[static_cast<std::size_t>(j)],
        by_columns.row_indices.begin() + by_columns.column_offsets[static_cast<std::size_t>(j) + 1]));
  }
  const auto back = to_csr(by_columns);
  EXPECT_EQ(entries_of(back), entries_of(a));
  EXPECT_EQ(to_csc(back).values, by_columns.values);  // both are sorted now, so that the order stays
}

TEST(Conversions, OfBlocksKeepTheMatrix) {
  const csr_matrix<double> a{
      4, 6, {0, 3, 4, 4, 6}, {5, 0, 1, 2, 1, 1}, {1, 2, 3, 4, 5, 6}};  // the last entry stands twice
  for (const std::int64_t block : {1, 2}) {
    const auto by_rows = to_bsr(a, block);
    const auto by_columns = to_bsr(a, block, block_order::by_columns);
    EXPECT_EQ(by_rows.column_indices, by_columns.column_indices);
    for (const auto& blocks : {by_rows, by_columns}) {
      auto entries = entries_of(to_csr(blocks));
      for (auto e = entries.begin(); e != entries.end();) {
        e = e->second == 0 ? entries.erase(e) : std::next(e);
      }
      EXPECT_EQ(entries,
                entries_of(csr_matrix<double>{4, 6, {0, 3, 4, 4, 5}, {5, 0, 1, 2, 1}, {1, 2, 3, 4, 11}}));
    }
  }
  const auto blocks = to_bsr(a, 2);
  EXPECT_EQ(blocks.row_offsets, (std::vector<std::int32_t>{0, 3, 4}));
  EXPECT_EQ(blocks.column_indices, (std::vector<std::int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(blocks.values, (std::vector<double>{2, 3, 0, 0, 0, 0, 4, 0, 0, 1, 0, 0, 0, 0, 0, 11}));
  EXPECT_EQ(to_bsr(a, 2, block_order::by_columns).values,
            (std::vector<double>{2, 0, 3, 0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 11}));
  const auto seen = failure::of([&] { to_bsr(a, 4); });
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->code, errc::invalid_argument);
  EXPECT_TRUE(to_csr(bsr_matrix<double>{}).row_offsets == std::vector<std::int32_t>{0});
}

TEST(Views, AreOfTheOwningArrays) {
  const auto a = make_matrix<double>(patterns::chain(4), {}).by_rows;
  const csr_view<double> view = a;
  EXPECT_EQ(view.rows, 4);
  EXPECT_EQ(view.entries, 7);
  EXPECT_EQ(view.row_offsets, a.row_offsets.data());
  EXPECT_EQ(view.column_indices, a.column_indices.data());
  EXPECT_EQ(view.values, a.values.data());
  static_assert(std::is_trivially_copyable_v<csr_view<double>>);
  static_assert(std::is_trivially_copyable_v<csc_view<std::complex<float>, std::int32_t, std::int64_t>>);
}

TEST(Views, AreRefusedIfArraysHaveWrongLengths) {
  const auto refused = [](const auto& a) {
    const auto seen = failure::of([&] { static_cast<void>(a.view()); });
    return seen.has_value() && seen->code == errc::size_mismatch;
  };
  const auto good = make_matrix<double>(patterns::chain(4), {}).by_rows;
  auto bad = good;
  bad.column_indices.pop_back();
  EXPECT_TRUE(refused(bad));
  EXPECT_THROW(to_csc(bad), error);
  bad = good;
  bad.row_offsets.pop_back();
  EXPECT_TRUE(refused(bad));
  bad.rows = 3;
  EXPECT_FALSE(refused(bad));
  for (const std::int64_t rows :
       {std::int64_t{-4}, std::int64_t{-1}, std::int64_t{0}, INT64_MAX, INT64_MIN}) {
    bad.rows = rows;
    EXPECT_TRUE(refused(bad)) << rows;
  }
  EXPECT_FALSE(refused(csr_matrix<double>{}));  // a matrix of size 0 needs no offsets
  auto by_columns = to_csc(good);
  EXPECT_FALSE(refused(by_columns));
  by_columns.row_indices.push_back(0);
  EXPECT_TRUE(refused(by_columns));
}

TEST(Structure, OfKnownTriangles) {
  const auto structure = [](const pattern& p, const form& f) {
    return make_matrix<double>(p, f).visit([&](const auto& a) { return structure_of(a, f.options()); });
  };
  for (const form& f : all_forms()) {
    const auto chain = structure(patterns::chain(50), f);
    EXPECT_EQ(chain.levels, 50);
    EXPECT_EQ(chain.widest_level, 1);
    EXPECT_EQ(chain.longest_row, 1);
    EXPECT_EQ(chain.longest_column, 1);
    const auto diagonal = structure(patterns::diagonal(50), f);
    EXPECT_EQ(diagonal.levels, 1);
    EXPECT_EQ(diagonal.widest_level, 50);
    EXPECT_EQ(diagonal.entries, 50);
    const auto stencil = structure(patterns::stencil_2d(6, 9), f);
    EXPECT_EQ(stencil.levels, 6 + 9 - 1);
    EXPECT_EQ(stencil.widest_level, 6);
    const auto arrow = structure(patterns::arrow_row(30), f);
    const bool transposed = f.operation != op::none;
    EXPECT_EQ(arrow.levels, 2);
    EXPECT_EQ(arrow.longest_row, transposed ? 1 : 29) << f.name();
    EXPECT_EQ(arrow.longest_column, transposed ? 29 : 1) << f.name();
  }
  EXPECT_EQ(structure(patterns::diagonal(0), {}).levels, 0);
}

TEST(Structure, RefusesWhatAnalyzeRefuses) {
  auto a = make_matrix<double>(patterns::chain(4), {}).by_rows;
  a.column_indices[3] = 9;
  EXPECT_THROW(structure_of(a), error);
}

// --- the generators themselves
// ------------------------------------------------------------------------------

TEST(Generators, MakeValidPatterns) {
  std::vector<pattern> all = patterns::smallest();
  for (const auto& more : {patterns::small(), patterns::deep()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const pattern& p : all) {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (const position& e : p.entries) {
      EXPECT_GE(e.column, 0) << p.name;
      EXPECT_LT(e.column, e.row) << p.name;
      EXPECT_LT(e.row, p.size) << p.name;
      EXPECT_TRUE(seen.insert({e.row, e.column}).second) << p.name;
    }
  }
}

TEST(Generators, CoverEveryPairOfChoices) {
  for (std::size_t rotation = 0; rotation < 24; ++rotation) {
    std::set<std::tuple<int, int, int, int>> pairs;
    for (const form& f : covering_forms(rotation)) {
      const int choices[] = {static_cast<int>(f.part), static_cast<int>(f.diagonal),
                             static_cast<int>(f.operation), f.by_columns ? 1 : 0};
      for (int i = 0; i < 4; ++i) {
        for (int j = i + 1; j < 4; ++j) {
          pairs.insert({i, j, choices[i], choices[j]});
        }
      }
      EXPECT_TRUE(f.stores_diagonal || f.diagonal == diag::unit);
    }
    // All pairs of the three binary choices, and each choice with each of the three operations.
    EXPECT_EQ(pairs.size(), 3u * 4u + 3u * 6u) << rotation;
  }
}

TEST(Generators, StoreTheSameTriangleInEveryForm) {
  const pattern p = patterns::random(30, 3, 1);
  for (const content holds : {content::triangle, content::general}) {
    for (form f : all_forms(holds)) {
      f.by_columns = false;
      const auto by_rows = make_matrix<double>(p, f);
      f.by_columns = true;
      const auto by_columns = make_matrix<double>(p, f);
      EXPECT_EQ(entries_of(by_rows.by_rows), entries_of(by_columns.by_columns)) << f.name();
      EXPECT_EQ(by_rows.values().size(), p.entries.size() * (holds == content::general ? 2 : 1) + 30);
    }
  }
}

}  // namespace
}  // namespace sptrsv::testing
