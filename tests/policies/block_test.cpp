// The block policies: how they divide the rows, which kernels they choose, and that a solve is one launch.
#include <cmath>
#include <limits>

#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/block.hpp"

namespace sptrsv::testing {
namespace {

using detail::block::parts_of;
using policy::block_cut;

constexpr block_cut all_cuts[] = {block_cut::columns, block_cut::rows, block_cut::recursive};

struct traffic {
  double updated;
  double read;
};
/// Returns the elements of b that are updated and those of x that are loaded, in multiples of n: every row
/// once by its triangle, and the rows and columns of the squares.
traffic traffic_of(block_cut cut, std::int64_t blocks) {
  constexpr std::int64_t size = 4096;
  traffic t{1, 0};
  for (const detail::block::part& p : parts_of(cut, detail::block::even_bounds(size, blocks))) {
    if (!p.is_triangle) {
      t.updated += static_cast<double>(p.rows()) / size;
      t.read += static_cast<double>(p.last_column - p.first_column) / size;
    }
  }
  return t;
}

/// The numbers are those of Lu, Niu, Liu 2020, Tables 1 and 2, for x iterations, which make 2^x triangles.
TEST(BlockLayout, MovesWhatThePaperSays) {
  for (const int x : {0, 1, 2, 4, 8}) {
    const double blocks = std::pow(2, x);
    const traffic columns = traffic_of(block_cut::columns, std::int64_t{1} << x);
    EXPECT_DOUBLE_EQ(columns.updated, blocks / 2 + 0.5);
    EXPECT_DOUBLE_EQ(columns.read, 1 - 1 / blocks);
    const traffic rows = traffic_of(block_cut::rows, std::int64_t{1} << x);
    EXPECT_DOUBLE_EQ(rows.updated, 2 - 1 / blocks);
    EXPECT_DOUBLE_EQ(rows.read, blocks / 2 - 0.5);
    const traffic recursive = traffic_of(block_cut::recursive, std::int64_t{1} << x);
    EXPECT_DOUBLE_EQ(recursive.updated, 0.5 * x + 1);
    EXPECT_DOUBLE_EQ(recursive.read, 0.5 * x);
  }
}

TEST(BlockLayout, HasEachEntryInOnePartWhichComesAfterItsTriangleAndBeforeItsRow) {
  for (const block_cut cut : all_cuts) {
    for (const std::int64_t blocks : {1, 2, 4, 8, 32}) {
      const auto bounds = detail::block::even_bounds(1000, blocks);
      const auto parts = parts_of(cut, bounds);
      ASSERT_EQ(parts.size(), 2 * static_cast<std::size_t>(blocks) - 1);
      for (std::int64_t row = 0; row < blocks; ++row) {
        for (std::int64_t column = 0; column <= row; ++column) {
          const std::int64_t number = detail::block::part_of(cut, row, column);
          const auto& p = parts[static_cast<std::size_t>(number)];
          EXPECT_EQ(p.is_triangle, row == column);
          EXPECT_GE(number, 2 * column);
          EXPECT_LE(number, 2 * row);
          EXPECT_LE(p.first_row, bounds[static_cast<std::size_t>(row)]);
          EXPECT_GE(p.last_row, bounds[static_cast<std::size_t>(row) + 1]);
          EXPECT_LE(p.first_column, bounds[static_cast<std::size_t>(column)]);
          EXPECT_GE(p.last_column, bounds[static_cast<std::size_t>(column) + 1]);
        }
      }
    }
  }
}

TEST(BlockLayout, CutsEvenlyAndFinerCutsKeepTheBounds) {
  for (const std::int64_t size : {8, 13, 1000, 4095}) {
    const auto fine = detail::block::even_bounds(size, 8);
    const auto coarse = detail::block::even_bounds(size, 4);
    EXPECT_EQ(fine.back(), size);
    for (std::size_t i = 0; i < coarse.size(); ++i) {
      EXPECT_EQ(coarse[i], fine[2 * i]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_GE(fine[i + 1] - fine[i], size / 8);
      EXPECT_LE(fine[i + 1] - fine[i], size / 8 + 1);
    }
  }
}

using policy::block_selector;
using policy::square_kernel;
using policy::triangle_kernel;

TEST(BlockKernels, ThePapersTreeHasThePapersThresholds) {
  const auto triangle = [](std::int64_t per_row, std::int64_t levels) {  // entries with the diagonal
    return detail::block::paper_triangle({100000, (per_row - 1) * 100000, levels});
  };
  EXPECT_EQ(triangle(1, 1), triangle_kernel::by_levels);
  EXPECT_EQ(triangle(1, 100), triangle_kernel::by_levels);
  EXPECT_EQ(triangle(1, 101), triangle_kernel::sync_free);
  EXPECT_EQ(triangle(15, 20), triangle_kernel::by_levels);
  EXPECT_EQ(triangle(15, 21), triangle_kernel::sync_free);
  EXPECT_EQ(triangle(16, 20), triangle_kernel::sync_free);
  EXPECT_EQ(triangle(3, 20000), triangle_kernel::sync_free);
  EXPECT_EQ(triangle(3, 20001), triangle_kernel::serial);
  const auto square = [](std::int64_t per_row, std::int64_t empty_percent) {
    return detail::block::square_by_thresholds<experimental::block_tuning>(
        {100, 100 - empty_percent, 100 * per_row});
  };
  EXPECT_EQ(square(12, 50), square_kernel::scalar_csr);
  EXPECT_EQ(square(12, 51), square_kernel::scalar_dcsr);
  EXPECT_EQ(square(13, 15), square_kernel::vector_csr);
  EXPECT_EQ(square(13, 16), square_kernel::vector_dcsr);
}

TEST(BlockKernels, ByTheFittedTreeOnlyADiagonalIsTakenAsALevelAndRowsOfSquaresCountIfEmpty) {
  const auto triangle = [](std::int64_t rows, std::int64_t levels) {
    return detail::block::choose_triangle({}, {rows, rows, levels});
  };
  EXPECT_EQ(triangle(500000, 1), triangle_kernel::by_levels);
  EXPECT_EQ(triangle(500000, 2), triangle_kernel::sync_free);
  EXPECT_EQ(triangle(500000, 500000), triangle_kernel::sync_free);
  const auto square = [](std::int64_t entries, std::int64_t rows_with_entries) {
    return detail::block::square_by_thresholds<experimental::block_tuning>({100, rows_with_entries, entries});
  };
  EXPECT_EQ(square(1200, 60), square_kernel::scalar_csr);
  EXPECT_EQ(square(1201, 90), square_kernel::vector_csr);
  EXPECT_EQ(square(1200, 49), square_kernel::scalar_dcsr);
  EXPECT_EQ(square(1201, 60), square_kernel::vector_dcsr);
}

template <class Policy>
class block_form : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  void TestBody() override {}

  /// Returns what info() says of the steps.
  kernel_info steps(const pattern& p, const Policy& policy) {
    return sptrsv::analyze(policy, where.upload(make(p, {}).by_rows), {}, where.stream())
        .info()
        .kernels.at(1);
  }
};

std::string recursive_plan(const pattern& p, const policy::recursive_block& policy) {
  return block_form<policy::recursive_block>().steps(p, policy).text;
}

TEST(BlockPlans, SayBlocksKernelsAndTraffic) {
  // Two levels of 20 rows: each half is diagonal, and all entries connect the halves.
  const pattern p = patterns::layers(40, 20, 5);
  EXPECT_EQ(
      recursive_plan(p, {2}),
      "2 diagonal blocks, triangles: 2 diagonal; squares: 1 scalar-CSR; 1.50 n sums updated, 0.50 n of x "
      "read");
  EXPECT_EQ(recursive_plan(p, {1}),
            "1 diagonal blocks, triangles: 1 sync-free; 1.00 n sums updated, 0.00 n of x read");
  EXPECT_EQ(recursive_plan(p, {0, {block_selector::paper}}),
            "1 diagonal blocks, triangles: 1 level-set; 1.00 n sums updated, 0.00 n of x read");
  EXPECT_EQ(
      recursive_plan(p, {2, {block_selector::fitted, triangle_kernel::serial, square_kernel::vector_csr}}),
      "2 diagonal blocks, triangles: 2 diagonal; squares: 1 vector-CSR; 1.50 n sums updated, 0.50 n of x "
      "read");
}

/// In their level, rows without entries come before the others, so that squares can leave them out.
TEST(BlockPlans, LeaveEmptyRowsOut) {
  const pattern p = patterns::where("few", 40, [](auto i, auto j) { return i >= 36 && j < 4; });
  EXPECT_NE(recursive_plan(p, {2}).find("1 scalar-DCSR; 1.10 n sums updated, 0.50 n of x read"),
            std::string::npos)
      << recursive_plan(p, {2});
}

TEST(BlockPlans, AreDividedAsFarAsThereAreRows) {
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_EQ(block_form<policy::recursive_block>().steps(patterns::diagonal(7), {most}).partitions, 4);
  EXPECT_EQ(block_form<policy::recursive_block>().steps(patterns::diagonal(7), {3}).partitions, 2);
  EXPECT_EQ(block_form<policy::column_block>().steps(patterns::diagonal(7), {most}).partitions, 7);
}

/// An H200 holds 528 thread blocks of 256 threads.
TEST(BlockKernels, CutsByThemselvesWhereRowsAreLongAndBlocksFillTheDevice) {
  const auto blocks_of = [](std::int64_t rows, std::int64_t entries) {
    return detail::block::blocks_by_default<experimental::block_tuning>(rows, entries, 528);
  };
  EXPECT_EQ(blocks_of(400000, 400000 * 24), 4);
  EXPECT_EQ(blocks_of(400000, 400000 * 14), 4);
  EXPECT_EQ(blocks_of(400000, 400000 * 14 - 1), 1);
  EXPECT_EQ(blocks_of(4 * 12 * 8 * 528, 10000000), 4);
  EXPECT_EQ(blocks_of(4 * 12 * 8 * 528 - 1, 10000000), 1);
}

struct cuts_short_rows : small_block_tasks {
  static constexpr int entries_for_a_cut = 2;
};
/// Eight thread blocks of 64 threads are resident: 12 rows for each of 16 warps are 192 rows, and 768 in four
/// blocks.
template <template <class> class Policy>
void expect_cut_by_default() {
  using policy_type = Policy<cuts_short_rows>;
  const auto blocks_of = [](const pattern& p) {
    return block_form<policy_type>().steps(p, policy_type{}).partitions;
  };
  EXPECT_EQ(blocks_of(patterns::band(767, 5)), 1);
  EXPECT_EQ(blocks_of(patterns::band(768, 5)), 4);
  EXPECT_EQ(blocks_of(patterns::chain(768)), 1);
}
TEST(BlockPlans, AreDividedByThemselvesWhereRowsAreLongAndBlocksFillTheDevice) {
  expect_cut_by_default<policy::basic_column_block>();
  expect_cut_by_default<policy::basic_row_block>();
  expect_cut_by_default<policy::basic_recursive_block>();
}

template <class Subject>
std::uint64_t launches_of_a_solve() {
  block_form<typename Subject::policy_type> on;
  const auto a = on.make(patterns::stencil_2d(9, 12), {});
  auto solver = sptrsv::analyze(Subject::make(), on.where.upload(a.by_rows), {}, on.where.stream());
  const auto b = random_vector<double>(108, 1);
  const std::uint64_t before = on.where.device().counters.launches;
  on.expect_solved(a, {}, "stencil", b, on.solve(solver, b));
  return on.where.device().counters.launches - before;
}
TEST(BlockSolves, AreOneLaunchHoweverManyStepsTheyHave) {
  EXPECT_EQ(launches_of_a_solve<column_block_levels>(), 1u);
  EXPECT_EQ(launches_of_a_solve<row_block_serial>(), 1u);
  EXPECT_EQ(launches_of_a_solve<recursive_block_small>(), 1u);
}

}  // namespace
}  // namespace sptrsv::testing
