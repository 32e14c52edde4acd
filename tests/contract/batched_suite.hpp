// Batches of systems with one pattern: every system is held against the definition of its solution.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/batched.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

/// The stride of each dimension of the views of a batch.
enum class batch_order {
  systems_last,   ///< each system contiguous, without gaps
  systems_first,  ///< the systems interleaved, with gaps
  backwards       ///< with gaps and negative strides
};

template <class Types>
class batched : public on_target<Types> {
 public:
  using typename on_target<Types>::value_type;
  using typename on_target<Types>::index_type;
  using typename on_target<Types>::offset_type;
  using typename on_target<Types>::matrix;
  using typename on_target<Types>::target;
  using solver_type = batched_solver<value_type, index_type, offset_type, typename target::stream_type>;

  /// The matrices of a batch.
  struct systems {
    std::vector<matrix> all;
    std::int64_t stride;  ///< of the values

    /// Returns the values, with NaN between the systems.
    [[nodiscard]] std::vector<value_type> values() const {
      const std::size_t entries = all.front().values().size();
      std::vector<value_type> made(static_cast<std::size_t>(stride) * (all.size() - 1) + entries,
                                   make_value<value_type>(std::numeric_limits<double>::quiet_NaN()));
      for (std::size_t s = 0; s < all.size(); ++s) {
        std::copy(all[s].values().begin(), all[s].values().end(),
                  made.begin() + static_cast<std::ptrdiff_t>(s * static_cast<std::size_t>(stride)));
      }
      return made;
    }
  };

  static systems make_systems(const pattern& p, const form& f, std::int64_t count, std::int64_t gap,
                              std::uint64_t seed) {
    const matrix first = on_target<Types>::make(p, f, seed);
    random_source source(seed);
    systems made{{}, static_cast<std::int64_t>(first.values().size()) + gap};
    for (std::int64_t s = 0; s < count; ++s) {
      made.all.push_back(first);
      for (value_type& v : made.all.back().values()) {
        v = v * make_value<value_type>(source.between(0.25, 1));  // as matrices.hpp wants it but for pivots
      }
      for (std::int64_t i = 0; f.stores_diagonal && i < p.size; ++i) {
        made.all.back().set(
            i, i, first.values()[first.index_of(i, i)] * make_value<value_type>(source.between(1, 2)));
      }
    }
    return made;
  }

  struct views {
    batch_view<value_type> of;  ///< from index 0 of the array
    std::size_t first;          ///< index of element (0, 0) of system 0
    std::size_t extent;

    [[nodiscard]] std::size_t at(std::int64_t s, std::int64_t i, std::int64_t j) const {
      return static_cast<std::size_t>(static_cast<std::int64_t>(first) + s * of.system_stride +
                                      i * of.row_stride + j * of.column_stride);
    }
    [[nodiscard]] batch_view<value_type> on(value_type* data) const {
      batch_view<value_type> made = of;
      made.data = data + first;
      return made;
    }
  };
  static views shape_of(batch_order order, std::int64_t count, std::int64_t rows, std::int64_t columns) {
    const auto extent = [](std::int64_t v) { return static_cast<std::size_t>(v); };
    switch (order) {
      case batch_order::systems_last:
        return {batch_view<value_type>::contiguous(nullptr, count, rows, columns), 0,
                extent(count * rows * columns)};
      case batch_order::systems_first: {
        const std::int64_t row = count + 1;
        return {
            {nullptr, count, rows, columns, row, row * rows + 2, 1}, 0, extent((row * rows + 2) * columns)};
      }
      default: {
        const std::int64_t column = rows + 3;
        const std::int64_t system = column * columns + 1;
        return {{nullptr, count, rows, columns, -1, column, -system},
                extent(system * (count - 1) + rows - 1),
                extent(system * count + rows)};
      }
    }
  }

  /// Solves and returns the array of x, whose gaps must be untouched.
  std::vector<value_type> solve_batch(solver_type& solver, const views& shape,
                                      const std::vector<value_type>& b, value_type alpha = value_type(1)) {
    const auto from = this->where.upload(b);
    auto before = poisoned<value_type>(shape.extent);
    const auto to = this->where.upload(before);
    solver.solve(shape.on(from.data()), shape.on(to.data()), alpha, this->where.stream());
    const std::vector<value_type> x = this->where.download(to);
    for (std::int64_t s = 0; s < shape.of.systems; ++s) {
      for (std::int64_t j = 0; j < shape.of.columns; ++j) {
        for (std::int64_t i = 0; i < shape.of.rows; ++i) {
          before[shape.at(s, i, j)] = x[shape.at(s, i, j)];
        }
      }
    }
    EXPECT_TRUE(same_bits(before, x)) << "wrote between the elements of x";
    EXPECT_TRUE(same_bits(this->where.download(from), b)) << "wrote to b";
    return x;
  }

