// Splitting of long rows into partial rows, in the emulator: rows are short enough, and the solution is the
// same. Also the search for the rows of entries.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "support/emulator_target.hpp"
#include "support/random.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

/// Returns a pattern whose rows before row `longest` are empty; then there is one row of each length 0, 1,
/// ..., `longest`, and once more in descending order. The entries of a row are as far apart as possible, so
/// that rows need rows of all kinds.
pattern every_length(std::int64_t longest) {
  pattern made{"every_length_" + std::to_string(longest), 3 * longest + 2, {}};
  for (std::int64_t row = longest; row < made.size; ++row) {
    const std::int64_t length = row <= 2 * longest ? row - longest : made.size - 1 - row;
    for (std::int64_t k = 0; k < length; ++k) {
      made.entries.push_back({row, row * (k + 1) / (length + 1)});
    }
  }
  return made;
}

/// A triangle on the host.
template <class Offset>
struct rows_with_sources {
  std::vector<Offset> offsets;
  std::vector<std::int64_t> columns;
  std::vector<Offset> sources;
  std::vector<Offset> pivots;                      ///< empty: unit
  std::vector<std::int64_t> substitution_indices;  ///< -1: a partial row

  [[nodiscard]] std::size_t size() const { return substitution_indices.size(); }
  [[nodiscard]] std::int64_t length(std::size_t row) const {
    return static_cast<std::int64_t>(offsets[row + 1] - offsets[row]);
  }

  /// Returns x by row.
  [[nodiscard]] std::vector<double> solve(const std::vector<double>& stored,
                                          const std::vector<double>& b) const {
    std::vector<double> x(size());
    for (std::size_t row = 0; row < size(); ++row) {
      double rest =
          substitution_indices[row] < 0 ? 0 : b.at(static_cast<std::size_t>(substitution_indices[row]));
      for (auto e = static_cast<std::size_t>(offsets[row]); e < static_cast<std::size_t>(offsets[row + 1]);
           ++e) {
        const double value = sources[e] == detail::triangle_kernels::minus_one_source
                                 ? -1
                                 : stored.at(static_cast<std::size_t>(sources[e]));
        rest -= value * x.at(static_cast<std::size_t>(columns[e]));
      }
      const bool unit = pivots.empty() || pivots[row] == -1;
      x[row] = unit ? rest : rest / stored.at(static_cast<std::size_t>(pivots[row]));
    }
    return x;
  }
};

template <class Types>
class SplitRows : public on_target<Types> {
 public:
  using typename on_target<Types>::index_type;
  using typename on_target<Types>::offset_type;
  using host_rows = rows_with_sources<offset_type>;

  template <class Triangle>
  host_rows to_host(const Triangle& t, std::vector<std::int64_t> substitution_indices) {
    const auto columns = this->where.download(t.columns);
    return {this->where.download(t.row_offsets),
            {columns.begin(), columns.end()},
            this->where.download(t.sources),
            this->where.download(t.diagonal_sources),
            std::move(substitution_indices)};
  }

  void check(const pattern& p, std::int64_t most, const form& f) {
    SCOPED_TRACE(p.name + " split at " + std::to_string(most) + ", " + f.name());
    const auto a = this->make(p, f).by_rows;
    const auto there = this->where.upload(a);
    auto triangle = detail::build_on_device(detail::pattern_of(detail::view_of(there)),
                                            detail::triangle_form(f.options(), false), this->where.on(),
                                            this->where.resource());
    std::vector<std::int64_t> in_order;
    for (std::int64_t i = 0; i < p.size; ++i) {
      in_order.push_back(i);
    }
    const host_rows before = to_host(triangle, in_order);
    const std::int64_t longest = triangle.longest_row;
    const auto split =
        detail::split_long_rows(triangle, {most, most}, this->where.on(), this->where.resource());
    ASSERT_EQ(split.substitution_indices.size() == 0, longest <= most)
        << "substitution indices where there are partial rows";
    if (longest <= most) {
      EXPECT_EQ(split.triangle.size, p.size);
      EXPECT_EQ(this->where.download(split.triangle.columns).size(), before.columns.size());
      return;
    }
    const auto substitution_indices = this->where.download(split.substitution_indices);
    const host_rows after =
        to_host(split.triangle, {substitution_indices.begin(), substitution_indices.end()});
    expect_sound(after, before, most);
    if (before.pivots.empty()) {
      EXPECT_TRUE(after.pivots.empty());
    }

    const auto b = random_vector<double>(p.size, 7);
    const std::vector<double> expected = before.solve(a.values, b);
    const std::vector<double> x = after.solve(a.values, b);
    for (std::size_t row = 0; row < x.size(); ++row) {
      if (after.substitution_indices[row] >= 0) {
        ASSERT_NEAR(x[row], expected[static_cast<std::size_t>(after.substitution_indices[row])], 1e-13)
            << row;
      }
    }
  }

