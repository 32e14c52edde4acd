// Bad input is refused with an exception that names the mistake and its row, the same on every target.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "support/bad_patterns.hpp"
#include "support/counting_resource.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {

template <class Types>
class bad_input : public contract<Types> {
 public:
  using contract<Types>::contract;
  using typename contract<Types>::value_type;
  using typename contract<Types>::index_type;
  using typename contract<Types>::offset_type;

  static void expect(const std::optional<failure>& seen, errc code, const std::string& words,
                     const std::string& name, std::int64_t row = -1) {
    ASSERT_TRUE(seen.has_value()) << name << ": accepted";
    EXPECT_EQ(seen->code, code) << name << ": " << seen->message;
    EXPECT_EQ(seen->row.value_or(-1), row) << name << ": " << seen->message;
    EXPECT_TRUE(seen->mentions(words)) << name << ": \"" << seen->message << "\" does not mention " << words;
  }

  void expect_refused(const std::vector<pattern_case>& cases) {
    for (const pattern_case& c : cases) {
      const std::optional<failure> seen = failure_of(c.a, c.options);
      if (c.code.has_value()) {
        expect(seen, *c.code, c.words, c.name, c.row);
      } else {
        EXPECT_FALSE(seen.has_value()) << c.name << ": " << (seen ? seen->message : "");
      }
    }
  }

  std::optional<failure> failure_of(const raw_matrix& a, const system_options& options) {
    const raw_arrays<typename Types::target, value_type, index_type, offset_type> there(this->where, a);
    return there.visit([&](const auto& view) { return failure_of(view, options); });
  }
  template <class View>
  std::optional<failure> failure_of(const View& view, const system_options& options = {}) {
    return failure::of([&] { this->policy().analyze(view, options, this->where.stream()); });
  }

  static std::optional<failure> failure_on_host(const raw_matrix& a, const system_options& options) {
    host_target host;
    const raw_arrays<host_target, value_type, index_type, offset_type> there(host, a);
    return there.visit([&](const auto& view) {
      return failure::of([&] { sptrsv::analyze(policy::host_serial{}, view, options); });
    });
  }

  /// Returns the offsets and the indices of an owning matrix.
  template <class V, class I, class O, class Storage>
  static auto arrays_of(csr_matrix<V, I, O, Storage>& a) {
    return std::tie(a.row_offsets, a.column_indices);
  }
  template <class V, class I, class O, class Storage>
  static auto arrays_of(csc_matrix<V, I, O, Storage>& a) {
    return std::tie(a.column_offsets, a.row_indices);
  }

  /// Returns a valid system of three rows.
  auto good_solver(std::int64_t max_rhs = 2) {
    return this->analyze(this->make(patterns::chain(3), {}), {}, max_rhs);
  }
};

SPTRSV_TEST_P(bad_input, shapes_and_offsets) { this->expect_refused(bad_shapes()); }

SPTRSV_TEST_P(bad_input, entries_twice_and_missing_pivots) { this->expect_refused(bad_entries()); }

/// The exception names the first wrong row, which is the one that the analysis on the host finds.
SPTRSV_TEST_P(bad_input, random_accidents_are_named_as_on_the_host) {
  random_source source(1);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < trials(300); ++i) {
    const raw_matrix a = damaged_matrix(source);
    const std::vector<form> forms = all_forms();
    const system_options options = forms[static_cast<std::size_t>(source.below(24))].options();
    const auto expected = this->failure_on_host(a, options);
    const auto seen = this->failure_of(a, options);
    ASSERT_EQ(seen.has_value(), expected.has_value()) << "number " << i << ": "
                                                      << (seen       ? seen->message
                                                          : expected ? expected->message
                                                                     : "");
    if (seen.has_value()) {
      ++refused;
      EXPECT_EQ(seen->code, expected->code) << "number " << i << ": " << seen->message;
      EXPECT_EQ(seen->row, expected->row) << "number " << i << ": " << seen->message;
      EXPECT_EQ(seen->message, expected->message) << "number " << i;
    }
  }
  EXPECT_GT(refused, 2 * trials(300) / 5);
  EXPECT_LT(30 * refused, 29 * trials(300));
}

