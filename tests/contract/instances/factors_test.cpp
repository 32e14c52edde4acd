// Factors on the host and in the emulator.
#include "contract/factors_suite.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "support/counting_resource.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

struct case_names {
  template <class Case>
  static std::string GetName(int) {
    return Case::name();
  }
};

using host_cases = ::testing::Types<factors_case<policy::host_serial, host_target, double>,
                                    factors_case<policy::host_parallel, host_target, std::complex<double>>>;
using emulator_cases = ::testing::Types<
    factors_case<policy::automatic<>, emulator_target, double>,
    factors_case<policy::sync_free_thread, emulator_target, double, std::int32_t, std::int64_t>,
    factors_case<policy::sync_free_thread, emulator_target, std::complex<float>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(host, factors_suite, host_cases, case_names);
INSTANTIATE_TYPED_TEST_SUITE_P(emulator, factors_suite, emulator_cases, case_names);

struct emulated_factors : factors_suite<factors_case<policy::sync_free_thread, emulator_target, double>> {
  void TestBody() override {}
};

/// Returns factors with everything that an application can do: D, permutations, scalings and the transpose.
emulated_factors::problem everything(std::int64_t size) {
  auto options = emulated_factors::options_type::ldl();
  options.transposed = op::transpose;
  options.max_rhs = 2;
  return emulated_factors::transformed(options, size, 7);
}

TEST(Factors, AreAppliedInACapture) {
  emulated_factors s;
  const pattern p = patterns::stencil_2d(6, 5);
  const auto a = s.make_stored(p, false);
  const auto system = everything(p.size);
  auto f = s.analyze_on_target(a, a, system);
  const layout shape = column_major(p.size, 2);
  const auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), 1);
  const auto from = s.where.upload(b);
  auto to = s.where.upload(poisoned<double>(shape.extent));
  const auto values = s.where.upload(a.values());
  const auto input = shape.view(static_cast<const double*>(from.data()));
  const auto before = s.where.device().counters;
  s.where.device().capturing = true;
  f.update_values(values, s.where.stream());
  f.apply_transpose(input, shape.view(to.data()), s.where.stream());
  f.apply(input, shape.view(to.data()), s.where.stream());
  s.where.device().capturing = false;
  EXPECT_EQ(s.where.device().counters.allocations, before.allocations);
  EXPECT_EQ(s.where.device().counters.synchronizations, before.synchronizations);
  emulated_factors::expect_applied(emulated_factors::product_of(a, a, system.options), system, op::none,
                                   shape, b, s.where.download(to), "captured");
}

/// All memory comes from the given resource, info() says how much it is, and all is given back.
TEST(Factors, SayWhatTheyHold) {
  emulated_factors s;
  const pattern p = patterns::stencil_2d(6, 5);
  const auto a = s.make_stored(p, false);
  const auto there = s.where.upload(a.by_rows);
  const auto system = everything(p.size);
  const auto row_order = s.where.upload(system.row_order);
  const auto column_scale = s.where.upload(system.column_scale);
  auto options = system.options;
  options.row_order = row_order;
  options.column_scale = column_scale;
  emulator::device other;
  counting_resource counted(other.resource());
  {
    auto f = analyze_factors(policy::sync_free_thread{}, there, options, s.where.stream(), &counted);
    const factors_info info = f.info();
    EXPECT_EQ(counted.live_bytes(), info.bytes + info.workspace_bytes);
    EXPECT_EQ(counted.largest_bytes(), info.analysis_peak_bytes);
    const auto scratch = f.make_workspace(s.where.stream());
    EXPECT_EQ(counted.live_bytes(), info.bytes + 2 * info.workspace_bytes);
    auto moved = std::move(f);
    f = analyze_factors(policy::sync_free_thread{}, there, options, s.where.stream(), &counted);
    f = std::move(moved);
  }
  EXPECT_EQ(counted.live_bytes(), 0u);
  EXPECT_EQ(counted.mistakes(), 0u);
}

