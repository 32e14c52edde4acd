// The analysis on the device gives the arrays that the analysis on the host gives.
#pragma once

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/levels/level_order.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {

template <class Types>
class analysis : public on_target<Types> {
 public:
  using typename on_target<Types>::value_type;
  using typename on_target<Types>::index_type;
  using typename on_target<Types>::offset_type;

  void compare(const pattern& p, const form& f) {
    const auto a = this->make(p, f);
    a.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      const auto on = this->where.on();
      const auto host_pattern = detail::pattern_of(detail::view_of(stored));
      const detail::triangle_form form(f.options(), host_pattern.by_columns);
      const auto expected = detail::build_on_host(host_pattern, form);
      const auto seen = detail::build_on_device(detail::pattern_of(detail::view_of(there)), form, on,
                                                this->where.resource());
      EXPECT_EQ(this->where.download(seen.row_offsets), expected.row_offsets) << p.name << ", " << f.name();
      EXPECT_EQ(this->where.download(seen.columns), expected.columns) << p.name << ", " << f.name();
      EXPECT_EQ(this->where.download(seen.sources), expected.sources) << p.name << ", " << f.name();
      EXPECT_EQ(this->where.download(seen.diagonal_sources), expected.diagonal_sources)
          << p.name << ", " << f.name();
      EXPECT_EQ(seen.longest_row, expected.longest_row()) << p.name << ", " << f.name();

      const auto levels = detail::levels_on_host<index_type>(expected.row_offsets, expected.columns);
      detail::device_levels<index_type> seen_levels;
      // Without a limit the device finds the levels; with this one the host does, unless there are few rows.
      for (const detail::search_limit& limit : {detail::search_limit{0, 1}, detail::search_limit{}}) {
        const auto found = detail::levels_of_rows(seen, on, this->where.resource(), true, limit);
        EXPECT_TRUE(is_levels_of_rows(found, levels, expected)) << p.name << ", " << f.name();
        seen_levels = detail::order_by_level(found, on, this->where.resource());
      }
      const detail::triangle_kernels::whole_rows wanted{12, 40, 5};
      const auto built =
          detail::build_with_levels<1>(detail::pattern_of(detail::view_of(there)), std::array{form}, {8, 12},
                                       wanted, true, on, this->where.resource(), [](const auto&...) {});
      const auto& both = built[0];
      EXPECT_EQ(this->where.download(both.triangle.row_offsets), expected.row_offsets) << p.name;
      EXPECT_EQ(this->where.download(both.triangle.columns), expected.columns) << p.name;
      EXPECT_EQ(this->where.download(both.triangle.sources), expected.sources) << p.name;
      EXPECT_EQ(both.triangle.longest_row, expected.longest_row()) << p.name;
      EXPECT_EQ(both.triangle.rows_are_stored_runs, seen.rows_are_stored_runs) << p.name;
      const auto long_rows = std::count_if(expected.row_offsets.begin(), expected.row_offsets.end() - 1,
                                           [](const auto& begin) { return *(&begin + 1) - begin > 12; });
      EXPECT_EQ(both.levels.has_value(),
                seen.rows_are_stored_runs && seen.size > 0 && wanted.have(seen.longest_row, long_rows))
          << p.name << ", " << f.name();
      if (both.levels) {
        EXPECT_TRUE(is_levels_of_rows(*both.levels, levels, expected)) << p.name << ", " << f.name();
      }
      EXPECT_EQ(seen_levels.count, levels.count()) << p.name << ", " << f.name();
      EXPECT_EQ(this->where.download(seen_levels.level_offsets), levels.level_offsets)
          << p.name << ", " << f.name();
      EXPECT_EQ(this->where.download(seen_levels.rows), levels.rows) << p.name << ", " << f.name();

      const auto moved = detail::in_level_order(seen, seen_levels, on, this->where.resource());
      EXPECT_TRUE(is_in_level_order(moved, expected, levels.rows)) << p.name << ", " << f.name();

      const auto columns = detail::build_columns_on_device(detail::pattern_of(detail::view_of(there)), form,
                                                           on, this->where.resource());
      EXPECT_TRUE(is_by_columns(columns, expected)) << p.name << ", " << f.name();
      EXPECT_EQ(this->where.download(columns.diagonal_sources), expected.diagonal_sources)
          << p.name << ", " << f.name();
      EXPECT_TRUE(is_by_columns(detail::columns_of(seen, on, this->where.resource()), expected))
          << p.name << ", " << f.name();
      const detail::host_triangle<index_type, offset_type> moved_rows{this->where.download(moved.row_offsets),
                                                                      this->where.download(moved.columns),
                                                                      this->where.download(moved.sources),
                                                                      {}};
      EXPECT_TRUE(is_by_columns(detail::columns_of(moved, on, this->where.resource()), moved_rows))
          << p.name << ", " << f.name();
      const auto degrees = detail::count_in_degrees(columns, 16, on, this->where.resource());
      EXPECT_TRUE(are_in_degrees(degrees, expected, 16)) << p.name << ", " << f.name();
    });
  }

  /// Returns whether the levels of rows, and the number of levels of blocks of 32 rows, are as expected.
  template <class Levels, class Triangle>
  bool is_levels_of_rows(const detail::row_levels<index_type>& seen, const Levels& expected,
                         const Triangle& triangle) {
    auto of_row = this->where.download(seen.of_row);
    for (auto& level : of_row) {
      --level;  // they count from 1
    }
    std::vector<std::int64_t> of_blocks;
    for (std::size_t row = 0; row < of_row.size(); ++row) {
      std::int64_t level = 1;
      for (offset_type e = triangle.row_offsets[row]; e < triangle.row_offsets[row + 1]; ++e) {
        const auto column = static_cast<std::size_t>(triangle.columns[static_cast<std::size_t>(e)]);
        level = std::max(level, of_blocks[column] + (column / 32 == row / 32 ? 0 : 1));
      }
      of_blocks.push_back(level);
    }
    const std::int64_t blocks = of_blocks.empty() ? 0 : *std::max_element(of_blocks.begin(), of_blocks.end());
    return seen.count == expected.count() && of_row == expected.level_of_row &&
           seen.count_of_blocks == blocks;
  }

  /// Returns whether `seen` has the columns of the triangle `from`, with ascending rows in each column.
  template <class Columns, class Triangle>
  bool is_by_columns(const Columns& seen, const Triangle& from) {
    const std::size_t size = from.row_offsets.size() - 1;
    std::vector<std::vector<index_type>> rows(size);
    std::vector<std::vector<offset_type>> sources(size);
    for (std::size_t r = 0; r < size; ++r) {
      for (offset_type e = from.row_offsets[r]; e < from.row_offsets[r + 1]; ++e) {
        const auto column = static_cast<std::size_t>(from.columns[static_cast<std::size_t>(e)]);
        rows[column].push_back(static_cast<index_type>(r));
        sources[column].push_back(from.sources[static_cast<std::size_t>(e)]);
      }
    }
    std::vector<offset_type> all_offsets{0};
    std::vector<index_type> all_rows;
    std::vector<offset_type> all_sources;
    for (std::size_t c = 0; c < size; ++c) {
      all_rows.insert(all_rows.end(), rows[c].begin(), rows[c].end());
      all_sources.insert(all_sources.end(), sources[c].begin(), sources[c].end());
      all_offsets.push_back(static_cast<offset_type>(all_rows.size()));
    }
    return this->where.download(seen.column_offsets) == all_offsets &&
           this->where.download(seen.rows) == all_rows && this->where.download(seen.sources) == all_sources;
  }

  template <class Degrees, class Triangle>
  bool are_in_degrees(const Degrees& seen, const Triangle& from, std::size_t block) {
    std::vector<index_type> total;
    std::vector<index_type> inside;
    for (std::size_t r = 0; r + 1 < from.row_offsets.size(); ++r) {
      total.push_back(static_cast<index_type>(from.row_offsets[r + 1] - from.row_offsets[r]));
      inside.push_back(0);
      for (offset_type e = from.row_offsets[r]; e < from.row_offsets[r + 1]; ++e) {
        inside.back() +=
            static_cast<std::size_t>(from.columns[static_cast<std::size_t>(e)]) / block == r / block;
      }
    }
    return this->where.download(seen.total) == total && this->where.download(seen.inside) == inside &&
           seen.longest == from.longest_row();
  }

  /// Renumbers the rows by their index in `rows`; keeps the order of the entries of a row.
  template <class Moved, class Triangle>
  bool is_in_level_order(const Moved& moved, const Triangle& from, const std::vector<index_type>& rows) {
    std::vector<index_type> place(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      place[static_cast<std::size_t>(rows[r])] = static_cast<index_type>(r);
    }
    Triangle expected;
    expected.row_offsets.push_back(0);
    for (const index_type position : rows) {
      const auto at = static_cast<std::size_t>(position);
      for (offset_type e = from.row_offsets[at]; e < from.row_offsets[at + 1]; ++e) {
        const auto entry = static_cast<std::size_t>(e);
        expected.columns.push_back(place[static_cast<std::size_t>(from.columns[entry])]);
        expected.sources.push_back(from.sources[entry]);
      }
      expected.row_offsets.push_back(static_cast<offset_type>(expected.columns.size()));
      if (!from.diagonal_sources.empty()) {
        expected.diagonal_sources.push_back(from.diagonal_sources[at]);
      }
    }
    return this->where.download(moved.row_offsets) == expected.row_offsets &&
           this->where.download(moved.columns) == expected.columns &&
           this->where.download(moved.sources) == expected.sources &&
           this->where.download(moved.diagonal_sources) == expected.diagonal_sources;
  }

  /// Returns a rectangular matrix with empty rows and columns and unsorted rows.
  static csr_matrix<value_type, index_type, offset_type> rectangle(std::int64_t rows, std::int64_t columns,
                                                                   std::int64_t entries) {
    random_source source(static_cast<std::uint64_t>(rows + entries));
    std::vector<index_type> row_of;
    std::vector<index_type> column_of;
    std::vector<value_type> values;
    for (std::int64_t e = 0; e < entries; ++e) {
      row_of.push_back(static_cast<index_type>(source.below(rows) / 2 * 2));
      column_of.push_back(static_cast<index_type>(source.below(columns) / 3 * 3));
      values.push_back(random_value<value_type>(source, 1));
    }
    return make_csr<offset_type>(rows, columns, row_of, column_of, values);
  }
};
TYPED_TEST_SUITE_P(analysis);

