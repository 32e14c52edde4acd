// Natural blocks: how they are found, and the kernel under hostile schedules.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "emulator/executor.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/dataflow/scheduled_paths.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/solver.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"
#include "support/matrices.hpp"

namespace sptrsv::testing {
namespace {

namespace blocks = detail::dataflow::natural_blocks;
using triangle = detail::device_triangle<std::int32_t, std::int32_t>;
using block_rows = blocks::block_rows<std::int32_t, std::int32_t>;

/// A graph of nodes with some rows each: the rows of a node need all rows of its neighbours.
pattern nodes(std::int64_t count, std::int64_t rows, std::int64_t reach, std::uint64_t seed) {
  random_source random(seed);
  std::vector<char> coupled(static_cast<std::size_t>(count * count));
  for (char& c : coupled) {
    c = random.below(3) == 0 ? 1 : 0;
  }
  return patterns::where("nodes", count * rows, [&](std::int64_t i, std::int64_t j) {
    const std::int64_t a = i / rows;
    const std::int64_t b = j / rows;
    return a == b || (a - b <= reach && coupled[static_cast<std::size_t>(a * count + b)] != 0);
  });
}

triangle triangle_of(const csr_matrix<double>& a, const detail::triangle_form& f,
                     const emulator::executor& on) {
  const auto rows = detail::build_on_host(detail::pattern_of(a.view()), f);
  const auto upload = [&](const auto& v) {
    return detail::upload_array(v.data(), std::int64_t(v.size()), on, on.default_resource());
  };
  triangle made;
  made.size = rows.size();
  made.row_offsets = upload(rows.row_offsets);
  made.columns = upload(rows.columns);
  made.sources = upload(rows.sources);
  made.diagonal_sources = upload(rows.diagonal_sources);
  return made;
}

block_rows block_rows_of(const triangle& t, const emulator::executor& on, double least_rows = 0) {
  return blocks::find_block_rows(t, least_rows, on, on.default_resource());
}
template <class Tuning>
auto plan_blocks(const triangle& t, const emulator::executor& on, std::size_t shared_limit,
                 double limit = std::numeric_limits<double>::infinity()) {
  return blocks::plan_blocks<Tuning, double>(block_rows_of(t, on), 0, -1, true, limit, shared_limit);
}

template <int Rows, int Lanes, int Tiles, int Warps, int Groups>
struct one_shape : experimental::dataflow_tuning {
  static constexpr experimental::natural_block_shape natural_block_shapes[] = {
      {Rows, Lanes, Tiles, Warps, Groups, 1}};
};

template <class Tuning>
void expect_solved(const pattern& p, const form& f, std::uint64_t schedules,
                   std::size_t shared_limit = std::size_t{1} << 16) {
  SCOPED_TRACE(p.name + ", " + f.name());
  const auto a = make_matrix<double>(p, f).by_rows;
  const detail::triangle_form of(f.options(), false);
  emulator::device device;
  const emulator::executor on(&device);
  memory_resource& resource = on.default_resource();
  const triangle rows = triangle_of(a, of, on);
  const auto upload = [&](const auto& v) {
    return detail::upload_array(v.data(), std::int64_t(v.size()), on, resource);
  };
  const auto placed = plan_blocks<Tuning>(rows, on, shared_limit);
  ASSERT_EQ(placed.shape_index, 0);
  blocks::path<Tuning, double, std::int32_t, emulator::executor> path(
      blocks::schedule_builder<std::int32_t, std::int32_t>(placed.rows, placed.placed).build(), 0, 2, rows,
      of, on, resource);
  const auto scratch = path.make_workspace(on, resource);
  const auto values = upload(a.values);
  path.update_values(values.data(), on);
  std::vector<double> b(static_cast<std::size_t>(2 * p.size));
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = 1 + std::sin(static_cast<double>(i));
  }
  const auto on_device = upload(b);
  std::vector<double> first;
  for (std::uint64_t k = 0; k < schedules; ++k) {
    if (k > 0) {
      device.settings = hostile_settings(k, 0);
    }
    const auto x = detail::make_buffer<double>(2 * p.size, on, resource);
    path.solve(2.0, {on_device.data(), p.size, 2, 1, p.size}, {x.data(), p.size, 2, 1, p.size}, scratch, on);
    const auto found = detail::download_array(x, on);
    EXPECT_EQ(path.first_nonfinite_index(scratch, on), -1);
    if (k == 0) {
      first = found;
      for (std::size_t c = 0; c < 2; ++c) {
        const auto begin = static_cast<std::ptrdiff_t>(c) * p.size;
        std::vector<double> rhs(b.begin() + begin, b.begin() + begin + p.size);
        for (double& v : rhs) {
          v *= 2;
        }
        const std::vector<double> x_of(found.begin() + begin, found.begin() + begin + p.size);
        EXPECT_TRUE(backward_error(a, f.options(), rhs, x_of).ok());
      }
    }
    EXPECT_EQ(found, first) << "schedule " << k;
  }
}

using six = one_shape<6, 4, 1, 1, 4>;
using three = one_shape<3, 4, 2, 2, 3>;

TEST(NaturalBlocks, RowsWithTheSameColumnsAreABlock) {
  using rows = std::vector<std::int32_t>;
  const emulator::executor on;
  const detail::triangle_form of(system_options{}, false);
  const auto found =
      block_rows_of(triangle_of(make_matrix<double>(nodes(5, 3, 4, 1), {}).by_rows, of, on), on);
  EXPECT_EQ(found.first_rows, (rows{0, 3, 6, 9, 12, 15}));
  const auto first_rows = [&](int rows_of_block) {
    return blocks::placement<std::int32_t>(found, {rows_of_block, 4, 2, 1, 2}, 100, 100).first_rows;
  };
  EXPECT_EQ(first_rows(6), found.first_rows);
  EXPECT_EQ(first_rows(2), (rows{0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15}));
  const auto chain = triangle_of(make_matrix<double>(patterns::stencil_2d(3, 2), {}).by_rows, of, on);
  EXPECT_EQ(block_rows_of(chain, on).first_rows, (rows{0, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(block_rows_of(chain, on, 2.0).first_rows.empty());
}

/// The last rows have more columns than a warp has lanes. Row 102 lacks one of their last columns, and row
/// 103 lacks the first one, so neither belongs to the run before it.
TEST(NaturalBlocks, AllColumnsOfLongRowsAreCompared) {
  const emulator::executor on;
  const auto p = patterns::where("long rows", 104, [](std::int64_t i, std::int64_t j) {
    return i == j || (i >= 100 && j < i && !(i == 102 && j == 99) && !(i == 103 && j == 0));
  });
  const auto t =
      triangle_of(make_matrix<double>(p, {}).by_rows, detail::triangle_form(system_options{}, false), on);
  const auto found = block_rows_of(t, on);
  ASSERT_EQ(found.runs(), 103);
  EXPECT_EQ(found.first_rows[100], 100);
  EXPECT_EQ(found.first_rows[101], 102);
  EXPECT_EQ(found.first_rows[102], 103);
  EXPECT_EQ(found.offsets[101] - found.offsets[100], 100);
}

TEST(NaturalBlocks, AreSolvedUnderHostileSchedules) {
  for (form f : covering_forms()) {
    f.by_columns = false;
    expect_solved<six>(nodes(20, 6, 9, 2), f, trials(8));
    expect_solved<three>(nodes(25, 3, 20, 3), f, trials(8));
  }
}

/// A step of the tuning takes a nanosecond.
TEST(NaturalBlocks, ASolveMustBeFasterThanItsLimit) {
  const emulator::executor on;
  const auto rows =
      triangle_of(make_matrix<double>(nodes(25, 3, 20, 3), {}).by_rows, {system_options{}, false}, on);
  const double time = plan_blocks<three>(rows, on, std::size_t{1} << 16).nanoseconds;
  for (const double limit : {0.0, time - 3, time, time + 1}) {
    EXPECT_EQ(plan_blocks<three>(rows, on, std::size_t{1} << 16, limit).shape_index, limit > time ? 0 : -1);
  }
}

/// The x ring buffer is as short as it may be.
TEST(NaturalBlocks, ComponentsStayUntilTheyAreNeeded) {
  for (const pattern& p : {nodes(25, 3, 20, 3), nodes(40, 2, 6, 4), patterns::random(120, 4, 5)}) {
    const emulator::executor on;
    const auto rows = triangle_of(make_matrix<double>(p, {}).by_rows, {system_options{}, false}, on);
    std::size_t limit = 100;
    while (plan_blocks<three>(rows, on, limit).shape_index < 0) {
      limit += 3 * sizeof(double);
    }
    expect_solved<three>(p, {}, trials(8), limit);
  }
}

TEST(NaturalBlocks, RowsWithoutBlocksAreSolved) {
  for (const pattern& p :
       {patterns::dense(70), patterns::chain(50), patterns::diagonal(100), patterns::random(120, 4, 5)}) {
    expect_solved<six>(p, {}, 2);
    expect_solved<three>(p, {}, 2);
  }
}

}  // namespace
}  // namespace sptrsv::testing