/// Refactorised and applied again: two calls.
TEST(Factors, FollowAnIncompleteFactorisation) {
  emulated_factors s;
  const pattern p = patterns::chain(40);  // the factors are complete
  form f;
  f.holds = content::general;
  const auto a = s.make(p, f, 1);
  auto changed = a;
  for (std::int64_t i = 0; i < p.size; ++i) {
    changed.set(i, i, 3 + static_cast<double>(i % 4));
  }
  const auto there = s.where.upload(a.by_rows);
  const auto values = s.where.upload(changed.values());
  const auto stream = s.where.stream();
  auto ilu = analyze_incomplete_lu(there, {}, stream);
  auto factored = analyze_factors(policy::sync_free_thread{}, ilu.view(there), {}, stream);
  ilu.factorize(values, stream);
  factored.update_values(ilu.values(), stream);
  const auto b = random_vector<double>(p.size, 1);
  const auto x = s.apply(factored, op::none, single(p.size), b);
  const dense_matrix dense = s.to_dense(changed);
  for (std::int64_t i = 0; i < p.size; ++i) {
    long double residual = b[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < p.size; ++j) {
      residual -= dense.at(i, j).real() * x[static_cast<std::size_t>(j)];
    }
    EXPECT_LE(std::abs(residual), 1e-14L) << "row " << i;
  }
}

/// With a policy that shares panels between a factor and its transpose, the second factor of L L^H and the
/// transposes of L and U take little memory.
TEST(Factors, ShareThePanelsOfTheTranspose) {
  using suite = factors_suite<factors_case<policy::supernodal, emulator_target, double>>;
  struct emulated : suite {
    void TestBody() override {}
  };
  emulated s;
  const pattern p = patterns::dense(40);
  for (const auto& [name, options_of_both] : suite::all_options()) {
    auto options = options_of_both;
    const auto a = suite::make_stored(p, false, 2);
    options.transposed = op::transpose;
    auto f = s.analyze_on_target(a, a, {options});
    const auto changed = suite::make_stored(p, false, 4);
    const auto values = s.where.upload(changed.values());
    f.update_values(values, s.where.stream());
    const auto m = suite::product_of(changed, changed, options);
    const auto b = random_vector<double>(p.size, 1);
    for (const op operation : {op::none, op::transpose}) {
      suite::expect_applied(m, {options}, operation, single(p.size), b,
                            s.apply(f, operation, single(p.size), b), name);
    }
    const auto live_bytes_of = [&](const auto& make) {
      const std::size_t before = s.where.device().live_bytes();
      const auto made = make();
      return s.where.device().live_bytes() - before;
    };
    const auto there = s.where.upload(a.by_rows);
    std::size_t alone = 0;
    for (const uplo part : {uplo::lower, uplo::upper}) {
      alone += live_bytes_of([&] {
        return analyze(policy::supernodal{}, there, {part, options.first.diagonal}, s.where.stream());
      });
    }
    const std::size_t together = live_bytes_of(
        [&] { return analyze_factors(policy::supernodal{}, there, options, s.where.stream()); });
    const bool is_one_triangle = options.first.part == options.second.part;
    EXPECT_LT(together, is_one_triangle ? alone * 9 / 10 : alone * 9 / 5) << name << ": of " << alone;
  }
}

/// Expects the row_per_thread path of small systems.
struct rows_tuning : experimental::dataflow_tuning {
  static constexpr std::int64_t wide_enough_for_rows = 40;
};
using rows_policy = policy::basic_dataflow<rows_tuning>;