/// All combinations of index types.
template <class Target>
using every_index = ::testing::Types<case_types<Target, double, std::int32_t, std::int32_t>,
                                     case_types<Target, double, std::int64_t, std::int64_t>,
                                     case_types<Target, double, std::int32_t, std::int64_t>>;

TYPED_TEST_P(analysis, of_the_smallest_matrices_in_every_form) {
  for (const content holds : {content::triangle, content::general}) {
    for (const form& f : tried(all_forms(holds))) {
      for (const pattern& p : patterns::smallest()) {
        this->compare(p, f);
      }
    }
  }
}

TYPED_TEST_P(analysis, of_all_matrices) {
  std::vector<pattern> all = patterns::small();
  for (const pattern& p : patterns::deep()) {
    all.push_back(p);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const form& f : TestFixture::forms_in_turn(i + turn_of(TypeParam::name()))) {
      this->compare(all[i], f);
    }
  }
}

TYPED_TEST_P(analysis, conversions_agree_with_the_host) {
  const auto stream = this->where.stream();
  for (const auto& a : {this->rectangle(37, 61, 250), this->rectangle(700, 9, 900), this->rectangle(5, 5, 0),
                        this->rectangle(1, 1, 3), this->rectangle(3, 400, 30)}) {
    const auto expected = to_csc(a);
    const auto seen = to_host(to_csc(this->where.upload(a), stream), stream);
    EXPECT_EQ(seen.rows, a.rows);
    EXPECT_EQ(seen.columns, a.columns);
    EXPECT_EQ(seen.column_offsets, expected.column_offsets);
    EXPECT_EQ(seen.row_indices, expected.row_indices);
    EXPECT_EQ(seen.values, expected.values);

    const auto expected_back = to_csr(expected);
    const auto back = to_host(to_csr(this->where.upload(expected), stream), stream);
    EXPECT_EQ(back.rows, a.rows);
    EXPECT_EQ(back.columns, a.columns);
    EXPECT_EQ(back.row_offsets, expected_back.row_offsets);
    EXPECT_EQ(back.column_indices, expected_back.column_indices);
    EXPECT_EQ(back.values, expected_back.values);
  }
}