  /// Checks substitution indices and lengths, and that the entries are the old ones and the links.
  void expect_sound(const host_rows& after, const host_rows& before, std::int64_t most) {
    std::vector<std::int64_t> substitution_indices;
    std::vector<offset_type> sources;
    std::vector<int> links(after.size(), 0);
    for (std::size_t row = 0; row < after.size(); ++row) {
      const std::int64_t substitution_index = after.substitution_indices[row];
      if (substitution_index >= 0) {
        substitution_indices.push_back(substitution_index);
        const std::int64_t length = before.length(static_cast<std::size_t>(substitution_index));
        ASSERT_LE(after.length(row), length > most ? 2 * most - 3 : length) << "a row of " << length;
      } else {
        ASSERT_EQ(after.length(row), most) << "a partial row";
      }
      for (auto e = static_cast<std::size_t>(after.offsets[row]);
           e < static_cast<std::size_t>(after.offsets[row + 1]); ++e) {
        const auto column = static_cast<std::size_t>(after.columns[e]);
        ASSERT_LT(column, row);
        const bool is_link = after.sources[e] == detail::triangle_kernels::minus_one_source;
        ASSERT_EQ(is_link, after.substitution_indices[column] < 0);
        if (is_link) {
          ++links[column];
        } else {
          sources.push_back(after.sources[e]);
        }
      }
    }
    EXPECT_EQ(substitution_indices, before.substitution_indices) << "every row once, in the old order";
    std::vector<offset_type> old_sources = before.sources;
    std::sort(old_sources.begin(), old_sources.end());
    std::sort(sources.begin(), sources.end());
    EXPECT_EQ(sources, old_sources) << "every entry once";
    for (std::size_t row = 0; row < after.size(); ++row) {
      ASSERT_EQ(links[row], after.substitution_indices[row] < 0 ? 1 : 0) << "row " << row << " taken over";
    }
  }
};

using split_types = ::testing::Types<case_types<emulator_target, double, std::int32_t, std::int32_t>,
                                     case_types<emulator_target, double, std::int32_t, std::int64_t>>;
TYPED_TEST_SUITE(SplitRows, split_types, type_names);

TYPED_TEST(SplitRows, OfEveryLengthKeepTheSolution) {
  form unit;
  unit.diagonal = diag::unit;
  this->check(every_length(4 * 4 * 4 + 5), 4, {});
  this->check(every_length(4 * 4 * 4 + 5), 4, unit);
  this->check(every_length(5 * 5 * 5 + 6), 5, {});
  this->check(every_length(8 * 8 + 9), 8, {});
  this->check(every_length(100), 32, {});
}

TYPED_TEST(SplitRows, StayAsTheyAreIfNoneIsTooLong) {
  this->check(every_length(16), 16, {});
  this->check(patterns::diagonal(0), 4, {});
  this->check(patterns::diagonal(5), 4, {});
}

TYPED_TEST(SplitRows, MayNeedEachOther) {
  this->check(patterns::dense(90), 4, {});
  this->check(patterns::dense(90), 7, {});
  this->check(patterns::arrow_row(300), 6, {});
  this->check(patterns::power_law(257, 5), 4, {});
}