  static void expect_batch_solved(const systems& a, const form& f, const std::string& name,
                                  const views& shape, const std::vector<value_type>& b,
                                  const std::vector<value_type>& x, value_type alpha = value_type(1)) {
    for (std::size_t s = 0; s < a.all.size(); ++s) {
      for (std::int64_t j = 0; j < shape.of.columns; ++j) {
        std::vector<value_type> of_b;
        std::vector<value_type> of_x;
        for (std::int64_t i = 0; i < shape.of.rows; ++i) {
          of_b.push_back(b[shape.at(static_cast<std::int64_t>(s), i, j)]);
          of_x.push_back(x[shape.at(static_cast<std::int64_t>(s), i, j)]);
        }
        on_target<Types>::expect_solved(a.all[s], f, name + ", system " + std::to_string(s), of_b, of_x,
                                        alpha);
      }
    }
  }

  template <class Use>
  auto with_matrix(const matrix& a, Use&& use) {
    return a.visit([&](const auto& stored) { return use(this->where.upload(stored)); });
  }

  /// Analyses the systems. With a given number of lanes, one system and two together take turns.
  solver_type analyze_systems(const systems& a, const form& f, int lanes, std::int64_t max_rhs = 1) {
    const auto values = this->where.upload(a.values());
    return with_matrix(a.all.front(), [&](const auto& there) {
      const int together = lanes == 0 || sizeof(value_type) > 8 ? 0 : 1 + analyses_++ % 2;
      return analyze_batch(there, values,
                           {static_cast<std::int64_t>(a.all.size()), a.stride, lanes, together},
                           f.options(max_rhs), this->where.stream());
    });
  }

  /// Analyses, solves, updates the values and solves again.
  void check_batch(const pattern& p, const form& f, std::int64_t count, int lanes, batch_order order,
                   std::int64_t columns, std::uint64_t seed) {
    const systems a = make_systems(p, f, count, static_cast<std::int64_t>(seed % 3), seed);
    auto solver = analyze_systems(a, f, lanes, columns);
    const views shape = shape_of(order, count, p.size, columns);
    const auto b = random_vector<value_type>(static_cast<std::int64_t>(shape.extent), seed);
    const std::string name = p.name + ", " + std::to_string(count) + " systems, " + std::to_string(lanes) +
                             " lanes, order " + std::to_string(static_cast<int>(order));
    const auto alpha = make_value<value_type>(0.5, 2);
    expect_batch_solved(a, f, name, shape, b, solve_batch(solver, shape, b, alpha), alpha);
    const systems next = make_systems(p, f, count, static_cast<std::int64_t>(seed % 3), seed);
    const auto values = this->where.upload(next.values());
    solver.update_values(values, this->where.stream());
    expect_batch_solved(next, f, name + ", new values", shape, b, solve_batch(solver, shape, b));
    EXPECT_TRUE(solver.status(this->where.stream()).ok());
  }

 private:
  int analyses_ = 0;
};

TYPED_TEST_SUITE_P(batched);

TYPED_TEST_P(batched, solve_every_system) {
  std::size_t turn = 0;
  const int lanes[] = {0, 4, 8, 16, 32};
  const std::vector<pattern> all = {patterns::diagonal(1),        patterns::chain(9),
                                    patterns::dense(40),          patterns::arrow_row(70),
                                    patterns::arrow_column(40),   patterns::random(60, 5, 2),
                                    patterns::stencil_2d(10, 10), patterns::layers(120, 40, 3),
                                    patterns::power_law(90, 4),   patterns::block_diagonal(66, 33)};
  for (const pattern& p : all) {
    for (const form& f : this->forms_in_turn(turn)) {
      const std::int64_t count = 1 + static_cast<std::int64_t>(turn * 5 % 11);
      this->check_batch(p, f, count, lanes[turn % 5], static_cast<batch_order>(turn % 3),
                        1 + static_cast<std::int64_t>(turn % 2), turn + 1);
      ++turn;
    }
  }
}