SPTRSV_TEST_P(bad_input, null_arrays) {
  using value = typename TypeParam::value;
  const auto there = this->where.upload(this->make(patterns::chain(3), {}).by_rows);
  const auto good = detail::view_of(there);
  auto bad = good;
  bad.row_offsets = nullptr;
  this->expect(this->failure_of(bad), errc::invalid_argument, "null", "offsets");
  bad = good;
  bad.column_indices = nullptr;
  this->expect(this->failure_of(bad), errc::invalid_argument, "null", "indices");
  bad = good;
  bad.values = nullptr;
  this->expect(this->failure_of(bad), errc::invalid_argument, "null", "values");

  auto solver = this->good_solver();
  auto vector = this->where.upload(poisoned<value>(3));
  const auto stream = this->where.stream();
  const span<value> nothing(nullptr, 3);
  this->expect(failure::of([&] { solver.solve(nothing, vector, stream); }), errc::invalid_argument, "b ",
               "b");
  this->expect(failure::of([&] { solver.solve(vector, nothing, stream); }), errc::invalid_argument, "x ",
               "x");
  this->expect(failure::of([&] { solver.update_values(span<const value>(nullptr, 5), stream); }),
               errc::invalid_argument, "values", "values");
}

/// The lengths of the arrays of an owning matrix must match: nothing may be read past their ends.
SPTRSV_TEST_P(bad_input, arrays_of_an_owning_matrix_of_wrong_lengths) {
  using value = typename TypeParam::value;
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  for (const bool by_columns : {false, true}) {
    const form f{uplo::lower, diag::non_unit, op::none, by_columns};
    const auto refused = [&](const char* name, const auto& damage) {
      const auto seen = this->make(patterns::chain(3), f).visit([&](const auto& stored) {
        auto there = this->where.upload(stored);
        auto [offsets, indices] = this->arrays_of(there);
        damage(offsets, indices, there.values);
        return this->failure_of(there, f.options());
      });
      this->expect(seen, errc::size_mismatch, "the matrix has", name);
    };
    refused("few indices", [&](auto&, auto& indices, auto&) {
      indices = this->where.upload(std::vector<index>{0, 0});
    });
    refused("no indices",
            [&](auto&, auto& indices, auto&) { indices = this->where.upload(std::vector<index>{}); });
    refused("many indices",
            [&](auto&, auto& indices, auto&) { indices = this->where.upload(std::vector<index>(6)); });
    refused("few values",
            [&](auto&, auto&, auto& values) { values = this->where.upload(std::vector<value>(4)); });
    refused("few offsets", [&](auto& offsets, auto&, auto&) {
      offsets = this->where.upload(std::vector<offset>{0, 1, 5});
    });
    refused("no offsets",
            [&](auto& offsets, auto&, auto&) { offsets = this->where.upload(std::vector<offset>{}); });
    refused("many offsets", [&](auto& offsets, auto&, auto&) {
      offsets = this->where.upload(std::vector<offset>{0, 1, 3, 5, 5});
    });
  }
}

