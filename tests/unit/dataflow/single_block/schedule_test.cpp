// The schedule of a single_block solve: interpreted tile by tile, it solves the system.
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/solver.hpp"
#include "support/matrices.hpp"

namespace sptrsv::testing {
namespace {

namespace single_block = detail::dataflow::single_block;
using builder_type = single_block::schedule_builder<std::int32_t, std::int32_t>;
using single_block::schedule;
using single_block::shape_values;

struct system {
  detail::host_triangle<std::int32_t, std::int32_t> rows;
  detail::host_levels<std::int32_t> levels;
};

system system_of(const pattern& p) {
  const auto a = make_matrix<double>(p, {}).by_rows;
  auto triangle =
      detail::build_on_host(detail::pattern_of(a.view()), detail::triangle_form(system_options{}, false));
  system s;
  s.levels = detail::levels_on_host<std::int32_t>(triangle.row_offsets, triangle.columns);
  s.rows = std::move(triangle);
  return s;
}

/// Solves x_i = (1 + sum of x_j / 4 over the entries of row i) / (1 + number of entries): entries are -1/4.
/// Returns the largest component.
double serial(const system& s, std::vector<double>& x) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 1;
    for (auto e = static_cast<std::size_t>(s.rows.row_offsets[i]);
         e < static_cast<std::size_t>(s.rows.row_offsets[i + 1]); ++e) {
      x[i] += x[static_cast<std::size_t>(s.rows.columns[e])] / 4;
    }
    x[i] /= 1 + static_cast<double>(s.rows.row_offsets[i + 1] - s.rows.row_offsets[i]);
    largest = std::max(largest, std::abs(x[i]));
  }
  return largest;
}

/// Runs the schedule as the kernel does. The slots of the x ring buffer that a tile writes cannot be read by
/// the rows of this tile. A row can be reloaded from x `reload_distance` tiles after it was written.
std::vector<double> interpret(const system& s, const schedule& p, bool reversed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto rows = static_cast<std::size_t>(p.shape.rows);
  const auto capacity = static_cast<std::size_t>(p.shape.row_capacity());
  const auto size = s.rows.row_offsets.size() - 1;
  std::vector<double> outer(p.operands.size(), 0.0);
  std::vector<double> in_tile(p.rows.size() * rows, 0.0);
  std::vector<double> divisor(p.rows.size(), 1.0);
  const auto put = [&](std::uint32_t to, double value) {
    double& slot =
        (to & single_block::in_tile_bit) != 0 ? in_tile.at(to & ~single_block::in_tile_bit) : outer.at(to);
    EXPECT_EQ(slot, 0.0) << "two entries in one slot";
    slot = value;
  };
  for (const std::uint32_t slot : p.entry_slots) {
    put(slot, -0.25);
  }
  for (const std::uint32_t slot : p.link_slots) {
    put(slot, -1.0);
  }
  for (std::size_t row = 0; row < size; ++row) {
    divisor.at(p.row_slots[row]) = 1 + static_cast<double>(s.rows.length(static_cast<std::int32_t>(row)));
  }

  std::vector<double> x_ring(static_cast<std::size_t>(p.x_ring_size) + 1, nan);
  std::vector<double> x(size, nan);
  std::vector<std::int64_t> written(size, -1);
  x_ring[0] = 0;
  for (std::int64_t tile = 0; tile < p.tiles; ++tile) {
    std::vector<double> solved(rows);
    const auto first = static_cast<std::size_t>(tile) * rows;
    for (std::size_t r = 0; r < rows; ++r) {
      x_ring.at(1 + (first + r) % static_cast<std::size_t>(p.x_ring_size)) = nan;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const auto& row = p.rows.at(first + r);
      double rhs = row.source >= 0 ? 1.0 : 0.0;
      if (row.source < single_block::no_row) {
        const auto from = static_cast<std::size_t>(single_block::reload_source(row.source));
        EXPECT_GE(written.at(from), 0);
        EXPECT_LE(written.at(from) + p.shape.reload_distance(), tile)
            << "reloaded before it is sure to be written";
        rhs = x.at(from);
      }
      single_block::entry_slots slots(p.shape, static_cast<std::uint32_t>(first + r));
      for (std::size_t i = 0; i < capacity; ++i) {
        const std::size_t slot = slots.take();
        if (outer[slot] != 0) {
          rhs -= outer[slot] * x_ring.at(p.operands[slot]);
        } else {
          EXPECT_EQ(p.operands[slot], 0) << "an empty slot reads what may not be finite";
        }
      }
      for (std::size_t q = 0; q < rows; ++q) {
        if (in_tile[(first + r) * rows + q] != 0) {
          EXPECT_LT(q, r);
          EXPECT_LE(r - q, static_cast<std::size_t>(p.shape.reach));
          rhs -= in_tile[(first + r) * rows + q] * solved[q];
        }
      }
      solved[r] = rhs / divisor[first + r];
      if (row.target != single_block::no_row) {
        EXPECT_EQ(written.at(static_cast<std::size_t>(row.target)), -1) << "written twice";
        x.at(static_cast<std::size_t>(row.target)) = solved[r];
        written.at(static_cast<std::size_t>(row.target)) = tile;
      }
    }
    for (std::size_t r = 0; r < rows; ++r) {
      x_ring[1 + (first + r) % static_cast<std::size_t>(p.x_ring_size)] = solved[r];
    }
  }
  if (reversed) {
    std::reverse(x.begin(), x.end());
  }
  return x;
}