/// b in the place of x, and one right-hand side for all systems.
TYPED_TEST_P(batched, share_and_overwrite_right_hand_sides) {
  const pattern p = patterns::stencil_2d(7, 6);
  const form f = this->forms_in_turn(0).front();
  const auto a = this->make_systems(p, f, 6, 0, 1);
  auto solver = this->analyze_systems(a, f, 8);
  const auto shape = this->shape_of(batch_order::systems_last, 6, p.size, 1);
  const auto b = random_vector<typename TestFixture::value_type>(6 * p.size, 3);
  const auto expected = this->solve_batch(solver, shape, b);
  const auto both = this->where.upload(b);
  solver.solve(shape.on(both.data()), shape.on(both.data()), this->where.stream());
  EXPECT_TRUE(same_bits(this->where.download(both), expected));

  const auto shared = this->where.upload(b);
  auto repeated = shape.on(shared.data());
  repeated.system_stride = 0;
  solver.solve(repeated, shape.on(both.data()), this->where.stream());
  auto copies = b;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i] = b[i % static_cast<std::size_t>(p.size)];
  }
  EXPECT_TRUE(same_bits(this->where.download(both), this->solve_batch(solver, shape, copies)));
}

TYPED_TEST_P(batched, name_the_system_and_the_row) {
  using value = typename TestFixture::value_type;
  for (const uplo part : {uplo::lower, uplo::upper}) {
    const pattern p = patterns::chain(12);
    form f;
    f.part = part;
    auto a = this->make_systems(p, f, 9, 2, 1);
    auto solver = this->analyze_systems(a, f, 0, 2);
    const auto shape = this->shape_of(batch_order::systems_first, 9, p.size, 1);
    const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
    a.all[7].set(3, 3, value(0));
    a.all[4].set(5, 5, value(0));
    solver.update_values(this->where.upload(a.values()), this->where.stream());
    const auto x = this->solve_batch(solver, shape, b);
    batch_status status = solver.status(this->where.stream());
    EXPECT_EQ(status.code, solve_status::kind::zero_pivot);
    EXPECT_EQ(status.system, 4);
    EXPECT_EQ(status.row, 5);
    a.all[4].set(5, 5, value(1));
    a.all[7].set(3, 3, value(1));
    solver.update_values(this->where.upload(a.values()), this->where.stream());
    auto bad = b;
    bad[shape.at(8, 6, 0)] = make_value<value>(std::numeric_limits<double>::infinity());
    this->solve_batch(solver, shape, bad);
    status = solver.status(this->where.stream());
    EXPECT_EQ(status.code, solve_status::kind::non_finite);
    EXPECT_EQ(status.system, 8);
    EXPECT_EQ(status.row, 6);
    const auto two = this->shape_of(batch_order::systems_last, 9, p.size, 2);  // the first one is bad
    bad = random_vector<value>(static_cast<std::int64_t>(two.extent), 3);
    bad[two.at(2, 1, 0)] = make_value<value>(std::numeric_limits<double>::infinity());
    this->solve_batch(solver, two, bad);
    status = solver.status(this->where.stream());
    EXPECT_EQ(status.system, 2);
    EXPECT_EQ(status.row, 1);
    const auto again = this->solve_batch(solver, shape, b);
    EXPECT_TRUE(solver.status(this->where.stream()).ok());
    this->expect_batch_solved(a, f, "after a zero pivot", shape, b, again);
  }
}

/// A pivot without a safe reciprocal is divided by.
TYPED_TEST_P(batched, divide_by_extreme_pivots) {
  using value = typename TestFixture::value_type;
  using real = detail::real_t<value>;
  const pattern p = patterns::chain(10);
  const form f;
  auto a = this->make_systems(p, f, 3, 0, 1);
  auto b = random_vector<value>(30, 3);
  const auto tiny = static_cast<double>(std::numeric_limits<real>::denorm_min());
  a.all[1].set(4, 4, make_value<value>(4 * tiny));
  a.all[1].set(4, 3, value(0));
  a.all[1].set(5, 4, value(0));
  b[14] = make_value<value>(8 * tiny);
  auto solver = this->analyze_systems(a, f, 0);
  const auto shape = this->shape_of(batch_order::systems_last, 3, p.size, 1);
  const auto x = this->solve_batch(solver, shape, b);
  EXPECT_EQ(x[14], value(2));
  EXPECT_TRUE(solver.status(this->where.stream()).ok());
  this->expect_batch_solved(a, f, "extreme", shape, b, x);
}