/// A number of right-hand sides whose memory no size can express is refused, and nothing stays allocated.
SPTRSV_TEST_P(bad_input, max_rhs_beyond_the_address_space) {
  using value = typename TypeParam::value;
  constexpr std::int64_t rows = 64;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  counting_resource counted(this->where.resource(), std::size_t{1} << 30);
  const auto a = this->where.upload(this->make(patterns::random(rows, 3, 1), {}).by_rows);
  std::vector<std::int64_t> numbers = {most, most - 1, most / 2, most / rows, most / rows / 2};
  for (int power = 50; power < 63; ++power) {  // products of sizes wrap to 0 or to a few bytes
    numbers.insert(numbers.end(), {std::int64_t{1} << power, (std::int64_t{1} << power) + 1});
  }
  for (const std::int64_t max_rhs : numbers) {
    system_options options;
    options.max_rhs = max_rhs;
    const auto seen =
        failure::of([&] { this->policy().analyze(a, options, this->where.stream(), &counted); });
    const bool is_x_possible = max_rhs <= PTRDIFF_MAX / rows / static_cast<std::int64_t>(sizeof(value));
    const bool is_on_host = std::is_same_v<typename TypeParam::target, host_target>;
    EXPECT_TRUE(seen.has_value() || (is_on_host && is_x_possible)) << max_rhs;
    if (seen.has_value()) {
      EXPECT_TRUE(seen->code == (is_x_possible ? errc::out_of_memory : errc::invalid_argument) ||
                  (seen->code == errc::unsupported && this->policy().may_refuse))
          << max_rhs << ": " << seen->message;
    }
    EXPECT_EQ(counted.live_bytes(), 0u) << max_rhs;
  }
  EXPECT_EQ(counted.mistakes(), 0u);
}

/// The elements of x must not overlap, because several would be stored to the same address. Those of b may
/// repeat, by a stride of 0, but not overlap otherwise.
SPTRSV_TEST_P(bad_input, elements_that_overlap) {
  using value = typename TypeParam::value;
  auto solver = this->good_solver();
  const auto stream = this->where.stream();
  auto memory = this->where.upload(random_vector<value>(40, 1));
  const dense_view<value> good = dense_view<value>::column_major(memory.data(), 3, 2, 3);
  const auto solve = [&](const dense_view<value>& b, const dense_view<value>& x) {
    return failure::of([&] { solver.solve(b, x, stream); });
  };
  const auto strided = [&](std::int64_t row_stride, std::int64_t column_stride, std::int64_t columns = 2) {
    return dense_view<value>(memory.data() + 20, 3, columns, row_stride, column_stride);
  };
  for (const auto& [row_stride, column_stride] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 2}, {1, 1}, {1, -1}, {-1, 2}, {2, 2}, {1, -2}, {2, 4}, {4, 8}}) {
    const auto bad = strided(row_stride, column_stride);
    this->expect(solve(good, bad), errc::invalid_argument, "x of 3 rows and 2 columns", "x");
    this->expect(solve(bad, good), errc::invalid_argument, "overlap", "b");
  }
  for (const auto& [row_stride, column_stride] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 0}, {0, 1}, {0, 0}}) {
    const auto repeated = strided(row_stride, column_stride);
    this->expect(solve(good, repeated), errc::invalid_argument, "overlap", "x");
    EXPECT_FALSE(solve(repeated, good).has_value()) << row_stride << ", " << column_stride;
  }
  this->expect(solve(strided(1, 3, 1), strided(0, 3, 1)), errc::invalid_argument, "overlap", "one column");
  for (const auto& [row_stride, column_stride] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 3}, {2, 1}, {1, -3}, {-1, 3}, {2, 3}, {3, 2}, {2, 1}, {-2, -1}, {2, 5}, {4, 6}}) {
    EXPECT_FALSE(solve(good, strided(row_stride, column_stride)).has_value())
        << row_stride << ", " << column_stride;
  }
  EXPECT_FALSE(solve(strided(1, 0, 1), strided(1, 0, 1)).has_value());  // the stride has no meaning
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t far :
       {most, most / 2, most / static_cast<std::int64_t>(sizeof(value)), -most - 1}) {
    this->expect(solve(good, strided(1, far)), errc::invalid_argument, "address space", "x");
    this->expect(solve(strided(far, 1), good), errc::invalid_argument, "address space", "b");
  }
}

