// The program of a walk: interpreted step by step, every row sees what it needs.
#include "sptrsv/detail/dataflow/single_block/schedule.hpp"

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

using detail::dataflow::schedule;
using detail::dataflow::shape_values;

struct system {
  detail::dataflow::host_rows<std::int32_t, std::int32_t> rows;
  detail::host_levels<std::int32_t> levels;
};

system system_of(const pattern& p) {
  const auto a = make_matrix<double>(p, {}).by_rows;
  auto triangle =
      detail::build_on_host(detail::pattern_of(a.view()), detail::triangle_form(system_options{}, false));
  system s;
  s.levels = detail::levels_on_host<std::int32_t>(triangle.row_offsets, triangle.columns);
  s.rows = {std::move(triangle.row_offsets), std::move(triangle.columns)};
  return s;
}

/// x_i = 1 + sum over the entries of x_j / 4: the entries' factors are -1/4.
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

/// Runs the program as the kernel does. A component that is written in a step is gone for the rows of that
/// step, and x is what was written `reload_distance` steps ago.
std::vector<double> interpret(const system& s, const schedule& p, bool reversed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto rows = static_cast<std::size_t>(p.shape.rows);
  const auto capacity = static_cast<std::size_t>(p.shape.row_capacity());
  const auto size = s.rows.row_offsets.size() - 1;
  std::vector<double> outer(p.operands.size(), 0.0);
  std::vector<double> inner(p.rows.size() * rows, 0.0);
  std::vector<double> divisor(p.rows.size(), 1.0);
  const auto put = [&](std::uint32_t place, double value) {
    double& slot = (place & detail::dataflow::in_tile_bit) != 0
                       ? inner.at(place & ~detail::dataflow::in_tile_bit)
                       : outer.at(place);
    EXPECT_EQ(slot, 0.0) << "two entries in one place";
    slot = value;
  };
  for (const std::uint32_t place : p.entry_places) {
    put(place, -0.25);
  }
  for (const std::uint32_t place : p.link_places) {
    put(place, -1.0);
  }
  for (std::size_t row = 0; row < size; ++row) {
    divisor.at(p.row_places[row]) = 1 + static_cast<double>(s.rows.length(static_cast<std::int64_t>(row)));
  }

  std::vector<double> window(static_cast<std::size_t>(p.window) + 1, nan);
  std::vector<double> x(size, nan);
  std::vector<std::int64_t> written(size, -1);
  window[0] = 0;
  for (std::int64_t step = 0; step < p.steps; ++step) {
    std::vector<double> solved(rows);
    const auto first = static_cast<std::size_t>(step) * rows;
    for (std::size_t r = 0; r < rows; ++r) {
      window.at(1 + (first + r) % static_cast<std::size_t>(p.window)) = nan;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const auto& row = p.rows.at(first + r);
      double side = row.source >= 0 ? 1.0 : 0.0;
      if (row.source < detail::dataflow::no_row) {
        const auto from = static_cast<std::size_t>(detail::dataflow::reload_source(row.source));
        EXPECT_GE(written.at(from), 0);
        EXPECT_LE(written.at(from) + p.shape.reload_distance(), step)
            << "reload_source before it is sure to be written";
        side = x.at(from);
      }
      for (std::size_t i = 0; i < capacity; ++i) {
        const std::size_t slot =
            p.shape.slot(static_cast<std::uint32_t>(first + r), static_cast<std::uint32_t>(i));
        if (outer[slot] != 0) {
          side -= outer[slot] * window.at(p.operands[slot]);
        } else {
          EXPECT_EQ(p.operands[slot], 0) << "an empty slot reads what may not be finite";
        }
      }
      for (std::size_t q = 0; q < rows; ++q) {
        if (inner[(first + r) * rows + q] != 0) {
          EXPECT_LT(q, r);
          EXPECT_LE(r - q, static_cast<std::size_t>(p.shape.reach));
          side -= inner[(first + r) * rows + q] * solved[q];
        }
      }
      solved[r] = side / divisor[first + r];
      if (row.target != detail::dataflow::no_row) {
        EXPECT_EQ(written.at(static_cast<std::size_t>(row.target)), -1) << "written twice";
        x.at(static_cast<std::size_t>(row.target)) = solved[r];
        written.at(static_cast<std::size_t>(row.target)) = step;
      }
    }
    for (std::size_t r = 0; r < rows; ++r) {
      window[1 + (first + r) % static_cast<std::size_t>(p.window)] = solved[r];
    }
  }
  if (reversed) {
    std::reverse(x.begin(), x.end());
  }
  return x;
}

