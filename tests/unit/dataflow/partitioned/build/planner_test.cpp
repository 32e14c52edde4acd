// Plans of partitioned solves: an interpreter that reads nothing but a plan solves the system.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "unit/dataflow/partitioned/build/built_plan.hpp"

namespace sptrsv::testing {
namespace {

using detail::dataflow::partitioned::block_partition;
using detail::dataflow::partitioned::packed_row;
using detail::dataflow::partitioned::shape_values;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Solves partition by partition, tile by tile. Each component of x, of the x ring buffer, and of the array
/// that the partitions share is NaN until a tile has written it.
class interpreter {
 public:
  interpreter(const built_plan& plan, const std::vector<double>& b)
      : plan_(plan), b_(b), x_(b.size(), nan), solved_(static_cast<std::size_t>(plan.solve_size), nan) {}

  std::vector<double> run() {
    for (std::int64_t partition = 0; partition < plan_.settings.partitions; ++partition) {
      solve_partition(static_cast<std::size_t>(partition));
    }
    EXPECT_EQ(next_slice_, plan_.slices()) << "slices that no warp reads";
    return x_;
  }

 private:
  /// A packed slice as a warp knows it before it has copied it.
  struct slice_reference {
    std::uint32_t offset;
    int staged_bytes;
  };
  struct component {
    std::int64_t solve_index;
    double x;
  };

  void solve_partition(std::size_t partition) {
    const auto warps = static_cast<std::size_t>(plan_.warps());
    x_ring_.assign(static_cast<std::size_t>(plan_.settings.x_ring_size) + 1, nan);
    x_ring_.back() = 0;
    std::vector<slice_reference> current(warps);
    std::vector<slice_reference> next(warps);
    std::int32_t tiles = 0;
    for (std::size_t w = 0; w < warps; ++w) {
      const built_plan::warp_start& start = plan_.starts.at(partition * warps + w);
      EXPECT_TRUE(w == 0 || start.tiles == tiles) << "warps of a block disagree";
      tiles = start.tiles;
      current[w] = {start.first_slice, start.first_bytes()};
      next[w] = {start.second_slice, start.second_bytes()};
    }
    std::int64_t solve_index = plan_.partition_begins.at(partition);
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
      const auto group = static_cast<std::size_t>(tile % plan_.settings.warp_groups);
      overwrite_x_ring(solve_index);
      std::vector<component> found;
      for (int s = 0; s < plan_.tile_slices(); ++s) {
        const std::size_t w =
            group * static_cast<std::size_t>(plan_.tile_slices()) + static_cast<std::size_t>(s);
        expect_next(current[w]);
        solve_slice(current[w].offset, found);
        const auto head = plan_.head(current[w].offset);
        current[w] = next[w];
        next[w] = {head.next, head.next_bytes()};
      }
      for (const component& c : found) {  // after all warps of the group have read what they need
        EXPECT_EQ(c.solve_index, solve_index++) << "not the next row";
        x_ring_[slot_of(c.solve_index)] = c.x;
        solved_.at(static_cast<std::size_t>(c.solve_index)) = c.x;
      }
    }
    EXPECT_EQ(solve_index, plan_.partition_begins.at(partition + 1));
    for (const slice_reference& left : current) {
      EXPECT_EQ(left.staged_bytes, 0) << "a slice past the last tile";
    }
  }

  /// Expects the slice that follows the slices read so far in memory.
  void expect_next(const slice_reference& slice) {
    ASSERT_LT(next_slice_, plan_.slices());
    ASSERT_EQ(slice.offset, plan_.slice_begins[next_slice_]);
    const auto head = plan_.head(slice.offset);
    const int bytes = plan_.format.offsets(head).bytes(head.global_width());
    const std::size_t end = ++next_slice_ < plan_.slices() ? std::size_t{plan_.slice_begins[next_slice_]} * 16
                                                           : plan_.packed_slices.size();
    EXPECT_EQ(std::size_t{slice.offset} * 16 + static_cast<std::size_t>(bytes), end);
    EXPECT_EQ(slice.staged_bytes, plan_.staged_bytes(slice.offset));
  }

  [[nodiscard]] std::size_t slot_of(std::int64_t solve_index) const {
    return static_cast<std::size_t>(solve_index % plan_.settings.x_ring_size);
  }
  /// Other warps of the group may write the slots of the tile before a warp reads.
  void overwrite_x_ring(std::int64_t first) {
    for (int r = 0; r < plan_.settings.shape.tile_rows(); ++r) {
      x_ring_[slot_of(first + r)] = nan;
    }
  }