/// The levels of both triangles that are searched in one launch are those of each of them alone, and a policy
/// that searches them so gives the bits of two solvers.
TEST(Factors, OfOneMatrixAreAnalysedTogether) {
  emulated_factors s;
  for (std::uint64_t seed = 0; seed < trials(8); ++seed) {
    const pattern p = seed % 2 == 0 ? patterns::stencil_2d(30, 21) : patterns::chain(700);
    const auto stored = s.make_stored(p, false, 2);
    const auto there = s.where.upload(stored.by_rows);
    s.where.device().settings = hostile_settings(seed, 0);
    const auto& on = s.where.on();
    const auto a = detail::pattern_of(detail::view_of(there));
    const std::array forms{detail::triangle_form(system_options{uplo::lower}, false),
                           detail::triangle_form(system_options{uplo::upper}, false)};
    const auto both = detail::build_with_levels<2>(a, forms, {32, 48}, {48, 0, INT64_MAX}, true, on,
                                                   s.where.resource(), [](const auto&...) {});
    for (std::size_t k = 0; k < 2; ++k) {
      const auto alone = detail::build_on_device(a, forms[k], on, s.where.resource());
      const auto expected = detail::levels_of_rows(alone, on, s.where.resource(), true);
      EXPECT_EQ(both[k].levels->count, expected.count);
      EXPECT_EQ(both[k].levels->count_of_blocks, expected.count_of_blocks);
      EXPECT_EQ(detail::download_array(both[k].levels->of_row.data(), p.size, on),
                detail::download_array(expected.of_row.data(), p.size, on));
      EXPECT_EQ(detail::download_array(both[k].triangle.columns.data(), alone.entries(), on),
                detail::download_array(alone.columns.data(), alone.entries(), on));
    }
    const auto split = detail::build_with_levels<2>(a, forms, {2, 0}, {0, 0, INT64_MAX}, true, on,
                                                    s.where.resource(), [](const auto&...) {});
    EXPECT_FALSE(split[0].levels || split[1].levels) << "rows are to be split";
  }
  const auto stored = s.make_stored(patterns::stencil_2d(12, 11), false, 2);
  const auto there = s.where.upload(stored.by_rows);
  const rows_policy policy;
  const auto b = s.where.upload(random_vector<double>(stored.by_rows.rows, 1));
  auto x = s.where.upload(random_vector<double>(stored.by_rows.rows, 2));
  auto expected = s.where.upload(random_vector<double>(stored.by_rows.rows, 3));
  auto f = analyze_factors(policy, there, {}, s.where.stream());
  auto lower = analyze(policy, there, {uplo::lower, diag::unit}, s.where.stream());
  auto upper = analyze(policy, there, {uplo::upper}, s.where.stream());
  f.apply(b, x, s.where.stream());
  lower.solve(b, expected, s.where.stream());
  upper.solve(expected, expected, s.where.stream());
  EXPECT_TRUE(same_bits(s.where.download(x), s.where.download(expected)));
  EXPECT_GE(f.info().analysis_peak_bytes, f.info().bytes);
}

/// Expects that both factors of a matrix have the plans and the bits of two solvers, whose solutions are
/// right.
template <class Matrix>
void expect_two_solvers(emulated_factors& s, const Matrix& here, const rows_policy& policy,
                        emulated_factors::options_type options) {
  const std::int64_t max_rhs = options.max_rhs;
  const auto there = s.where.upload(here);
  counting_resource counted(s.where.resource());
  auto f = analyze_factors(policy, there, options, s.where.stream(), &counted);
  EXPECT_GE(f.info().analysis_peak_bytes, counted.largest_bytes());
  const auto analyze_one = [&](const triangular_factor& of) {
    return analyze(policy, there, {of.part, of.diagonal, of.operation, max_rhs}, s.where.stream());
  };
  auto lower = analyze_one(options.first);
  auto upper = analyze_one(options.second);
  const factors_info info = f.info();
  for (int k = 0; k < 2; ++k) {
    const solver_info alone = k == 0 ? lower.info() : upper.info();
    const solver_info& seen = info.solvers[static_cast<std::size_t>(k)];
    EXPECT_EQ(seen.plan, alone.plan);
    EXPECT_EQ(seen.path, alone.path);
    EXPECT_EQ(seen.levels, alone.levels);
    EXPECT_EQ(seen.entries, alone.entries);
    EXPECT_EQ(seen.longest_row, alone.longest_row);
    EXPECT_EQ(seen.solver_bytes, alone.solver_bytes);
  }
  const layout shape = column_major(f.rows(), max_rhs);
  const auto rhs = random_vector<double>(static_cast<std::int64_t>(shape.extent), 1);
  const auto b = s.where.upload(rhs);
  auto x = s.where.upload(poisoned<double>(shape.extent));
  auto expected = s.where.upload(poisoned<double>(shape.extent));
  const auto from = shape.view(static_cast<const double*>(b.data()));
  f.apply(from, shape.view(x.data()), s.where.stream());
  lower.solve(from, shape.view(expected.data()), s.where.stream());
  if (policy.exact_order) {
    const auto first_column = [&](const auto& v) {
      return std::vector<double>(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(f.rows()));
    };
    const system_options first{options.first.part, options.first.diagonal, options.first.operation};
    EXPECT_TRUE(
        backward_error(here, first, first_column(rhs), first_column(s.where.download(expected))).ok());
  }
  upper.solve(shape.view(static_cast<const double*>(expected.data())), shape.view(expected.data()),
              s.where.stream());
  EXPECT_TRUE(same_bits(s.where.download(x), s.where.download(expected)));
}