/// A solver that was moved from says so; the workspaces belong to the solver that it was moved to.
SPTRSV_TEST_P(bad_input, a_solver_that_was_moved_from) {
  using value = typename TypeParam::value;
  const auto stream = this->where.stream();
  const auto a = this->make(patterns::chain(3), {});
  auto solver = this->analyze(a, {});
  auto workspace = solver.make_workspace(stream);
  const auto b = random_vector<value>(3, 1);
  const auto x = this->solve(solver, b);
  auto vector = this->where.upload(b);
  const auto values = this->where.upload(a.values());
  auto owner = std::move(solver);
  const auto refused = [&](const std::optional<failure>& seen, const char* name) {
    this->expect(seen, errc::invalid_argument, "moved from", name);
  };
  refused(failure::of([&] { solver.solve(vector, vector, stream); }), "solve");
  refused(failure::of([&] { solver.solve(vector, vector, value(1), workspace, stream); }), "with workspace");
  refused(failure::of([&] { solver.update_values(values, stream); }), "update_values");
  refused(failure::of([&] { static_cast<void>(solver.make_workspace(stream)); }), "make_workspace");
  refused(failure::of([&] { static_cast<void>(solver.status(stream)); }), "status");
  refused(failure::of([&] { static_cast<void>(solver.status(workspace, stream)); }), "status of a workspace");
  refused(failure::of([&] { static_cast<void>(solver.info()); }), "info");
  owner.solve(vector, vector, value(1), workspace, stream);
  this->expect_repeated(owner, a, {}, "chain", b, this->where.download(vector), x);
  EXPECT_TRUE(owner.status(workspace, stream).ok());
  solver = std::move(owner);  // a solver that was moved from can be assigned to
  EXPECT_TRUE(solver.status(workspace, stream).ok());
  this->expect_repeated(solver, a, {}, "chain", b, this->solve(solver, b), x);
}

SPTRSV_TEST_P(bad_input, the_workspace_of_another_solver) {
  using value = typename TypeParam::value;
  const auto stream = this->where.stream();
  auto small = this->good_solver();
  auto large = this->analyze(this->make(patterns::chain(60), {}), {});
  auto of_small = small.make_workspace(stream);
  auto of_large = large.make_workspace(stream);
  auto vector = this->where.upload(random_vector<value>(60, 1));
  const span<value> three(vector.data(), 3);
  const auto refused = [&](const std::optional<failure>& seen, const char* name) {
    this->expect(seen, errc::invalid_argument, "another solver", name);
  };
  refused(failure::of([&] { large.solve(vector, vector, value(1), of_small, stream); }), "a smaller one");
  refused(failure::of([&] { small.solve(three, three, value(1), of_large, stream); }), "a larger one");
  refused(failure::of([&] { static_cast<void>(large.status(of_small, stream)); }), "status");
  auto same = this->good_solver();
  refused(failure::of([&] { same.solve(three, three, value(1), of_small, stream); }), "an equal system");
  EXPECT_FALSE(failure::of([&] { small.solve(three, three, value(1), of_small, stream); }).has_value());
  small = std::move(same);
  refused(failure::of([&] { small.solve(three, three, value(1), of_small, stream); }), "of a former solver");
}