  void solve_slice(std::uint32_t slice, std::vector<component>& found) {
    const auto head = plan_.head(slice);
    const auto offsets = plan_.format.offsets(head);
    const int lanes = plan_.settings.shape.lanes;
    EXPECT_LE(head.shared_width(), plan_.settings.shape.entries);
    for (int row = 0; row < head.rows(); ++row) {
      const packed_row<double> packed{plan_.read<double>(slice, built_plan::slice_offsets::factors, row),
                                      plan_.read<std::int32_t>(slice, offsets.row_codes, row)};
      const bool is_partial = packed.index() < 0;
      double rest = is_partial ? 0 : b_.at(static_cast<std::size_t>(packed.index()));
      for (int lane = row * lanes; lane < (row + 1) * lanes; ++lane) {
        for (int i = 0; i < head.shared_width(); ++i) {
          const auto slot =
              plan_.read<std::uint16_t>(slice, offsets.shared_slots + i * offsets.slot_column_bytes, lane);
          rest -= plan_.read<double>(slice, offsets.shared_values + i * offsets.value_column_bytes, lane) *
                  x_ring_.at(slot);
        }
        for (int i = 0; row < head.global_rows() && i < head.global_width(); ++i) {
          const int column = offsets.global_columns + i * offsets.global_column_bytes;
          const auto needed = plan_.read<std::int32_t>(slice, column, lane);
          if (needed >= 0) {
            rest -= plan_.read<double>(slice, column + offsets.global_values, lane) *
                    solved_.at(static_cast<std::size_t>(needed));
          }
        }
      }
      const double x = packed.divides() ? rest / packed.factor : rest * packed.factor;
      found.push_back({head.first_solve_index + row, x});
      if (!is_partial) {
        EXPECT_TRUE(std::isnan(x_.at(static_cast<std::size_t>(packed.index())))) << "solved twice";
        x_[static_cast<std::size_t>(packed.index())] = x;
      }
    }
  }

  const built_plan& plan_;
  const std::vector<double>& b_;
  std::vector<double> x_;
  std::vector<double> solved_;  ///< by solve index: what other partitions can read
  std::vector<double> x_ring_;  ///< of the partition, and the zero behind it
  std::size_t next_slice_ = 0;
};

class PartitionedPlan : public partitioned_planning {
 public:
  void check(const pattern& p, const form& f, const plan_settings& s) {
    SCOPED_TRACE(p.name + ", " + f.name() + ", " + s.name());
    const matrix a = make(p, f);
    const auto plan = build(a, f, s);
    ASSERT_TRUE(plan);
    expect_map(*plan, p, f);
    const auto b = random_vector<double>(p.size, 7);
    expect_solved(a, f, p.name, b, interpreter(*plan, b).run());
  }

  /// Expects runs if the columns of every stored row ascend, and targets otherwise.
  static void expect_map(const built_plan& plan, const pattern& p, const form& f) {
    EXPECT_EQ(plan.are_runs, f.holds != content::general || p.entries.empty()) << p.name << ", " << f.name();
  }