/// Systems of each path, with rows to split, without entries, and in storage that is to be sorted.
TEST(Factors, OfOneMatrixHaveThePlansOfTwoSolvers) {
  emulated_factors s;
  std::uint64_t turn = 0;
  for (const pattern& p :
       {patterns::stencil_2d(30, 20), patterns::layers(600, 200, 3), patterns::chain(200),
        patterns::power_law(300, 3), patterns::arrow_row(120), patterns::diagonal(100),
        patterns::band(150, 60), patterns::band(257, 14), patterns::dense(60),
        patterns::block_diagonal(300, 3), patterns::random(300, 2, 5), patterns::uneven_chain(250)}) {
    for (int k = 0; k < 2; ++k) {
      ++turn;
      SCOPED_TRACE(p.name + ", " + std::to_string(turn));
      s.where.device().settings = hostile_settings(turn, turn % 3 == 0 ? 7 : 0);
      rows_policy policy;
      policy.exact_order = turn % 5 != 0;
      auto options =
          turn % 4 < 2 ? emulated_factors::options_type::lu() : emulated_factors::options_type::cholesky();
      options.max_rhs = turn % 7 == 0 ? 3 : 1;
      // Rows that are not sorted in every other turn.
      const auto stored = s.make_stored(p, turn % 6 == 0, turn);
      if (stored.is_csc) {
        expect_two_solvers(s, stored.by_columns, policy, options);
      } else {
        expect_two_solvers(s, stored.by_rows, policy, options);
      }
    }
  }
}

/// A fault in either triangle is reported as the analysis of this triangle alone reports it.
TEST(Factors, OfOneMatrixReportItsFaults) {
  emulated_factors s;
  const auto expect_fault = [&](const csr_matrix<double>& a, errc code, std::int64_t row) {
    const auto there = s.where.upload(a);
    const auto seen = failure::of([&] { analyze_factors(rows_policy{}, there, {}, s.where.stream()); });
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->code, code);
    EXPECT_EQ(seen->row, row);
  };
  const auto sound = s.make_stored(patterns::band(60, 3), false, 2).by_rows;
  const auto begin_of = [&](std::int64_t row) {
    return static_cast<std::size_t>(sound.row_offsets[static_cast<std::size_t>(row)]);
  };
  auto a = sound;
  a.column_indices[begin_of(31) - 1] = 60;
  expect_fault(a, errc::index_out_of_range, 30);
  a = sound;
  a.column_indices[begin_of(21) - 1] = a.column_indices[begin_of(21) - 2];  // above the diagonal
  expect_fault(a, errc::duplicate_entry, 20);
  a = sound;
  a.column_indices[begin_of(40) + 1] = a.column_indices[begin_of(40)];  // below it
  expect_fault(a, errc::duplicate_entry, 40);
}

/// A system so large that both factors are analysed at the same time.
TEST(Factors, OfLargeSystemsAreAnalysedTogether) {
  using suite = factors_suite<factors_case<policy::host_parallel, host_target, double>>;
  const pattern p = patterns::stencil_2d(120, 100);
  auto a = suite::make_stored(p, false);
  const auto b = random_vector<double>(p.size, 1);
  std::vector<double> x(b.size());
  std::vector<double> expected(b.size());
  auto f = analyze_factors(policy::host_parallel{}, a.by_rows);
  auto lower = analyze(policy::host_parallel{}, a.by_rows, {uplo::lower, diag::unit});
  auto upper = analyze(policy::host_parallel{}, a.by_rows, {uplo::upper});
  f.apply(b, x);
  lower.solve(b, expected);
  upper.solve(expected, expected);
  EXPECT_TRUE(same_bits(x, expected));

  a.by_rows.column_indices.back() = static_cast<std::int32_t>(p.size);
  const auto seen = failure::of([&] { analyze_factors(policy::host_parallel{}, a.by_rows); });
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->code, errc::index_out_of_range);
  EXPECT_EQ(seen->row, p.size - 1);
}

}  // namespace sptrsv::testing