TYPED_TEST_P(analysis, conversions_of_blocks_agree_with_the_host) {
  const auto stream = this->where.stream();
  for (const auto& repeated : {this->rectangle(36, 60, 250), this->rectangle(720, 12, 900),
                               this->rectangle(12, 12, 0), this->rectangle(12, 12, 3)}) {
    const auto a = to_csr(to_bsr(repeated, 1));  // no entry twice
    for (const std::int64_t block : {1, 2, 3, 12}) {
      for (const block_order order : {block_order::by_rows, block_order::by_columns}) {
        const auto expected = to_bsr(a, block, order);
        const auto there = this->where.upload(expected);
        const auto seen = to_host(there, stream);
        EXPECT_EQ(seen.rows, a.rows);
        EXPECT_EQ(seen.columns, a.columns);
        EXPECT_EQ(seen.block_size, block);
        EXPECT_TRUE(seen.order == order);
        EXPECT_EQ(seen.row_offsets, expected.row_offsets);
        EXPECT_EQ(seen.column_indices, expected.column_indices);
        EXPECT_EQ(seen.values, expected.values);
        const auto rows = to_host(to_csr(there, stream), stream);
        const auto expected_rows = to_csr(expected);
        EXPECT_EQ(rows.row_offsets, expected_rows.row_offsets);
        EXPECT_EQ(rows.column_indices, expected_rows.column_indices);
        EXPECT_EQ(rows.values, expected_rows.values);
      }
    }
  }
}

TYPED_TEST_P(analysis, transfers_keep_the_matrix) {
  const auto stream = this->where.stream();
  for (const auto& a :
       {this->rectangle(37, 61, 250), this->rectangle(4, 4, 0),
        csr_matrix<typename TypeParam::value, typename TypeParam::index, typename TypeParam::offset>{}}) {
    const auto back = to_host(this->where.upload(a), stream);
    EXPECT_EQ(back.rows, a.rows);
    EXPECT_EQ(back.columns, a.columns);
    EXPECT_EQ(back.row_offsets, a.row_offsets);
    EXPECT_EQ(back.column_indices, a.column_indices);
    EXPECT_EQ(back.values, a.values);
  }
}

REGISTER_TYPED_TEST_SUITE_P(analysis, of_the_smallest_matrices_in_every_form, of_all_matrices,
                            conversions_agree_with_the_host, conversions_of_blocks_agree_with_the_host,
                            transfers_keep_the_matrix);

}  // namespace sptrsv::testing