SPTRSV_TEST_P(bad_input, sizes_of_b_x_and_the_values) {
  using value = typename TypeParam::value;
  auto solver = this->good_solver();
  const auto stream = this->where.stream();
  auto memory = this->where.upload(random_vector<value>(40, 1));
  const auto sized = [&](std::int64_t rows, std::int64_t columns) {
    return dense_view<value>::column_major(memory.data(), rows, columns, rows);
  };
  const auto solve = [&](const dense_view<value>& b, const dense_view<value>& x) {
    return failure::of([&] { solver.solve(b, x, stream); });
  };
  this->expect(solve(sized(2, 1), sized(3, 1)), errc::size_mismatch, "b has 2 rows, the system has 3", "b");
  this->expect(solve(sized(4, 1), sized(3, 1)), errc::size_mismatch, "b has 4 rows", "b");
  this->expect(solve(sized(3, 1), sized(2, 1)), errc::size_mismatch, "x has 2 rows", "x");
  this->expect(solve(sized(0, 0), sized(0, 0)), errc::size_mismatch, "b has 0 rows", "nothing");
  this->expect(solve(sized(3, 1), sized(3, 2)), errc::size_mismatch, "columns", "columns");
  this->expect(solve(sized(3, -1), sized(3, -1)), errc::size_mismatch, "negative", "negative columns");
  this->expect(solve(sized(3, 3), sized(3, 3)), errc::too_many_rhs, "max_rhs = 2", "max_rhs");
  EXPECT_FALSE(solve(sized(3, 2), sized(3, 2)).has_value());
  EXPECT_FALSE(solve(sized(3, 0), sized(3, 0)).has_value());
  for (const std::size_t count : {0U, 4U, 6U}) {
    this->expect(failure::of([&] { solver.update_values(span<const value>(memory.data(), count), stream); }),
                 errc::size_mismatch, "5 entries", "values");
  }
}

/// A refused call leaves the solver as it was.
SPTRSV_TEST_P(bad_input, a_refused_call_does_no_harm) {
  using value = typename TypeParam::value;
  const auto a = this->make(patterns::chain(3), {});
  auto solver = this->analyze(a, {}, 2);
  const auto b = random_vector<value>(3, 1);
  const auto x = this->solve(solver, b);
  const auto stream = this->where.stream();
  auto memory = this->where.upload(poisoned<value>(9));
  const auto many = dense_view<value>::column_major(memory.data(), 3, 3, 3);
  EXPECT_TRUE(failure::of([&] { solver.solve(many, many, stream); }).has_value());
  EXPECT_TRUE(failure::of([&] { solver.update_values(span<const value>(memory.data(), 9), stream); }));
  EXPECT_TRUE(same_bits(this->where.download(memory), poisoned<value>(9)));
  EXPECT_TRUE(solver.status(stream).ok());
  EXPECT_TRUE(same_bits(this->solve(solver, b), x));
}

/// Sizes that the index or the offset type cannot hold are refused before any array is read.
SPTRSV_TEST_P(bad_input, more_rows_or_entries_than_the_types_can_count) {
  using view = csr_view<typename TypeParam::value, typename TypeParam::index, typename TypeParam::offset>;
  const auto there = this->where.upload(this->make(patterns::chain(3), {}).by_rows);
  view a = there;
  for (const std::int64_t less : {0, 1, 65535}) {  // loops of kernels step past the end
    if (sizeof(typename TypeParam::index) == 4) {
      a = there;
      a.rows = a.columns = (std::int64_t{1} << 31) - less;
      this->expect(this->failure_of(a), errc::invalid_argument, "do not fit the index type", "rows");
    }
    if (sizeof(typename TypeParam::offset) == 4) {
      a = there;
      a.entries = (std::int64_t{1} << 31) - less;
      this->expect(this->failure_of(a), errc::invalid_argument, "do not fit the offset type", "entries");
    }
  }
}

