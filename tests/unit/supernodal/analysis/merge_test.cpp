// Merging and cutting supernodes on the device, against the host, in the emulator.
#include "sptrsv/detail/supernodal/analysis/device_merge.hpp"
#include "sptrsv/detail/supernodal/analysis/device_tree.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/emulator_target.hpp"
#include "support/random.hpp"

namespace sptrsv::testing {
namespace {

namespace supernodal = detail::supernodal;
using supernodal::fundamental_supernodes;

/// Returns supernodes with the parents `parent`, drawn columns and drawn numbers of rows.
fundamental_supernodes with_parents(std::vector<std::int64_t> parent, random_source& draw) {
  fundamental_supernodes f;
  f.first.push_back(0);
  for (const std::int64_t above : parent) {
    f.first.push_back(f.first.back() + 1 + draw.below(3));
    f.row_count.push_back(above < 0 ? 0 : 1 + draw.below(6));
    f.nested.push_back(1);
  }
  f.parent = std::move(parent);
  return f;
}

/// Draws parents from the next `reach` supernodes.
fundamental_supernodes scattered(std::int64_t count, std::int64_t reach, std::uint64_t seed) {
  random_source draw(seed);
  std::vector<std::int64_t> parent;
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t above = s + 1 + draw.below(reach);
    parent.push_back(above < count ? above : -1);
  }
  return with_parents(std::move(parent), draw);
}

/// Draws a forest in which the descendants of each supernode lie just before it.
fundamental_supernodes postordered(std::int64_t count, std::int64_t max_children, std::uint64_t seed) {
  random_source draw(seed);
  std::vector<std::int64_t> parent(static_cast<std::size_t>(count), -1);
  std::vector<std::int64_t> roots;
  for (std::int64_t s = 0; s < count; ++s) {
    for (std::int64_t c = draw.below(max_children + 1); c > 0 && !roots.empty(); --c) {
      parent[static_cast<std::size_t>(roots.back())] = s;
      roots.pop_back();
    }
    roots.push_back(s);
  }
  return with_parents(std::move(parent), draw);
}

/// Returns the supernodes in the memory of the emulator.
supernodal::device_fundamental<std::int32_t> upload(const fundamental_supernodes& f, emulator_target& where) {
  supernodal::device_fundamental<std::int32_t> to;
  to.count = f.count();
  const auto copy = [&](const std::vector<std::int64_t>& from) {
    return detail::upload(std::vector<std::int32_t>(from.begin(), from.end()), where.on(), where.resource());
  };
  to.first = copy(f.first);
  to.row_count = copy(f.row_count);
  to.parent = copy(f.parent);
  return to;
}

void expect_same(const fundamental_supernodes& f, const supernodal::merge_limits& limits,
                 const supernodal::device_merge<std::int32_t>& found, emulator_target& where) {
  const auto expected = supernodal::merge<std::int32_t>(f, limits);
  const auto& columns = expected.ranges;
  const auto ranges = detail::download_array(found.ranges, where.on());
  ASSERT_EQ(ranges.size(), columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ(ranges[i].first, columns[i].first) << i;
    EXPECT_EQ(ranges[i].rows, columns[i].rows) << i;
    EXPECT_EQ(ranges[i].parent, columns[i].parent) << i;
    EXPECT_EQ(ranges[i].parent_column, columns[i].parent_column) << i;
  }
  EXPECT_EQ(where.download(found.first_descendant), expected.first_descendant);
}

TEST(DeviceMerge, IsThatOfTheHostUnderEverySchedule) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    emulator_target where;
    where.device().settings = hostile_settings(seed, seed % 4);
    detail::simt::scan_words words(where.resource());
    const auto size = 40 + 5 * static_cast<std::int64_t>(seed % 30);
    const auto f =
        seed % 2 == 0 ? scattered(size, 1 + size % 9, seed) : postordered(size, 1 + size % 4, seed);
    for (const supernodal::merge_limits& limits :
         {supernodal::merge_limits{0, 0, 0}, {0.1, 0.4, 8}, {0.5, 0.6, 8}, {1, 1, 0}}) {
      const auto found = supernodal::merge_on_device(upload(f, where), limits, f.count(), words, where.on(),
                                                     where.resource());
      expect_same(f, limits, found, where);
    }
  }
}

/// A tree that is a path would be one thread's work.
TEST(DeviceMerge, LeavesHighTreesToTheHost) {
  emulator_target where;
  detail::simt::scan_words words(where.resource());
  const auto f = scattered(3000, 1, 1);
  const supernodal::merge_limits limits{0.1, 0.4, 8};
  const auto on_device = upload(f, where);
  EXPECT_EQ(
      supernodal::merge_on_device(on_device, limits, 100, words, where.on(), where.resource()).ranges.size(),
      0U);
  auto with_nested = upload(f, where);
  with_nested.nested = buffer<unsigned char>(f.nested.size(), where.resource(), where.on().stream());
  where.on().upload(with_nested.nested.data(), f.nested.data(), f.nested.size());
  expect_same(f, limits,
              supernodal::merge_supernodes(with_nested, limits, words, where.on(), where.resource()), where);
}

/// Wide ranges become chains. The parent of a chain may stand in the middle of another one.
TEST(DeviceCut, IsThatOfTheHost) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    emulator_target where;
    where.device().settings = hostile_settings(seed, seed % 4);
    detail::simt::scan_words words(where.resource());
    const auto size = 40 + 10 * static_cast<std::int64_t>(seed);
    const auto f =
        seed % 2 == 0 ? scattered(size, 1 + size % 9, seed) : postordered(size, 1 + size % 4, seed);
    const auto columns = f.first.back();
    const auto max_width = 1 + static_cast<std::int64_t>(seed % 7);
    const supernodal::merge_limits limits{seed % 3 == 0 ? 1 : 0.5, 0.6, 8};
    const auto merged =
        supernodal::merge_on_device(upload(f, where), limits, f.count(), words, where.on(), where.resource());
    const auto expected =
        supernodal::cut(detail::download_array(merged.ranges, where.on()), columns, true, max_width, {});
    const auto found =
        supernodal::cut_on_device(merged.ranges, columns, max_width, words, where.on(), where.resource());
    const auto tree = supernodal::tree_of(where.download(found.made), columns, true);
    EXPECT_EQ(tree.first, expected.first);
    EXPECT_EQ(tree.range_end, expected.range_end);
    EXPECT_EQ(tree.rows_begin, expected.rows_begin);
    EXPECT_EQ(tree.panel_begin, expected.panel_begin);
    EXPECT_EQ(tree.parent, expected.parent);
    const auto expect_array = [&](const auto* there, const auto& host) {
      EXPECT_EQ(detail::download_array(there, static_cast<std::int64_t>(host.size()), where.on()), host);
    };
    expect_array(found.of.first, expected.first);
    expect_array(found.of.range_end, expected.range_end);
    expect_array(found.of.rows_begin, expected.rows_begin);
    expect_array(found.of.panel_begin, expected.panel_begin);
    EXPECT_EQ(found.rows, expected.rows_begin.back());
    EXPECT_EQ(found.entries, expected.panel_begin.back());
  }
}

}  // namespace
}  // namespace sptrsv::testing
