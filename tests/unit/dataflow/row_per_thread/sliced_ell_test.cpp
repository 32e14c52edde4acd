// Slices whose slots are more than the offset type can count, with narrow offsets in place of large
// triangles.
#include "sptrsv/detail/dataflow/row_per_thread/sliced_ell.hpp"

#include <gtest/gtest.h>

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

TEST(SlicedEll, CountsAsManySlotsAsTheOffsetsCan) {
  emulator_target where;
  const auto pack = [&](std::int64_t slices) {
    return detail::dataflow::row_per_thread::pack_slices(
        one_row_for_each_slice<std::int16_t>(slices, 32, where),
        detail::dataflow::row_per_thread::packing_order<std::int32_t>{}, false, where.on(), where.resource());
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

}  // namespace
}  // namespace sptrsv::testing
