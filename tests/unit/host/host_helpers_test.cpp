// The contract of the functions that read matrices and vectors on the host: sizes, empty systems, objects
// that were moved from and memory of a device. What they cannot take is refused before anything is read.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/conversions.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/host/structure.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/orderings.hpp"
#include "sptrsv/supernodal_matrix.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

using rows_matrix = csr_matrix<double>;
using columns_matrix = csc_matrix<double>;
using rows_view = csr_view<double>;
constexpr std::int64_t largest_size = std::numeric_limits<std::int64_t>::max();

rows_matrix chain() { return {3, 3, {0, 1, 3, 5}, {0, 0, 1, 1, 2}, {2, 1, 2, 1, 2}}; }

/// A function that reads a matrix on the host, without its result.
struct reader {
  std::string name;
  bool needs_square;
  std::function<void(const rows_view&)> read;
};
std::vector<reader> readers() {
  static const std::vector<double> ones(3, 1.0);
  const auto by_columns = [](const rows_view& a) {  // the same arrays, by columns
    return csc_view<double>{a.columns, a.rows, a.entries, a.row_offsets, a.column_indices, a.values};
  };
  return {{"to_csc", false, [](const rows_view& a) { static_cast<void>(to_csc(a)); }},
          {"to_csr", false, [=](const rows_view& a) { static_cast<void>(to_csr(by_columns(a))); }},
          {"structure_of", true, [](const rows_view& a) { static_cast<void>(structure_of(a)); }},
          {"backward_error", true,
           [](const rows_view& a) {
             const auto size = static_cast<std::size_t>(a.rows == 3 ? 3 : 0);
             static_cast<void>(backward_error(a, {}, span<const double>(ones.data(), size),
                                              span<const double>(ones.data(), size)));
           }},
          {"reverse_cuthill_mckee", true,
           [](const rows_view& a) { static_cast<void>(reverse_cuthill_mckee(a)); }},
          {"greedy_colouring", true, [](const rows_view& a) { static_cast<void>(greedy_colouring(a)); }}};
}

void expect_refused(const std::string& name, errc code, const std::string& words,
                    const std::function<void()>& call) {
  const auto seen = failure::of(call);
  ASSERT_TRUE(seen.has_value()) << name << ": accepted";
  EXPECT_EQ(seen->code, code) << name << ": " << seen->message;
  EXPECT_TRUE(seen->mentions(words)) << name << ": " << seen->message;
}