  static std::vector<form> forms() {
    return {{uplo::lower, diag::non_unit, op::none, false, content::triangle, true},
            {uplo::upper, diag::unit, op::none, false, content::ascending, true},
            {uplo::lower, diag::unit, op::none, false, content::general, false},
            {uplo::upper, diag::non_unit, op::none, false, content::general, true}};
  }
};

// lanes, threads, entries, polled_pairs, streams, max_rhs
constexpr shape_values one_lane{1, 32, 4, 1, false, 1};
constexpr shape_values two_slices{2, 64, 2, 2, false, 1};
constexpr shape_values many_lanes{16, 96, 2, 1, false, 1};

TEST_F(PartitionedPlan, SolvesTheSystem) {
  for (const pattern& p : patterns::small()) {
    for (const form& f : forms()) {
      check(p, f, {one_lane, 3, 3, 64});
      check(p, f, {two_slices, 2, 5, 64});
      check(p, f, {many_lanes, 2, 1, 32});
    }
  }
}

/// Components leave the x ring buffer before rows of the same partition need them.
TEST_F(PartitionedPlan, SolvesDeepSystemsWithAShortXRingBuffer) {
  for (const pattern& p : patterns::deep()) {
    for (const form& f : forms()) {
      check(p, f, {one_lane, 4, 1, 32});
      check(p, f, {one_lane, 2, 7, 64});
      check(p, f, {two_slices, 3, 2, 32});
    }
  }
}

TEST_F(PartitionedPlan, SolvesWithSplitRows) {
  for (const pattern& p : {patterns::dense(33), patterns::arrow_row(129), patterns::power_law(257, 5)}) {
    for (const form& f : forms()) {
      check(p, f, {one_lane, 3, 3, 64, 5});
      check(p, f, {two_slices, 2, 2, 64, 4});
    }
  }
}

TEST_F(PartitionedPlan, SolvesWithBoxes) {
  const block_partition boxes{{5, 6, 9}, {2, 1, 4}};
  for (const form& f : forms()) {
    check(patterns::stencil_3d(5, 6, 9), f, {one_lane, 3, boxes.partitions(), 64, 32, boxes});
  }
}

/// A chain of `size` rows in which some also need `length` rows between the first and their own.
pattern long_rows_in_a_chain(std::int64_t size, const std::vector<std::int64_t>& long_rows,
                             std::int64_t length) {
  pattern made{"long_rows_in_a_chain", size, {}};
  for (std::int64_t row = 1; row < size; ++row) {
    if (std::find(long_rows.begin(), long_rows.end(), row) != long_rows.end()) {
      for (std::int64_t k = 0; k < length; ++k) {
        made.entries.push_back({row, k * (row - 1) / length});
      }
    }
    made.entries.push_back({row, row - 1});
  }
  return made;
}

/// A long row is measured and packed by all lanes of a warp. The plan does not depend on the schedule.
TEST_F(PartitionedPlan, PacksLongRowsAmongShortOnesUnderHostileSchedules) {
  for (const pattern& p : {long_rows_in_a_chain(110, {64, 65, 109}, 62), long_rows_in_a_chain(70, {69}, 5)}) {
    for (const form& f : forms()) {
      const matrix a = make(p, f);
      for (const plan_settings& s :
           {plan_settings{one_lane, 3, 2, 64, 64}, {two_slices, 2, 1, 64, 64}, {many_lanes, 2, 1, 32, 64}}) {
        where.device().settings = {};
        check(p, f, s);
        const auto quiet = build(a, f, s);
        ASSERT_TRUE(quiet);
        for (std::uint64_t seed = 1; seed < 3; ++seed) {
          where.device().settings = hostile_settings(seed, seed);
          const auto hostile = build(a, f, s);
          ASSERT_TRUE(hostile);
          EXPECT_EQ(hostile->packed_slices, quiet->packed_slices) << p.name << ", " << f.name() << s.name();
        }
      }
    }
  }
}

TEST(LanesOfRow, AreAsManyAsKeepTheGpuBusy) {
  using detail::dataflow::partitioned::lanes_of_row;
  EXPECT_EQ(lanes_of_row(500, 1000, 64), 32);
  EXPECT_EQ(lanes_of_row(500, 1000, 3), 2);
  EXPECT_EQ(lanes_of_row(1, 0, 0), 1);
  EXPECT_EQ(lanes_of_row(16384, 40000, 64), 16);
  EXPECT_EQ(lanes_of_row(2000000, 54000000, 27), 8);
  EXPECT_EQ(lanes_of_row(2000000, 6000000, 5000), 1);
}

/// Denormal pivots have no finite reciprocal.
TEST_F(PartitionedPlan, DividesByPivotsWithoutASafeReciprocal) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  const pattern p = patterns::chain(40);
  for (const form& f : forms()) {
    if (f.diagonal == diag::unit) {
      continue;
    }
    matrix a = make(p, f);
    a.set(7, 7, tiny);
    a.set(7, f.part == uplo::lower ? 6 : 8, 0);
    const auto plan = build(a, f, {one_lane, 3, 2, 64});
    ASSERT_TRUE(plan);
    expect_map(*plan, p, f);
    std::vector<double> b(40, 1);
    b[7] = 2 * tiny;
    EXPECT_EQ(interpreter(*plan, b).run().at(7), 2) << f.name();
  }
}

TEST_F(PartitionedPlan, IsNotBuiltIfItsPackedSlicesAreTooLarge) {
  const matrix a = make(patterns::stencil_2d(11, 12), {});
  const plan_settings settings{one_lane, 3, 3, 64};
  const auto plan = build(a, {}, settings);
  ASSERT_TRUE(plan);
  const auto bytes = static_cast<std::int64_t>(plan->packed_slices.size());
  EXPECT_TRUE(build(a, {}, settings, bytes));
  EXPECT_FALSE(build(a, {}, settings, bytes - 1));
}

}  // namespace
}  // namespace sptrsv::testing
