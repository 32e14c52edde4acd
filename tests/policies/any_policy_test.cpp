// Policies that are named at run time: names, options, and what any_solver adds to the solver that it holds.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/any/any_policy.hpp"
#include "sptrsv/detail/any_solver/policy_list.hpp"

namespace sptrsv::testing {
namespace {

static_assert(!std::is_default_constructible_v<sptrsv::any_solver<double>>);
static_assert(!std::is_copy_constructible_v<sptrsv::any_solver<double>>);
static_assert(std::is_nothrow_move_constructible_v<sptrsv::any_solver<double>>);
static_assert(std::is_nothrow_move_assignable_v<sptrsv::any_solver<double>>);
static_assert(!std::is_default_constructible_v<any_factors<double>>);
static_assert(!std::is_copy_constructible_v<any_factors<double>>);
static_assert(std::is_nothrow_move_constructible_v<any_factors<double>>);
static_assert(std::is_same_v<decltype(analyze("", std::declval<const csc_view<float, std::int64_t>&>())),
                             sptrsv::any_solver<float, std::int64_t>>);

csr_matrix<double> lower() { return {2, 2, {0, 1, 3}, {0, 0, 1}, {2, 1, 4}}; }

/// Returns the error that `call` throws, as its code and its text.
template <class Call>
std::pair<errc, std::string> refusal(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    return {e.code(), e.what()};
  }
  return {errc::io_error, "no error"};
}
std::pair<errc, std::string> refusal(const char* text) {
  return refusal([&] { static_cast<void>(analyze(text, lower())); });
}
std::pair<errc, std::string> invalid(const std::string& text) { return {errc::invalid_argument, text}; }

template <class Policy>
Policy with_options(const std::string& text) {
  Policy policy;
  detail::set_options(policy, detail::words_of(text));
  return policy;
}

TEST(AnyPolicy, IsTakenByItsName) {
  for (const std::string& name : any_policy_names()) {
    auto solver = analyze(name, lower());
    EXPECT_EQ(solver.info().policy, name);
    EXPECT_EQ(solver.rows(), 2);
    EXPECT_EQ(solver.max_rhs(), 1);
    std::vector<double> x{2, 9};
    solver.solve(x, x);
    EXPECT_EQ(x, (std::vector<double>{1, 2})) << name;
  }
}

TEST(AnyPolicy, IsThatOfTheHostForMatricesOfTheHost) {
  EXPECT_EQ(analyze(any_policy(), lower()).info().policy, "host_parallel");
  EXPECT_EQ(analyze(" ", lower()).info().policy, "host_parallel");
}

TEST(AnyPolicy, RefusesUnknownNamesAndOptions) {
  EXPECT_EQ(
      refusal("fast"),
      invalid("there is no policy 'fast'; the policies are host_parallel, host_serial; this build has no "
              "CUDA, which those of the GPU need: build the library where nvcc is"));
  EXPECT_EQ(refusal("host_parallel threads=2"),
            invalid("the policy host_parallel has no option 'threads'; it has workers"));
  EXPECT_EQ(refusal("host_serial workers=2"),
            invalid("the policy host_serial has no option 'workers'; it has none"));
  EXPECT_EQ(refusal("host_parallel workers"),
            invalid("the policy host_parallel cannot have 'workers': workers is an integer"));
  EXPECT_EQ(refusal("host_parallel workers=2 workers=2"),
            invalid("the policy host_parallel has the option workers twice"));
}

TEST(AnyPolicy, HasTheMembersOfThePolicyAsOptions) {
  const auto dataflow = with_options<policy::dataflow>(
      "path=partitioned order=natural partitions=3 exact_order=no max_growth=8.5 max_fill=1 shape=2 "
      "row_per_thread_levels=4 run_levels=5");
  EXPECT_EQ(dataflow.path, policy::dataflow_path::partitioned);
  EXPECT_EQ(dataflow.order, policy::row_order::natural);
  EXPECT_EQ(dataflow.partitions, 3);
  EXPECT_FALSE(dataflow.exact_order);
  EXPECT_EQ(dataflow.max_growth, 8.5);
  EXPECT_EQ(dataflow.max_fill, 1);
  EXPECT_EQ(dataflow.shape, 2);
  EXPECT_EQ(dataflow.row_per_thread_levels, 4);
  EXPECT_EQ(dataflow.run_levels, 5);
  EXPECT_EQ(std::get<0>(with_options<policy::automatic<>>("partitions=3").candidates).partitions, 3);
  EXPECT_EQ(with_options<policy::supernodal>("max_growth=2").max_growth, 2);
  EXPECT_EQ(with_options<policy::level_set>("by=columns launches=separate").launches,
            policy::level_launches::separate);
  EXPECT_EQ(with_options<policy::self_scheduled>("by=rows order=natural").by, policy::orientation::rows);
  EXPECT_EQ(with_options<policy::sync_free_warp>("form=rows_by_length").form,
            policy::warp_form::rows_by_length);
  EXPECT_EQ(with_options<policy::sync_free_thread>("form=two_phase").form, policy::thread_form::two_phase);
  EXPECT_EQ(with_options<policy::sync_free_fused>("order=natural").order, policy::row_order::natural);
  const auto blocks =
      with_options<policy::recursive_block>("blocks=4 selector=paper triangle=serial square=vector_dcsr");
  EXPECT_EQ(blocks.blocks, 4);
  EXPECT_EQ(blocks.kernels.selector, policy::block_selector::paper);
  EXPECT_EQ(blocks.kernels.triangle, policy::triangle_kernel::serial);
  EXPECT_EQ(blocks.kernels.square, policy::square_kernel::vector_dcsr);
  EXPECT_EQ(with_options<policy::row_block>("blocks=5").blocks, 5);
  EXPECT_EQ(with_options<policy::column_block>("blocks=6").blocks, 6);
  EXPECT_EQ(to_string(with_options<policy::scheme>("nw=2 ng=4").use.value()),
            to_string(parse_scheme("nw=2 ng=4")));
  EXPECT_FALSE(with_options<policy::scheme>("").use.has_value());
  EXPECT_EQ(refusal([] { with_options<policy::level_set>("by=diagonals"); }),
            invalid("the policy level_set cannot have 'by=diagonals': by is one of rows, columns"));
  EXPECT_EQ(refusal([] { with_options<policy::scheme>("ng=x"); }).first, errc::parse_error);
}

/// The aggregates have as many members as options, so that a new member needs an option, too.
template <class Policy>
std::size_t number_of_options() {
  Policy policy;
  std::size_t count = 0;
  detail::for_each_option(policy, [&](const char*, const auto&) { ++count; });
  return count;
}
TEST(AnyPolicy, HasAnOptionForEachMember) {
  const auto [path, order, partitions, exact_order, max_growth, max_fill, shape, levels, run_levels] =
      policy::dataflow{};
  static_cast<void>(
      std::tie(path, order, partitions, exact_order, max_growth, max_fill, shape, levels, run_levels));
  EXPECT_EQ(number_of_options<policy::dataflow>(), 9U);
  const auto [blocks, kernels] = policy::column_block{};
  const auto [selector, triangle, square] = kernels;
  static_cast<void>(std::tie(blocks, selector, triangle, square));
  EXPECT_EQ(number_of_options<policy::column_block>(), 4U);
}

TEST(AnySolver, HasTheFunctionsOfASolver) {
  auto solver = analyze("host_parallel workers=2", lower(), {uplo::lower, diag::non_unit, op::none, 2});
  std::vector<double> x(2);
  solver.solve(std::vector<double>{2, 9}, x, 2.0);
  EXPECT_EQ(x, (std::vector<double>{2, 4}));
  solver.update_values(std::vector<double>{0, 1, 4});
  auto scratch = solver.make_workspace();
  solver.solve(std::vector<double>{2, 9}, x, 1.0, scratch);
  EXPECT_EQ(solver.status(scratch).code, solve_status::kind::zero_pivot);
  EXPECT_EQ(solver.status(scratch).row, 0);
  EXPECT_TRUE(solver.status().ok());
}

TEST(AnySolver, TakesASolver) {
  sptrsv::any_solver<double> solver = analyze(policy::host_serial{}, lower());
  EXPECT_EQ(solver.info().policy, "host_serial");
}

TEST(AnySolver, RefusesWhatWasMovedFromAndWorkspacesOfOthers) {
  auto solver = analyze("host_serial", lower());
  auto other = analyze("host_parallel", lower());
  auto scratch = other.make_workspace();
  std::vector<double> x{2, 9};
  EXPECT_EQ(refusal([&] { solver.solve(x, x, 1.0, scratch); }),
            invalid("the workspace belongs to another solver"));
  auto moved = std::move(other);
  moved.solve(x, x, 1.0, scratch);
  EXPECT_EQ(x, (std::vector<double>{1, 2}));
  EXPECT_EQ(refusal([&] { other.solve(x, x); }), invalid("the solver was moved from"));
  const auto moved_scratch = std::move(scratch);
  EXPECT_EQ(refusal([&] { moved.solve(x, x, 1.0, scratch); }), invalid("the workspace was moved from"));
}

/// L U with rows (1 0; 2 1) and (3 1; 0 4), so that A = (3 1; 6 6).
csr_matrix<double> lu() { return {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {3, 1, 2, 4}}; }

TEST(AnyFactors, AreAnalysedByEachPolicy) {
  const csr_matrix<double> first{2, 2, {0, 0, 1}, {0}, {2}};
  const csr_matrix<double> second{2, 2, {0, 2, 3}, {0, 1, 1}, {3, 1, 4}};
  const std::vector<std::int32_t> order{1, 0};
  for (const std::string& name : any_policy_names()) {
    auto stored_in_one = analyze_factors(name, lu());
    EXPECT_EQ(stored_in_one.info().solvers.at(1).policy, name);
    EXPECT_EQ(stored_in_one.rows(), 2);
    EXPECT_EQ(stored_in_one.max_rhs(), 1);
    std::vector<double> x(2);
    stored_in_one.apply(std::vector<double>{4, 12}, x);
    EXPECT_EQ(x, (std::vector<double>{1, 1})) << name;

    factors_options<double> options;
    options.row_order = order;
    options.transposed = op::transpose;
    auto stored_in_two = analyze_factors(name, first, second, options);
    stored_in_two.apply(std::vector<double>{12, 4}, x);
    EXPECT_EQ(x, (std::vector<double>{1, 1})) << name;
    stored_in_two.apply_transpose(std::vector<double>{9, 7}, x);
    EXPECT_EQ(x, (std::vector<double>{1, 1})) << name;
  }
}

TEST(AnyFactors, HaveTheFunctionsOfFactors) {
  any_factors<double> held = analyze_factors(policy::host_serial{}, lu());
  auto scratch = held.make_workspace();
  std::vector<double> x(2);
  held.update_values(std::vector<double>{3, 1, 2, 0});
  held.apply(std::vector<double>{4, 12}, x, scratch);
  EXPECT_EQ(held.status(scratch).code, solve_status::kind::zero_pivot);
  EXPECT_EQ(held.status(scratch).part, factor_part::second);
  EXPECT_EQ(held.status(scratch).row, 1);
  EXPECT_TRUE(held.status().ok());
  EXPECT_EQ(refusal([&] { held.apply_transpose(x, x); }),
            invalid("apply_transpose needs factors_options::transposed"));
}

TEST(AnyFactors, RefuseWorkspacesOfOthersAndUseAfterAMove) {
  any_factors<double> held = analyze_factors("host_serial", lu());
  any_factors<double> other = analyze_factors("host_serial", lu());
  auto scratch = other.make_workspace();
  std::vector<double> x(2);
  EXPECT_EQ(refusal([&] { held.apply(x, x, scratch); }), invalid("the workspace belongs to another object"));
  const auto moved = std::move(scratch);
  EXPECT_EQ(refusal([&] { other.apply(x, x, scratch); }), invalid("the workspace was moved from"));
  any_factors<double> taken = std::move(held);
  EXPECT_EQ(refusal([&] { static_cast<void>(held.rows()); }), invalid("the factors were moved from"));
  EXPECT_EQ(taken.rows(), 2);
  EXPECT_EQ(
      refusal([&] { static_cast<void>(analyze_factors("fast", lu())); }),
      invalid("there is no policy 'fast'; the policies are host_parallel, host_serial; this build has no "
              "CUDA, which those of the GPU need: build the library where nvcc is"));
}

TEST(AnyIncomplete, IsAnalysedByEachMethod) {
  const csr_matrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 2, 2, 5}};
  auto of_lu = analyze_incomplete(incomplete_method::lu, a);
  EXPECT_EQ(std::vector<double>(of_lu.values().begin(), of_lu.values().end()),
            (std::vector<double>{4, 2, 0.5, 4}));
  auto factors = analyze_factors("host_serial", of_lu.view(a));
  std::vector<double> x(2);
  factors.apply(std::vector<double>{6, 7}, x);
  EXPECT_EQ(x, (std::vector<double>{1, 1}));

  const csc_matrix<double> by_columns{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 2, 2, 5}};
  auto cholesky = analyze_incomplete(incomplete_method::cholesky, by_columns, incomplete_options::fill(1));
  EXPECT_EQ(std::vector<double>(cholesky.values().begin(), cholesky.values().end()),
            (std::vector<double>{2, 1, 2}));
  EXPECT_EQ(cholesky.view(by_columns).entries, 3);
  EXPECT_EQ(cholesky.info().fill_level, 1);
  EXPECT_EQ(cholesky.rows(), 2);
}