/// None: the window is too short.
bool expect_sound(const pattern& p, const shape_values& shape, std::int64_t x_ring_tiles, bool reversed) {
  SCOPED_TRACE(p.name + ": " + std::to_string(shape.rows) + " rows, " + std::to_string(shape.lanes) +
               " lanes, " + std::to_string(shape.entries) + " entries" + ", reach " +
               std::to_string(shape.reach) + ", window of " + std::to_string(x_ring_tiles) + " steps");
  const system s = system_of(p);
  detail::dataflow::schedule_builder<std::int32_t, std::int32_t> builder(s.rows, shape, x_ring_tiles,
                                                                         reversed);
  const std::optional<schedule> program = builder.build(s.levels.rows);
  if (!program) {
    return false;
  }
  EXPECT_EQ(program->steps % shape.chunk_tiles, 0);
  std::vector<double> expected(s.rows.row_offsets.size() - 1);
  const double largest = serial(s, expected);
  const std::vector<double> x = interpret(s, *program, reversed);
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

TEST(WalkProgram, IsSoundWithALongWindow) {
  for (const pattern& p : patterns::small()) {
    for (const shape_values& shape : shapes) {
      EXPECT_TRUE(expect_sound(p, shape, 65534 / shape.rows, false));
    }
  }
}

TEST(WalkProgram, FetchesBackWhatHasLeftTheWindow) {
  int possible = 0;
  int all = 0;
  for (const pattern& p : patterns::deep()) {
    for (const shape_values& shape : shapes) {
      for (const int steps : {2 * shape.reload_distance(), 5 * shape.reload_distance()}) {
        ++all;
        possible += expect_sound(p, shape, steps, true) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(2 * possible, all) << "most are possible";
}

TEST(WalkProgram, HandsLongRowsToPartialRows) {
  const system s = system_of(patterns::arrow_row(300));
  const shape_values shape = banded_shape(8, 1, 4, 1);
  detail::dataflow::schedule_builder<std::int32_t, std::int32_t> builder(s.rows, shape, 1000, false);
  const auto program = builder.build(s.levels.rows);
  ASSERT_TRUE(program);
  // A row that adds up four numbers removes three: 299 become 4.
  EXPECT_EQ(program->link_places.size(), 99u);
}

TEST(WalkProgram, FillsItsStepsWhereRowsAreCoupled) {
  const system s = system_of(patterns::chain(50));
  detail::dataflow::schedule_builder<std::int32_t, std::int32_t> five(s.rows, coupled_shape(10, 1, 2), 1000,
                                                                      false);
  EXPECT_EQ(five.build(s.levels.rows)->steps, 6);  // a multiple of the chunk
}

TEST(WalkProgram, EndsAStepWhereARowIsOutOfReach) {
  const system chain = system_of(patterns::chain(12));
  const detail::dataflow::shape_values narrow = banded_shape(8, 1, 4, 1);
  detail::dataflow::schedule_builder<std::int32_t, std::int32_t> free(chain.rows, narrow, 100, false);
  EXPECT_EQ(free.build(chain.levels.rows)->steps, 2) << "a chain never is";
  const system band = system_of(patterns::band(12, 2));
  detail::dataflow::schedule_builder<std::int32_t, std::int32_t> broken(band.rows, narrow, 100, false);
  EXPECT_EQ(broken.build(band.levels.rows)->steps, 6) << "each row needs the two before it";
}

}  // namespace
}  // namespace sptrsv::testing