/// Returns whether there is a schedule; there is none if the x ring buffer is too short.
bool expect_sound(const pattern& p, const shape_values& shape, std::int64_t x_ring_tiles, bool reversed) {
  SCOPED_TRACE(p.name + ": " + std::to_string(shape.rows) + " rows, " + std::to_string(shape.lanes) +
               " lanes, " + std::to_string(shape.entries) + " entries" + ", reach " +
               std::to_string(shape.reach) + ", x ring buffer of " + std::to_string(x_ring_tiles) + " tiles");
  const system s = system_of(p);
  builder_type builder(s.rows, shape, x_ring_tiles, reversed);
  const std::optional<schedule> made = builder.build(s.levels.rows);
  if (!made) {
    return false;
  }
  EXPECT_EQ(made->tiles % shape.stage_tiles, 0);
  std::vector<double> expected(s.rows.row_offsets.size() - 1);
  const double largest = serial(s, expected);
  const std::vector<double> x = interpret(s, *made, reversed);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - expected[i]) <= 1e-12 * largest)) {
      ADD_FAILURE() << "row " << i << ": " << x[i] << ", not " << expected[i];
      break;
    }
  }
  return true;
}

constexpr shape_values coupled_shape(int rows, int lanes, int entries) {
  return {rows, lanes, entries, rows - 1, 2, 3, rows * rows};
}
constexpr shape_values banded_shape(int rows, int lanes, int entries, int reach) {
  return {rows, lanes, entries, reach, 2, 3, rows * reach};
}
const std::vector<shape_values> shapes = {
    coupled_shape(4, 1, 2),  coupled_shape(4, 8, 4),   coupled_shape(8, 2, 2),
    coupled_shape(32, 1, 2), banded_shape(8, 2, 2, 1), banded_shape(32, 1, 2, 3),
};

TEST(SingleBlockSchedule, SolvesWithALongXRingBuffer) {
  for (const pattern& p : patterns::small()) {
    for (const shape_values& shape : shapes) {
      EXPECT_TRUE(expect_sound(p, shape, 65534 / shape.rows, false));
    }
  }
}

TEST(SingleBlockSchedule, ReloadsWhatHasLeftTheXRingBuffer) {
  int possible = 0;
  int all = 0;
  for (const pattern& p : patterns::deep()) {
    for (const shape_values& shape : shapes) {
      for (const int tiles : {2 * shape.reload_distance(), 5 * shape.reload_distance()}) {
        ++all;
        possible += expect_sound(p, shape, tiles, true) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(2 * possible, all) << "most are possible";
}

TEST(SingleBlockSchedule, SplitsLongRowsIntoPartialRows) {
  const system s = system_of(patterns::arrow_row(300));
  const shape_values shape = banded_shape(8, 1, 4, 1);
  builder_type builder(s.rows, shape, 1000, false);
  const auto made = builder.build(s.levels.rows);
  ASSERT_TRUE(made);
  // A partial row replaces four terms by one: 99 partial rows leave 2 of 299 terms.
  EXPECT_EQ(made->link_slots.size(), 99u);
}

TEST(SingleBlockSchedule, FillsItsTilesWhereRowsAreCoupled) {
  const system s = system_of(patterns::chain(50));
  builder_type five(s.rows, coupled_shape(10, 1, 2), 1000, false);
  EXPECT_EQ(five.build(s.levels.rows)->tiles, 6);  // a multiple of stage_tiles
}

TEST(SingleBlockSchedule, EndsATileWhereARowIsOutOfReach) {
  const system chain = system_of(patterns::chain(12));
  const shape_values narrow = banded_shape(8, 1, 4, 1);
  builder_type free(chain.rows, narrow, 100, false);
  EXPECT_EQ(free.build(chain.levels.rows)->tiles, 2) << "a chain never is";
  const system band = system_of(patterns::band(12, 2));
  builder_type broken(band.rows, narrow, 100, false);
  EXPECT_EQ(broken.build(band.levels.rows)->tiles, 6) << "each row needs the two before it";
}

}  // namespace
}  // namespace sptrsv::testing