/// Wrong offsets and indices of blocks are named by their block row, entries by their row; the same on every
/// target.
SPTRSV_TEST_P(bad_input, matrices_of_blocks) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  using blocks = bsr_matrix<typename TypeParam::value, index, offset>;
  blocks good{6, 6, {0, 1, 3, 6}, {0, 0, 1, 0, 1, 2}, {}, 2, block_order::by_rows};
  good.values.resize(24, typename TypeParam::value(1));
  const auto failure_with = [&](const std::vector<offset>& offsets, const std::vector<index>& indices,
                                const system_options& options = {}) {
    blocks a = good;
    a.row_offsets = offsets;
    a.column_indices = indices;
    return this->failure_of(detail::view_of(this->where.upload(a)), options);
  };
  EXPECT_FALSE(failure_with(good.row_offsets, good.column_indices).has_value());
  const auto offsets = errc::offsets_not_monotone;
  this->expect(failure_with({1, 2, 4, 7}, good.column_indices), offsets, "count from 1", "from 1", 0);
  this->expect(failure_with({0, 3, 1, 6}, good.column_indices), offsets, "block row 1", "decrease", 1);
  this->expect(failure_with({0, 1, 3, 5}, good.column_indices), offsets, "block row 2", "end", 2);
  this->expect(failure_with({0, 1, 100, 6}, good.column_indices), offsets, "block row 2", "too large", 2);
  this->expect(failure_with({0, 100, 200, 6}, good.column_indices), offsets, "block row 2", "far", 2);
  this->expect(failure_with({0, -5, 3, 6}, good.column_indices), offsets, "block row 0", "negative", 0);
  const auto range = errc::index_out_of_range;
  constexpr index largest = std::numeric_limits<index>::max();
  this->expect(failure_with(good.row_offsets, {0, 0, 3, 0, 1, 2}), range, "block row 1", "column 3", 1);
  this->expect(failure_with(good.row_offsets, {0, -1, 1, 0, 1, 2}), range, "block row 1", "column -1", 1);
  this->expect(failure_with(good.row_offsets, {0, 0, 1, 0, 1, largest}), range, "block row 2", "largest", 2);
  this->expect(failure_with(good.row_offsets, {1, 1, 2, 1, 2, 3}), range, "count from 1", "from 1", 2);
  this->expect(failure_with(good.row_offsets, {0, 0, 1, 1, 1, 2}), errc::duplicate_entry, "row 4", "twice",
               4);
  this->expect(failure_with(good.row_offsets, {0, 0, 0, 0, 1, 2}, {uplo::lower, diag::unit, op::none, 1}),
               errc::duplicate_entry, "row 2", "twice", 2);
  this->expect(failure_with({0, 1, 2, 5}, {0, 0, 0, 1, 2, 0}), offsets, "block row 2", "end", 2);
  this->expect(failure_with({0, 1, 2, 6}, {0, 0, 0, 1, 2, 3}), range, "block row 2", "before entries", 2);

  blocks missing{4, 4, {0, 1, 2}, {0, 0}, {}, 2, block_order::by_columns};
  missing.values.resize(8, typename TypeParam::value(1));
  this->expect(this->failure_of(detail::view_of(this->where.upload(missing))), errc::missing_diagonal,
               "row 2", "no diagonal", 2);

  const auto there = this->where.upload(good);
  auto view = detail::view_of(there);
  for (const std::int64_t block : {0, -2, 1025, 4}) {
    view.block_size = block;
    this->expect(this->failure_of(view), errc::invalid_argument, block == 4 ? "blocks of 4" : "block_size",
                 "block size");
  }
  view = detail::view_of(there);
  view.entries -= 1;
  this->expect(this->failure_of(view), errc::invalid_argument, "do not fill blocks", "entries");
  view = detail::view_of(there);
  view.row_offsets = nullptr;
  this->expect(this->failure_of(view), errc::invalid_argument, "offsets", "no offsets");
  view = detail::view_of(there);
  view.column_indices = nullptr;
  this->expect(this->failure_of(view), errc::invalid_argument, "indices", "no indices");
  view = detail::view_of(there);
  view.values = nullptr;
  this->expect(this->failure_of(view), errc::invalid_argument, "values", "no values");
  blocks short_of = good;
  short_of.values.pop_back();
  this->expect(failure::of([&] { std::ignore = short_of.view(); }), errc::size_mismatch, "23 values",
               "values");
}

