// The slots of the slices: which hold an entry and which are marked as empty, and more of them than the
// offset type can count, with narrow offsets in place of large triangles.
#include "sptrsv/detail/dataflow/row_per_thread/sliced_ell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/device_matrix.hpp"
#include "support/emulator_target.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

/// Returns a triangle with one row of `length` entries in each of `slices` slices; all other rows are empty.
template <class Offset>
detail::device_triangle<std::int32_t, Offset> one_row_for_each_slice(std::int64_t slices, std::int64_t length,
                                                                     emulator_target& where) {
  const std::int64_t size = 32 * slices + length;
  std::vector<Offset> offsets{0};
  std::vector<std::int32_t> columns;
  for (std::int64_t row = 0; row < size; ++row) {
    if (row >= length && row % 32 == 0) {
      for (std::int64_t column = 0; column < length; ++column) {
        columns.push_back(static_cast<std::int32_t>(column));
      }
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  detail::device_triangle<std::int32_t, Offset> t;
  t.size = size;
  t.longest_row = length;
  t.row_offsets = where.upload(offsets);
  t.columns = where.upload(columns);
  t.sources = where.upload(std::vector<Offset>(columns.size(), 0));
  return t;
}

/// Packs the rows in the order of the triangle.
template <class Offset>
auto pack_in_order(const detail::device_triangle<std::int32_t, Offset>& t, emulator_target& where) {
  using namespace detail::dataflow::row_per_thread;
  const packing_order<std::int32_t> order;
  return pack_slices(t, order, find_slices(t, order, {}, nullptr, where.on(), where.resource()), -1, false,
                     where.on(), where.resource());
}

TEST(SlicedEll, CountsAsManySlotsAsTheOffsetsCan) {
  emulator_target where;
  const auto pack = [&](std::int64_t slices) {
    return pack_in_order(one_row_for_each_slice<std::int16_t>(slices, 32, where), where);
  };
  EXPECT_EQ(pack(31).columns.size(), 31u * 32 * 32);  // 1024 slots for each slice
  for (const std::int64_t slices : {32, 33, 63, 64, 65}) {
    const auto seen = failure::of([&] { pack(slices); });
    ASSERT_TRUE(seen.has_value()) << slices;
    EXPECT_EQ(seen->code, errc::unsupported);
    EXPECT_TRUE(seen->mentions(std::to_string(1024 * slices) + " slots")) << seen->message;
  }
  EXPECT_EQ(where.device().live_bytes(), 0u);
}

/// Rows of 0 to 4 entries and one of 35, in two slices: most rows of the second one have more than 30 empty
/// slots. The entries of a row are those directly before the diagonal.
struct uneven_rows {
  static constexpr std::int64_t size = 40;
  static constexpr std::int64_t long_row = 36;

  static std::int64_t length(std::int64_t row) {
    return row >= size ? 0 : row == long_row ? 35 : std::min(row, row % 5);
  }
  /// Returns the index of the first entry of a row in the stored matrix, whose rows end with the diagonal.
  static std::int64_t first_source(std::int64_t row) {
    std::int64_t source = 0;
    for (std::int64_t earlier = 0; earlier < row; ++earlier) {
      source += length(earlier) + 1;
    }
    return source;
  }
  static detail::device_triangle<std::int32_t, std::int32_t> triangle(bool rows_are_stored_runs,
                                                                      emulator_target& where) {
    std::vector<std::int32_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> sources;
    std::vector<std::int32_t> diagonals;
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t k = 0; k < length(row); ++k) {
        columns.push_back(static_cast<std::int32_t>(row - length(row) + k));
        sources.push_back(static_cast<std::int32_t>(first_source(row) + k));
      }
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
      diagonals.push_back(static_cast<std::int32_t>(first_source(row) + length(row)));
    }
    detail::device_triangle<std::int32_t, std::int32_t> t;
    t.size = size;
    t.longest_row = length(long_row);
    t.rows_are_stored_runs = rows_are_stored_runs;
    t.row_offsets = where.upload(offsets);
    t.columns = where.upload(columns);
    t.sources = where.upload(sources);
    t.diagonal_sources = where.upload(diagonals);
    return t;
  }
};

TEST(SlicedEll, MarksTheSlotsWithoutAnEntry) {
  using namespace detail::dataflow::row_per_thread;
  emulator_target where;
  for (const bool are_runs : {false, true}) {
    const auto packed = pack_in_order(uneven_rows::triangle(are_runs, where), where);
    ASSERT_EQ(packed.are_runs(), are_runs);
    ASSERT_EQ(where.download(packed.offsets), (std::vector<std::int32_t>{0, 4 * 32, (4 + 35) * 32}));
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> sources;
    std::vector<entry_shift> shifts;
    for (const std::int64_t slice : {0, 1}) {
      const std::int64_t width = slice == 0 ? 4 : 35;
      for (std::int64_t slot = 0; slot < width * slice_rows; ++slot) {
        const std::int64_t row = slice * slice_rows + slot % slice_rows;
        const std::int64_t k = slot / slice_rows - (width - uneven_rows::length(row));
        columns.push_back(static_cast<std::int32_t>(k < 0 ? -1 : row - uneven_rows::length(row) + k));
        sources.push_back(static_cast<std::int32_t>(k < 0 ? -1 : uneven_rows::first_source(row) + k));
        shifts.push_back(k < 0 ? no_entry : entry_shift{0});
      }
    }
    EXPECT_EQ(where.download(packed.columns), columns);
    EXPECT_EQ(where.download(packed.sources), are_runs ? std::vector<std::int32_t>{} : sources);
    EXPECT_EQ(where.download(packed.shifts), are_runs ? shifts : std::vector<entry_shift>{});
  }
}

}  // namespace
}  // namespace sptrsv::testing