TEST(AnyIncomplete, HasTheFunctionsOfAFactorisation) {
  const csr_matrix<double> a{1, 1, {0, 1}, {0}, {4}};
  any_incomplete<double> held = analyze_incomplete_cholesky(a, {}, host_stream{});
  held.factorize(std::vector<double>{0});
  EXPECT_EQ(held.status().code, factor_status::kind::zero_pivot);
  EXPECT_EQ(held.status().row, 0);
  held.factorize(std::vector<double>{0}, pivot_options{0, 1, 9});
  EXPECT_EQ(held.status().boosted_pivots, 1);
  const any_incomplete<double> taken = std::move(held);
  EXPECT_EQ(refusal([&] { held.factorize(std::vector<double>{0}); }),
            invalid("the factorisation was moved from"));
  EXPECT_EQ(taken.values()[0], 3);
}

TEST(AnyBatch, SolvesOneSystemAfterTheOtherOnTheHost) {
  const std::vector<double> values{2, 1, 4, -1, 4, 2, 8, -1, 1, 1, 0};
  system_options options;
  options.max_rhs = 2;
  any_batch<double> batch = analyze_any_batch(lower(), values, {3, 4}, options);
  EXPECT_EQ(batch.systems(), 3);
  EXPECT_EQ(batch.rows(), 2);
  EXPECT_EQ(batch.max_rhs(), 2);
  EXPECT_EQ(batch.info().entries, 3);

  // Two right-hand sides, row-major, and the same ones for all systems.
  const std::vector<double> b{2, 0, 9, 4};
  const batch_view<const double> of_all{b.data(), 3, 2, 2, 2, 1, 0};
  std::vector<double> x(12);
  batch.solve(of_all, {x.data(), 3, 2, 2, 2, 1, 4}, 2);
  EXPECT_EQ(std::vector<double>(x.begin(), x.begin() + 8), (std::vector<double>{2, 0, 4, 2, 1, 0, 2, 1}));
  EXPECT_EQ(batch.status().code, solve_status::kind::zero_pivot);
  EXPECT_EQ(batch.status().system, 2);
  EXPECT_EQ(batch.status().row, 1);

  batch.update_values(std::vector<double>{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  batch.solve(of_all, {x.data(), 3, 2, 2, 2, 1, 4});
  EXPECT_EQ(x, (std::vector<double>{2, 0, 9, 4, 2, 0, 9, 4, 2, 0, 9, 4}));
  EXPECT_TRUE(batch.status().ok());
}

TEST(AnyBatch, RefusesWhatDoesNotFit) {
  const std::vector<double> values{2, 1, 4, 2, 1, 4};
  const auto of = [&](const batch_options& options) {
    return refusal([&] { static_cast<void>(analyze_any_batch(lower(), values, options)); }).first;
  };
  EXPECT_EQ(of({3}), errc::size_mismatch);
  EXPECT_EQ(of({-1}), errc::invalid_argument);
  EXPECT_EQ(of({2, 2}), errc::invalid_argument);
  EXPECT_EQ(of({2, 0, 5}), errc::invalid_argument);
  EXPECT_EQ(of({2, 0, 0, 3}), errc::invalid_argument);
  EXPECT_EQ(
      refusal([&] { static_cast<void>(analyze_any_batch(lower(), span<const double>(nullptr, 6), {2})); }),
      invalid("the array of values is a null pointer"));

  auto batch = analyze_any_batch(lower(), values, {2});
  std::vector<double> x(8);
  const auto solve = [&](const batch_view<double>& to) {
    return refusal([&] { batch.solve(batch_view<double>::contiguous(x.data(), 2, 2), to); }).first;
  };
  EXPECT_EQ(solve(batch_view<double>::contiguous(x.data(), 1, 2)), errc::size_mismatch);
  EXPECT_EQ(solve(batch_view<double>::contiguous(x.data(), 2, 2, 2)), errc::size_mismatch);
  EXPECT_EQ(solve({x.data(), 2, 2, 1, 1, 0, 1}), errc::invalid_argument);
  EXPECT_EQ(refusal([&] { batch.update_values(std::vector<double>(5)); }).first, errc::size_mismatch);
  EXPECT_EQ(analyze_any_batch(lower(), std::vector<double>{}, {0}).systems(), 0);
  const any_batch<double> taken = std::move(batch);
  EXPECT_EQ(refusal([&] { static_cast<void>(batch.rows()); }), invalid("the batch was moved from"));
  EXPECT_EQ(taken.rows(), 2);
}

}  // namespace
}  // namespace sptrsv::testing
