// The bit packing of the partitioned path: every field at its limits, and the offsets in a packed slice.
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {
namespace {

constexpr int staged_limit = 4095 * 16;  // bytes; 12 bits in units of 16 bytes

TEST(SliceHead, HoldsEveryCountAtItsLimits) {
  const std::uint32_t limits[] = {63, 63, 4095, 255};
  for (unsigned set = 0; set < 16; ++set) {
    const auto value = [&](unsigned k) { return (set >> k & 1u) != 0 ? limits[k] : 0; };
    const slice_head head{7, slice_head::pack_counts(value(0), value(1), value(2), value(3)), 0, 0};
    EXPECT_EQ(head.rows(), static_cast<int>(value(0)));
    EXPECT_EQ(head.shared_width(), static_cast<int>(value(1)));
    EXPECT_EQ(head.global_width(), static_cast<int>(value(2)));
    EXPECT_EQ(head.global_rows(), static_cast<int>(value(3)));
  }
  EXPECT_EQ(slice_head::max_global_width, 4095);
}

TEST(SliceHead, HoldsTheNextSliceBesideItsOwnSizes) {
  for (const std::uint32_t own : {0u, (1u << 20) - 1}) {
    slice_head head{0, 0, own, 0};
    EXPECT_EQ(head.next_bytes(), 0) << "there is no next slice";
    head.set_next(0xffffffffu, staged_limit);
    EXPECT_EQ(head.next, 0xffffffffu);
    EXPECT_EQ(head.next_bytes(), staged_limit);
    EXPECT_EQ(head.sizes & ((1u << 20) - 1), own);
  }
}

TEST(WarpStart, HoldsBothSlicesAtTheirLimits) {
  for (const int first : {0, 16, staged_limit}) {
    for (const int second : {0, 16, staged_limit}) {
      warp_start start{9, 0, 0, 0};
      EXPECT_EQ(start.first_bytes() + start.second_bytes(), 0) << "there are no slices";
      start.set_first(0xffffffffu, first);
      start.set_second(0xfffffffeu, second);
      EXPECT_EQ(start.tiles, 9);
      EXPECT_EQ(start.first_slice, 0xffffffffu);
      EXPECT_EQ(start.second_slice, 0xfffffffeu);
      EXPECT_EQ(start.first_bytes(), first);
      EXPECT_EQ(start.second_bytes(), second);
    }
  }
}

TEST(PackedRow, SaysWhetherItDivides) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();  // its reciprocal is infinite
  for (const std::int32_t index : {0, 1, std::numeric_limits<std::int32_t>::max() - 1}) {
    packed_row<double> row{1, index};
    EXPECT_FALSE(row.divides());
    EXPECT_EQ(row.index(), index);
    row.set_pivot(4);
    EXPECT_FALSE(row.divides());
    EXPECT_EQ(row.factor, 0.25);
    EXPECT_EQ(row.index(), index);
    for (const double pivot : {tiny, 0.0}) {
      row.set_pivot(pivot);
      EXPECT_TRUE(row.divides()) << pivot;
      EXPECT_EQ(row.factor, pivot);
      EXPECT_EQ(row.index(), index);
    }
    row.set_pivot(-2);
    EXPECT_FALSE(row.divides()) << "new values may have safe pivots";
    EXPECT_EQ(row.factor, -0.5);
    EXPECT_EQ(row.index(), index);
  }
  const packed_row<double> partial{1, -1};
  EXPECT_FALSE(partial.divides());
  EXPECT_EQ(partial.index(), -1);
}

/// Expects that pieces follow each other with gaps of less than 16 bytes.
class piece_list {
 public:
  /// `alignment`: of the first byte of the piece.
  void add(const std::string& name, int begin, int bytes, int alignment) {
    EXPECT_GE(begin, end_) << name << " overlaps what is before it";
    EXPECT_LT(begin, end_ + 16) << "a gap before " << name;
    EXPECT_EQ(begin % alignment, 0) << name << " is not aligned";
    end_ = begin + bytes;
  }
  [[nodiscard]] int end() const { return end_; }

 private:
  int end_ = 0;
};

template <class Scalar>
void expect_offsets_are_sound(const shape_values& shape) {
  const auto format = slice_format::of<Scalar>(shape);
  constexpr int size = sizeof(Scalar);
  constexpr int alignment = size > 16 ? 16 : size;
  for (int rows = 1; rows <= shape.slice_rows(); ++rows) {
    for (const int shared_width : {0, 1, shape.entries}) {
      for (const int global_width : {0, 1, 2 * shape.polled_pairs, 2 * shape.polled_pairs + 3}) {
        const int global_rows = global_width == 0 ? 0 : (rows + 1) / 2;
        SCOPED_TRACE(std::to_string(shape.lanes) + " lanes, " + std::to_string(rows) + " rows, widths " +
                     std::to_string(shared_width) + " and " + std::to_string(global_width));
        const auto count = [](int n) { return static_cast<std::uint32_t>(n); };
        const slice_head head{0,
                              slice_head::pack_counts(count(rows), count(shared_width), count(global_width),
                                                      count(global_rows)),
                              format.sizes(rows), 0};
        const slice_offsets offsets = format.offsets(head);
        piece_list pieces;
        pieces.add("head", 0, sizeof(slice_head), 16);
        pieces.add("factors", slice_offsets::factors, rows * size, alignment);
        pieces.add("row codes", offsets.row_codes, rows * 4, 4);
        for (int i = 0; i < shared_width; ++i) {
          EXPECT_GE(offsets.value_column_bytes, rows * shape.lanes * size);
          pieces.add("shared values", offsets.shared_values + i * offsets.value_column_bytes,
                     offsets.value_column_bytes, alignment);
        }
        for (int i = 0; i < shared_width; ++i) {
          EXPECT_GE(offsets.slot_column_bytes, rows * shape.lanes * 2);
          pieces.add("shared slots", offsets.shared_slots + i * offsets.slot_column_bytes,
                     offsets.slot_column_bytes, 2);
        }
        for (int i = 0; i < global_width; ++i) {
          const int column = offsets.global_columns + i * offsets.global_column_bytes;
          EXPECT_GE(offsets.global_values, global_rows * shape.lanes * 4);
          pieces.add("global solve indices", column, offsets.global_values, 4);
          EXPECT_GE(offsets.global_column_bytes - offsets.global_values, global_rows * shape.lanes * size);
          pieces.add("global values", column + offsets.global_values,
                     offsets.global_column_bytes - offsets.global_values, alignment);
        }
        EXPECT_EQ(offsets.global_columns % 16, 0) << "shared entries end at a multiple of 16 bytes";
        EXPECT_EQ(offsets.bytes(global_width) % 16, 0);
        EXPECT_GE(offsets.bytes(global_width), pieces.end());
        EXPECT_LT(offsets.bytes(global_width), pieces.end() + 16);
        const int staged_width = std::min(global_width, 2 * shape.polled_pairs);
        EXPECT_EQ(format.staged_bytes(offsets, global_width), offsets.bytes(staged_width));
      }
    }
  }
}

TEST(SliceOffsets, AreDisjointAlignedAndComplete) {
  for (const experimental::partitioned_shape& s : experimental::dataflow_tuning::partitioned_shapes) {
    const shape_values shape{s.lanes, s.threads, s.entries, s.polled_pairs, s.streams, s.rhs};
    expect_offsets_are_sound<float>(shape);
    expect_offsets_are_sound<double>(shape);
    expect_offsets_are_sound<std::complex<double>>(shape);
  }
  expect_offsets_are_sound<double>({32, 32, 2, 1, false, 1});
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