/// The exception for blocks names the first wrong row, too, which is the one that the host finds.
SPTRSV_TEST_P(bad_input, random_accidents_of_blocks_are_named_as_on_the_host) {
  random_source source(2);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < trials(150); ++i) {
    const std::int64_t block = 2 + source.below(2);
    const form f = all_forms()[static_cast<std::size_t>(2 * source.below(12))];  // by rows
    auto a = to_bsr(this->make(patterns::random(12, 2, i), f).by_rows, block,
                    source.coin() ? block_order::by_rows : block_order::by_columns);
    const auto damage = [&](auto& array) {
      using element = typename std::decay_t<decltype(array)>::value_type;
      const std::int64_t steps[] = {-1, 1, -1000, 1000, std::numeric_limits<element>::max() / 4};
      const auto size = static_cast<std::int64_t>(array.size());
      element& hit = array[static_cast<std::size_t>(source.below(size))];
      hit = static_cast<element>(hit + steps[source.below(5)]);
    };
    for (std::int64_t accidents = source.below(3); accidents > 0; --accidents) {
      source.coin() ? damage(a.row_offsets) : damage(a.column_indices);
    }
    const auto expected = failure::of([&] { sptrsv::analyze(policy::host_serial{}, a, f.options()); });
    const auto seen = this->failure_of(detail::view_of(this->where.upload(a)), f.options());
    ASSERT_EQ(seen.has_value(), expected.has_value()) << "number " << i;
    if (seen.has_value()) {
      ++refused;
      EXPECT_EQ(seen->code, expected->code) << "number " << i << ": " << seen->message;
      EXPECT_EQ(seen->row, expected->row) << "number " << i << ": " << seen->message;
      EXPECT_EQ(seen->message, expected->message) << "number " << i;
    }
  }
  EXPECT_GT(refused, trials(150) / 3);
}

SPTRSV_TESTS(bad_input, shapes_and_offsets, entries_twice_and_missing_pivots,
             random_accidents_are_named_as_on_the_host, null_arrays,
             arrays_of_an_owning_matrix_of_wrong_lengths, max_rhs_beyond_the_address_space,
             elements_that_overlap, a_solver_that_was_moved_from, the_workspace_of_another_solver,
             sizes_of_b_x_and_the_values, a_refused_call_does_no_harm,
             more_rows_or_entries_than_the_types_can_count, matrices_of_blocks,
             random_accidents_of_blocks_are_named_as_on_the_host);

/// Arrays of host memory, which a device policy cannot read.
template <class Types>
class host_memory_for_a_device_policy : public bad_input<Types> {
 public:
  using bad_input<Types>::bad_input;
};

SPTRSV_TEST_P(host_memory_for_a_device_policy, is_refused) {
  using value = typename TypeParam::value;
  const auto host = this->make(patterns::chain(3), {}).by_rows;
  const auto there = this->where.upload(host);
  const auto stream = this->where.stream();
  const auto good = detail::view_of(there);
  auto bad = good;
  bad.row_offsets = host.row_offsets.data();
  this->expect(this->failure_of(bad), errc::wrong_memory_space, "offsets", "offsets");
  bad = good;
  bad.column_indices = host.column_indices.data();
  this->expect(this->failure_of(bad), errc::wrong_memory_space, "indices", "indices");
  bad = good;
  bad.values = host.values.data();
  this->expect(this->failure_of(bad), errc::wrong_memory_space, "values", "values");
  this->expect(this->failure_of(host), errc::wrong_memory_space, "device memory", "all");

  auto solver = this->good_solver();
  std::vector<value> vector(3, value(1));
  auto on_device = this->where.upload(vector);
  this->expect(failure::of([&] { solver.solve(vector, on_device, stream); }), errc::wrong_memory_space, "b ",
               "b");
  this->expect(failure::of([&] { solver.solve(on_device, vector, stream); }), errc::wrong_memory_space, "x ",
               "x");
  this->expect(failure::of([&] { solver.update_values(host.values, stream); }), errc::wrong_memory_space,
               "values", "values");
}

SPTRSV_TESTS(host_memory_for_a_device_policy, is_refused);

}  // namespace sptrsv::testing