TYPED_TEST_P(batched, refuse_bad_input) {
  using value = typename TestFixture::value_type;
  using index = typename TestFixture::index_type;
  using offset = typename TestFixture::offset_type;
  const auto stream = this->where.stream();
  const auto raw = [&](const raw_matrix& m, batch_options batch, std::size_t values_count) {
    const raw_arrays<typename TestFixture::target, value, index, offset> there(this->where, m);
    const auto values = this->where.upload(std::vector<value>(values_count, value(1)));
    return failure::of(
        [&] { there.visit([&](const auto& a) { analyze_batch(a, values, batch, {}, stream); }); });
  };
  const raw_matrix good = raw_matrix::of({{0}, {0, 1}, {1, 2}});
  EXPECT_FALSE(raw(good, {4}, 20).has_value());
  EXPECT_FALSE(raw(good, {4, 6}, 23).has_value());
  EXPECT_EQ(raw(good, {4}, 19)->code, errc::size_mismatch);
  EXPECT_EQ(raw(good, {4, 6}, 22)->code, errc::size_mismatch);
  EXPECT_EQ(raw(good, {4, 4}, 20)->code, errc::invalid_argument);
  EXPECT_EQ(raw(good, {-1}, 20)->code, errc::invalid_argument);
  EXPECT_EQ(raw(good, {4, 0, 5}, 20)->code, errc::invalid_argument);
  EXPECT_EQ(raw(good, {4, 0, 0, 3}, 20)->code, errc::invalid_argument);
  const auto missing = raw(raw_matrix::of({{0}, {0}, {1, 2}}), {2}, 8);
  EXPECT_EQ(missing->code, errc::missing_diagonal);
  EXPECT_EQ(missing->row, 1);
  EXPECT_EQ(raw(raw_matrix::of({{0}, {0, 1, 0}}), {2}, 8)->code, errc::duplicate_entry);
  EXPECT_EQ(raw(raw_matrix::of({{0}, {0, 7}}), {2}, 6)->code, errc::index_out_of_range);
  std::vector<std::vector<std::int64_t>> many;
  for (std::int64_t i = 0; i < 70000; ++i) {
    many.push_back({i});
  }
  const auto large = raw(raw_matrix::of(many), {1}, 70000);
  EXPECT_EQ(large->code, errc::unsupported);
  EXPECT_TRUE(large->mentions("shared memory")) << large->message;

  const form f;
  const auto a = this->make_systems(patterns::chain(5), f, 3, 0, 1);
  auto solver = this->analyze_systems(a, f, 0, 2);
  const auto memory = this->where.upload(std::vector<value>(100, value(1)));
  const auto solve = [&](batch_view<value> b, batch_view<value> x) {
    return failure::of([&] { solver.solve(b, x, stream); });
  };
  const auto view = [&](std::int64_t count, std::int64_t rows, std::int64_t columns) {
    return batch_view<value>::contiguous(memory.data(), count, rows, columns);
  };
  EXPECT_FALSE(solve(view(3, 5, 2), view(3, 5, 2)).has_value());
  EXPECT_EQ(solve(view(2, 5, 1), view(3, 5, 1))->code, errc::size_mismatch);
  EXPECT_EQ(solve(view(3, 5, 1), view(3, 4, 1))->code, errc::size_mismatch);
  EXPECT_EQ(solve(view(3, 5, 1), view(3, 5, 2))->code, errc::size_mismatch);
  EXPECT_EQ(solve(view(3, 5, 3), view(3, 5, 3))->code, errc::too_many_rhs);
  std::vector<value> here(15);
  EXPECT_EQ(solve(batch_view<value>::contiguous(here.data(), 3, 5), view(3, 5, 1))->code,
            errc::wrong_memory_space);
  EXPECT_EQ(solve(view(3, 5, 1), batch_view<value>::contiguous(nullptr, 3, 5))->code, errc::invalid_argument);
  EXPECT_EQ(solve(view(3, 5, 1), {memory.data(), 3, 5, 1, 1, 0, 4})->code, errc::invalid_argument);
  EXPECT_FALSE(solve({memory.data(), 3, 5, 1, 0, 0, 0}, {memory.data() + 1, 3, 5, 1, 4, 0, 1}).has_value());
  EXPECT_EQ(solve(view(3, 5, 1), {memory.data(), 3, 5, 1, INT64_MAX / 8, 0, 1})->code,
            errc::invalid_argument);
  const auto few = this->where.upload(std::vector<value>(3, value(1)));
  EXPECT_EQ(failure::of([&] { solver.update_values(few, stream); })->code, errc::size_mismatch);
  auto moved = std::move(solver);
  EXPECT_EQ(solve(view(3, 5, 1), view(3, 5, 1))->code, errc::invalid_argument);
  EXPECT_EQ(moved.systems(), 3);
  EXPECT_EQ(moved.rows(), 5);
}