/// A row of q * most + r entries, 0 <= r < most, has q + r entries after one round of splitting if that is
/// more than `most`; a further round follows only if q >= most - 1. So some rows stay a little too long.
TYPED_TEST(SplitRows, AreHardlyEverLongerThanAsked) {
  const std::int64_t most = 32;
  for (const std::int64_t length : {33, 64, 95, 96, 97, 991, 992, 993, 1023, 1024, 1025, 2000}) {
    pattern p{"one row", length + 1, {}};
    for (std::int64_t j = 0; j < length; ++j) {
      p.entries.push_back({length, j});
    }
    const auto there = this->where.upload(this->make(p, {}).by_rows);
    auto triangle = detail::build_on_device(detail::pattern_of(detail::view_of(there)),
                                            detail::triangle_form(system_options{}, false), this->where.on(),
                                            this->where.resource());
    const auto split =
        detail::split_long_rows(triangle, {most, most}, this->where.on(), this->where.resource());
    const auto offsets = this->where.download(split.triangle.row_offsets);
    const std::int64_t left = static_cast<std::int64_t>(offsets.back() - offsets[offsets.size() - 2]);
    const std::int64_t q = length / most;
    const std::int64_t r = length % most;
    EXPECT_LE(left, q < most - 1 && q + r > most ? q + r : most) << length;
    EXPECT_LE(left, 2 * most - 3) << length;
  }
}

/// Partial rows and their links need numbers, too. Narrow types stand in for large triangles.
TEST(SplitRowsOfNarrowTypes, AreRefusedIfTheTypesCannotCountThem) {
  emulator_target where;
  const auto split = [&](std::int64_t size, std::int64_t length) {
    detail::device_triangle<std::int16_t, std::int16_t> t;
    t.size = size;
    t.longest_row = length;
    std::vector<std::int16_t> offsets(static_cast<std::size_t>(size) + 1, 0);
    offsets.back() = static_cast<std::int16_t>(length);
    std::vector<std::int16_t> columns;
    for (std::int64_t column = 0; column < length; ++column) {
      columns.push_back(static_cast<std::int16_t>(column));
    }
    t.row_offsets = where.upload(offsets);
    t.columns = where.upload(columns);
    t.sources = where.upload(columns);
    return failure::of([&] { detail::split_long_rows(t, {32, 32}, where.on(), where.resource()); });
  };
  EXPECT_FALSE(split(32000, 3000).has_value());
  for (const auto& [size, length] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{32700, 3000}, {32767, 64}, {32001, 32000}}) {
    const auto seen = split(size, length);
    ASSERT_TRUE(seen.has_value()) << size << ", " << length;
    EXPECT_EQ(seen->code, errc::unsupported) << seen->message;
    EXPECT_TRUE(seen->mentions("do not fit")) << seen->message;
  }
  EXPECT_EQ(where.device().live_bytes(), 0u);
}

/// Stores the row of each entry.
struct store_row {
  std::int64_t* rows;  ///< by entry

  template <class Context>
  bool hold(Context&) const {
    return true;
  }
  template <class Context>
  void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    ctx.store(rows + e, row);
  }
};

/// Most rows are empty, some have one entry, and some hundreds.
TEST(RowsOfEntries, AreFoundByWholeWarps) {
  emulator_target where;
  for (const std::int64_t size : {1, 2, 31, 32, 33, 64, 1000, 1024, 1025, 33000}) {
    std::vector<std::int32_t> offsets{0};
    std::vector<std::int64_t> expected;
    random_source source(static_cast<std::uint64_t>(size));
    for (std::int64_t row = 0; row < size; ++row) {
      const std::int64_t kind = source.below(size < 1000 ? 4 : 60);
      const std::int64_t length = kind == 0 ? 1 : kind == 1 ? source.below(size < 1000 ? 300 : 10) : 0;
      expected.insert(expected.end(), static_cast<std::size_t>(length), row);
      offsets.push_back(static_cast<std::int32_t>(expected.size()));
    }
    const auto offsets_there = where.upload(offsets);
    const auto rows = where.upload(std::vector<std::int64_t>(expected.size(), -1));
    detail::triangle_kernels::for_each_entry(where.on(), offsets_there.data(), size,
                                             static_cast<std::int64_t>(expected.size()),
                                             store_row{rows.data()});
    EXPECT_EQ(where.download(rows), expected) << size << " rows";
  }
}

}  // namespace
}  // namespace sptrsv::testing