TEST(HostHelpers, TakeEmptyMatrices) {
  for (const reader& f : readers()) {
    EXPECT_NO_THROW(f.read(rows_view{})) << f.name;
  }
  EXPECT_EQ(to_csc(rows_matrix{}).column_offsets, std::vector<std::int32_t>{0});
  EXPECT_EQ(to_csr(columns_matrix{}).row_offsets, std::vector<std::int32_t>{0});
  EXPECT_EQ(to_csc(rows_view{0, 3, 0}).column_offsets, (std::vector<std::int32_t>{0, 0, 0, 0}));
  EXPECT_EQ(to_csr(csc_view<double>{2, 0, 0}).row_offsets, (std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_TRUE(reordered(rows_matrix{}, std::vector<std::int32_t>{}).matrix.values.empty());
  EXPECT_TRUE(inverse_order(std::vector<std::int32_t>{}).empty());
  EXPECT_TRUE(colouring<std::int32_t>{}.order().empty());
  EXPECT_EQ(supernodal_matrix<double>{}.view().supernodes, 0);
}

TEST(HostHelpers, RefuseSizesThatAreNegativeOrDoNotFit) {
  const rows_matrix a = chain();
  for (const reader& f : readers()) {
    for (const std::int64_t bad :
         {std::int64_t{-1}, -largest_size - 1, largest_size, std::int64_t{1} << 31}) {
      rows_view v = a;
      v.rows = v.columns = bad;
      expect_refused(f.name, errc::invalid_argument, "", [&] { f.read(v); });
      v = a;
      v.entries = bad;
      expect_refused(f.name, errc::invalid_argument, "entries", [&] { f.read(v); });
      v = a;
      v.columns = bad;
      expect_refused(f.name, bad < 0 || !f.needs_square ? errc::invalid_argument : errc::not_square, "",
                     [&] { f.read(v); });
      v = a;
      v.rows = bad;
      expect_refused(f.name, bad < 0 || !f.needs_square ? errc::invalid_argument : errc::not_square, "",
                     [&] { f.read(v); });
    }
    rows_view v = a;
    v.rows = 0;
    v.columns = f.needs_square ? 0 : 3;
    expect_refused(f.name, errc::offsets_not_monotone, "entries", [&] { f.read(v); });
    v = a;
    v.columns = 2;
    expect_refused(f.name, f.needs_square ? errc::not_square : errc::index_out_of_range, "",
                   [&] { f.read(v); });
  }
}

TEST(HostHelpers, RefuseNullArraysAndWrongPatterns) {
  const rows_matrix a = chain();
  for (const reader& f : readers()) {
    rows_view v = a;
    v.row_offsets = nullptr;
    expect_refused(f.name, errc::invalid_argument, "null", [&] { f.read(v); });
    v = a;
    v.column_indices = nullptr;
    expect_refused(f.name, errc::invalid_argument, "null", [&] { f.read(v); });
    v = a;
    v.values = nullptr;
    expect_refused(f.name, errc::invalid_argument, "null", [&] { f.read(v); });
    v = a;
    v.entries = 4;
    expect_refused(f.name, errc::offsets_not_monotone, "offsets", [&] { f.read(v); });
    for (const std::int32_t bad : {-1, 3, 1 << 30}) {
      rows_matrix damaged = a;
      damaged.column_indices[3] = bad;
      expect_refused(f.name, errc::index_out_of_range, "2", [&] { f.read(damaged); });
      damaged = a;
      damaged.row_offsets[1] = bad > 0 ? bad + 1 : bad;
      expect_refused(f.name, errc::offsets_not_monotone, "offsets", [&] { f.read(damaged); });
    }
  }
}

/// A matrix that was moved from has its sizes and no arrays.
TEST(HostHelpers, RefuseWhatWasMovedFrom) {
  rows_matrix a = chain();
  const rows_matrix taken = std::move(a);
  EXPECT_EQ(taken.rows, 3);
  a.rows = a.columns = 3;
  expect_refused("to_csc", errc::size_mismatch, "row offsets", [&] { to_csc(a); });
  expect_refused("structure_of", errc::size_mismatch, "row offsets", [&] { structure_of(a); });
  expect_refused("backward_error", errc::size_mismatch, "row offsets",
                 [&] { backward_error(a, {}, std::vector<double>(3), std::vector<double>(3)); });
  expect_refused("reverse_cuthill_mckee", errc::size_mismatch, "row offsets",
                 [&] { reverse_cuthill_mckee(a); });
  expect_refused("greedy_colouring", errc::size_mismatch, "row offsets", [&] { greedy_colouring(a); });
  expect_refused("reordered", errc::size_mismatch, "row offsets", [&] {
    reordered(a, std::vector<std::int32_t>{0, 1, 2});
  });
  columns_matrix by_columns = to_csc(taken);
  const columns_matrix also_taken = std::move(by_columns);
  by_columns.rows = by_columns.columns = also_taken.columns;
  expect_refused("to_csr", errc::size_mismatch, "column offsets", [&] { to_csr(by_columns); });

  auto made = reordered(taken, std::vector<std::int32_t>{2, 0, 1});
  const rows_matrix moved_out = std::move(made.matrix);
  expect_refused("update_values", errc::size_mismatch, "0", [&] { made.update_values(taken.values); });
  expect_refused("update_values", errc::invalid_argument, "null", [&] {
    reordered(taken, std::vector<std::int32_t>{2, 0, 1}).update_values(span<const double>(nullptr, 5));
  });
}

TEST(HostHelpers, RefuseOrdersAndColoursThatDoNotFit) {
  rows_matrix a = chain();
  const std::vector<std::int32_t> order{2, 0, 1};
  a.column_indices[2] = 5;
  expect_refused("reordered", errc::index_out_of_range, "row 1", [&] { reordered(a, order); });
  a = chain();
  a.row_offsets[1] = 4;
  expect_refused("reordered", errc::offsets_not_monotone, "offsets", [&] { reordered(a, order); });
  using colours = colouring<std::int32_t>;
  expect_refused("order", errc::invalid_argument, "colour", [] { return colours{{0, 2, 1}, 2}.order(); });
  expect_refused("order", errc::invalid_argument, "colour", [] { return colours{{0, -1, 1}, 2}.order(); });
  expect_refused("order", errc::invalid_argument, "colour", [] { return colours{{0, 0}, -1}.order(); });
  expect_refused("order", errc::invalid_argument, "colour", [] {
    return colours{{0, 0}, largest_size}.order();
  });
}

/// The graph of A + A^T may have twice as many entries as A, more than the offsets of A can count.
TEST(HostHelpers, RefuseGraphsWithMoreEntriesThanOffsetsCount) {
  csr_matrix<double, std::int16_t, std::int16_t> a{130, 130, {0}, {}, {}};
  for (std::int16_t row = 0; row < 130; ++row) {
    for (std::int16_t column = 0; column < 130; ++column) {
      a.column_indices.push_back(column);
    }
    a.row_offsets.push_back(static_cast<std::int16_t>(a.column_indices.size()));
  }
  a.values.resize(a.column_indices.size());
  expect_refused("reverse_cuthill_mckee", errc::unsupported, "offset", [&] { reverse_cuthill_mckee(a); });
  expect_refused("greedy_colouring", errc::unsupported, "offset", [&] { greedy_colouring(a); });
  EXPECT_EQ(structure_of(a).levels, 130);
}

TEST(HostHelpers, BackwardErrorComparesBAndXWithTheMatrix) {
  const rows_matrix a = chain();
  const std::vector<double> memory(12, 1.0);
  using view = dense_view<const double>;
  const auto refused = [&](const char* words, errc code, const view& b, const view& x) {
    expect_refused("backward_error", code, words, [&] { backward_error(a, {}, b, x); });
  };
  const auto sized = [&](std::int64_t rows, std::int64_t columns) {
    return view::column_major(memory.data(), rows, columns, rows);
  };
  for (const std::int64_t rows :
       {std::int64_t{0}, std::int64_t{2}, std::int64_t{4}, std::int64_t{-1}, largest_size}) {
    refused("b has", errc::size_mismatch, sized(rows, 1), sized(3, 1));
    refused("x has", errc::size_mismatch, sized(3, 1), sized(rows, 1));
  }
  refused("columns", errc::size_mismatch, sized(3, 1), sized(3, 2));
  refused("columns", errc::size_mismatch, sized(3, -1), sized(3, -1));
  refused("null", errc::invalid_argument, view(nullptr, 3, 1, 1, 3), sized(3, 1));
  refused("null", errc::invalid_argument, sized(3, 1), view(nullptr, 3, 1, 1, 3));
  refused("address space", errc::invalid_argument, view(memory.data(), 3, 2, 1, largest_size), sized(3, 2));
  refused("address space", errc::invalid_argument, sized(3, largest_size), sized(3, largest_size));
  EXPECT_TRUE(backward_error(a, {}, sized(3, 0), sized(3, 0)).ok());
  EXPECT_NO_THROW(backward_error(a, {}, view(memory.data(), 3, 2, 0, 0), sized(3, 2)));
}

TEST(HostHelpers, RealViewsDoNotOverflow) {
  using complex = std::complex<double>;
  using view = dense_view<complex>;
  std::vector<complex> memory(6);
  EXPECT_EQ(real_view(view(memory.data(), 3, 2, 2, 1)).columns, 4);
  for (const std::int64_t far :
       {largest_size, largest_size / 2 + 1, -largest_size - 1, -largest_size / 2 - 2}) {
    expect_refused("real_view", errc::invalid_argument, "real_view",
                   [&] { real_view(view(memory.data(), 3, 2, far, 1)); });
    expect_refused("real_view", errc::invalid_argument, "real_view",
                   [&] { real_view(view(memory.data(), 3, far, 2, 1)); });
  }
}

/// What a program compiled by nvcc knows: that the arrays from `first_of_device` on are device memory.
const void* first_of_device = nullptr;
bool lies_on_device(const void* p) { return p == first_of_device; }

TEST(HostHelpers, RefuseDeviceMemory) {
  const rows_matrix a = chain();
  const std::vector<double> ones(3, 1.0);
  auto* const before = std::exchange(detail::is_device_only, &lies_on_device);
  for (const reader& f : readers()) {
    for (const void* const array :
         {static_cast<const void*>(a.row_offsets.data()), static_cast<const void*>(a.column_indices.data()),
          static_cast<const void*>(a.values.data())}) {
      first_of_device = array;
      expect_refused(f.name, errc::wrong_memory_space, f.name, [&] { f.read(a); });
    }
  }
  const std::vector<double> other(3, 1.0);
  first_of_device = ones.data();
  expect_refused("b", errc::wrong_memory_space, "b ", [&] { backward_error(a, {}, ones, other); });
  expect_refused("x", errc::wrong_memory_space, "x ", [&] { backward_error(a, {}, other, ones); });
  detail::is_device_only = before;
}

/// The arrays of supernodal panels are counted; the analysis compares what they say.
TEST(HostHelpers, SupernodalViewsCountTheirArrays) {
  supernodal_matrix<double> a{2, {0, 2}, {0, 2}, {0, 1}, {0, 4}, {1, 1, 0, 1}};
  EXPECT_EQ(a.view().supernodes, 1);
  auto bad = a;
  bad.row_offsets.pop_back();
  expect_refused("row offsets", errc::size_mismatch, "row offsets", [&] { return bad.view(); });
  bad = a;
  bad.value_offsets.clear();
  expect_refused("value offsets", errc::size_mismatch, "value offsets", [&] { return bad.view(); });
  const auto taken = std::move(a);
  a.rows = taken.rows;
  expect_refused("moved from", errc::size_mismatch, "first columns", [&] { return a.view(); });
}

}  // namespace
}  // namespace sptrsv::testing