/// A batch without systems, and systems without rows.
TYPED_TEST_P(batched, of_nothing_are_solved) {
  using value = typename TestFixture::value_type;
  const form f;
  auto a = this->make_systems(patterns::chain(5), f, 1, 0, 1);
  const auto values = this->where.upload(a.values());
  this->with_matrix(a.all.front(), [&](const auto& there) {
    auto none = analyze_batch(there, values, {0}, {}, this->where.stream());
    none.solve(batch_view<const value>(nullptr, 0, 5, 1, 1, 5, 5), {nullptr, 0, 5, 1, 1, 5, 5},
               this->where.stream());
    EXPECT_TRUE(none.status(this->where.stream()).ok());
  });
  const auto empty = this->make_systems(patterns::diagonal(0), f, 3, 0, 1);
  auto solver = this->analyze_systems(empty, f, 0);
  solver.solve(batch_view<const value>(nullptr, 3, 0, 1, 1, 0, 0), {nullptr, 3, 0, 1, 1, 0, 0},
               this->where.stream());
  EXPECT_TRUE(solver.status(this->where.stream()).ok());
}

TYPED_TEST_P(batched, describe_themselves) {
  form f;
  f.holds = content::ascending;
  const auto a = this->make_systems(patterns::stencil_2d(6, 5), f, 4, 0, 1);
  auto solver = this->analyze_systems(a, f, 16);
  const solver_info info = solver.info();
  EXPECT_EQ(info.policy, "batched");
  EXPECT_EQ(info.rows, 30);
  EXPECT_EQ(info.levels, 10);
  EXPECT_EQ(info.longest_row, 2);
  EXPECT_EQ(info.entries, 30 + 49);
  EXPECT_EQ(info.ignored_entries, 49);
  EXPECT_TRUE(info.bit_reproducible);
  EXPECT_GE(info.solver_bytes, 4 * (30 + 79) * sizeof(typename TestFixture::value_type));
  EXPECT_GE(info.analysis_peak_bytes, info.solver_bytes);
  ASSERT_EQ(info.kernels.size(), 1u);
  EXPECT_EQ(info.kernels[0].warps, 2);
  EXPECT_NE(info.kernels[0].text.find("16 lanes"), std::string::npos) << info.kernels[0].text;
}

/// A matrix of blocks gives the bits of the same matrix by single rows.
TYPED_TEST_P(batched, of_matrices_of_blocks) {
  const pattern p = patterns::random(60, 5, 2);
  const auto blocks = to_bsr(this->make(p, {}).by_rows, 4);
  const auto solved = [&](const auto& a) {
    auto solver = analyze_batch(a, a.values, {1}, {}, this->where.stream());
    const auto shape = this->shape_of(batch_order{}, 1, p.size, 1);
    return this->solve_batch(
        solver, shape,
        random_vector<typename TestFixture::value_type>(static_cast<std::int64_t>(shape.extent), 1));
  };
  EXPECT_TRUE(same_bits(solved(this->where.upload(blocks)), solved(this->where.upload(to_csr(blocks)))));
}

REGISTER_TYPED_TEST_SUITE_P(batched, of_matrices_of_blocks, solve_every_system,
                            share_and_overwrite_right_hand_sides, name_the_system_and_the_row,
                            divide_by_extreme_pivots, refuse_bad_input, of_nothing_are_solved,
                            describe_themselves);

template <class Target>
using batched_types = ::testing::Types<case_types<Target, double, std::int32_t, std::int32_t>,
                                       case_types<Target, float, std::int64_t, std::int64_t>,
                                       case_types<Target, std::complex<double>, std::int32_t, std::int64_t>,
                                       case_types<Target, std::complex<float>, std::int32_t, std::int32_t>>;

}  // namespace sptrsv::testing
