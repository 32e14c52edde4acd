// What the policy cusparse adds around the library: status, memory, streams, graphs, refusals.
#include <cstdio>

#include "common/gpu/cuda_handles.cuh"
#include "gpu/gpu_cusparse.cuh"
#include "support/counting_resource.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

template <class Types>
class cusparse_calls : public gpu_suite<Types> {
 public:
  using gpu_suite<Types>::gpu_suite;
  using typename contract<Types>::value_type;
};
using call_cases =
    case_list<suite_case<gpu_target, cusparse, double, std::int32_t, std::int32_t>,
              suite_case<gpu_target, cusparse_row_major, float, std::int64_t, std::int64_t>,
              suite_case<gpu_target, cusparse_bare, double, std::int64_t, std::int64_t>,
              suite_case<gpu_target, cusparse_bare, std::complex<float>, std::int32_t, std::int32_t>>;

/// x must exist until `status` is called: without `watch`, status reads x only then.
SPTRSV_TEST_P(cusparse_calls, status_names_the_first_row_that_is_not_finite) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(8, 9);
  const auto stream = this->where.stream();
  for (const form& f :
       {form{}, form{uplo::upper, diag::unit, op::none}, form{uplo::lower, diag::non_unit, op::transpose}}) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 2);
    EXPECT_TRUE(solver.status(stream).ok()) << "nothing was solved";
    const bool ascending = (f.part == uplo::lower) == (f.operation == op::none);
    for (const layout& shape : {single(p.size), column_major(p.size, 2), scattered(p.size, 2)}) {
      auto content = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
      auto b = this->where.upload(content);
      auto x = this->poisoned_solution(shape);
      const auto solve = [&] {
        solver.solve(shape.view(static_cast<const value*>(b.data())), x.out(), stream);
      };
      solve();
      EXPECT_TRUE(solver.status(stream).ok()) << f.name();
      for (const std::int64_t row : {13, 40}) {
        content[shape.at(row, shape.columns - 1)] =
            make_value<value>(std::numeric_limits<double>::infinity());
      }
      this->where.overwrite(b, content);
      solve();
      const solve_status status = solver.status(stream);
      EXPECT_EQ(status.code, solve_status::kind::non_finite) << f.name();
      EXPECT_EQ(status.row.value_or(-1), ascending ? 13 : 40) << f.name();
    }
  }
}

SPTRSV_TEST_P(cusparse_calls, everything_comes_from_the_given_resource) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(30, 40);
  const form f{};
  const auto a = this->make(p, f);
  counting_resource counted(this->where.resource());
  const auto stream = this->where.stream();
  auto b = this->random_rhs(column_major(p.size, 3), 1);
  auto x = this->poisoned_solution(b.shape);
  {
    const auto there = this->where.upload(a.by_rows);
    auto solver = this->policy().analyze(there, f.options(3), stream, &counted);
    const auto info = solver.info();
    for (const kernel_info& kernel : info.kernels) {
      std::printf("%s\n", kernel.text.c_str());
    }
    EXPECT_EQ(counted.live_bytes(), info.solver_bytes + info.workspace_bytes);
    const std::size_t allocations = counted.allocations();
    solver.solve(b.in(), x.out(), stream);
    solver.update_values(there.values, stream);
    EXPECT_TRUE(solver.status(stream).ok());
    EXPECT_EQ(counted.allocations(), allocations);
    auto more = solver.make_workspace(stream);
    EXPECT_EQ(counted.live_bytes(), info.solver_bytes + 2 * info.workspace_bytes);
    solver.solve(b.in(), x.out(), value(1), more, stream);
    this->expect_solved(a, f, p.name, b.shape, this->where.download(b.memory),
                        this->where.download(x.memory));
  }
  EXPECT_EQ(counted.live_bytes(), 0u);
  EXPECT_EQ(counted.mistakes(), 0u);
}

/// New values reach the workspaces that were made before and after the update.
SPTRSV_TEST_P(cusparse_calls, new_values_reach_every_workspace) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(300, 5, 2);
  const form f = this->forms_for(1).front();
  auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 2);
  const auto stream = this->where.stream();
  auto before = solver.make_workspace(stream);
  { auto gone = solver.make_workspace(stream); }
  a.values() = this->make(p, f, 77).values();
  solver.update_values(this->where.upload(a.values()), stream);
  auto after = solver.make_workspace(stream);
  for (const layout& shape : {single(p.size), column_major(p.size, 2)}) {
    const auto b = this->random_rhs(shape, 1);
    for (auto* workspace : {&before, &after}) {
      auto x = this->poisoned_solution(shape);
      solver.solve(b.in(), x.out(), value(1), *workspace, stream);
      this->expect_solved(a, f, p.name, shape, this->where.download(b.memory),
                          this->where.download(x.memory));
    }
  }
}

/// Capturing also proves that nothing synchronises: the capture would fail.
SPTRSV_TEST_P(cusparse_calls, new_values_and_solves_in_one_graph) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_3d(9, 10, 11);
  const form f = this->forms_for(3).front();
  auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 2);
  auto values = this->where.upload(a.values());
  auto b = this->random_rhs(single(p.size), 1);
  auto x = this->poisoned_solution(b.shape);
  auto two = this->random_rhs(column_major(p.size, 2), 2);
  auto x_two = this->poisoned_solution(two.shape);
  const auto enqueue = [&](cudaStream_t stream) {
    solver.update_values(values, stream);
    solver.solve(b.in(), x.out(), stream);
    solver.solve(two.in(), x_two.out(), stream);
  };
  enqueue(this->where.stream());  // loads the kernels
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(this->where.stream()));
  const auto graph = sptrsv_common::capture(enqueue);
  for (std::uint64_t i = 0; i < 4; ++i) {
    a.values() = this->make(p, f, 50 + i).values();
    const auto content = random_vector<value>(p.size, 100 + i);
    this->where.overwrite(values, a.values());
    this->where.overwrite(b.memory, content);
    this->where.on().replay(graph);
    this->expect_solved(a, f, p.name, content, this->where.download(x.memory));
    this->expect_solved(a, f, p.name, two.shape, this->where.download(two.memory),
                        this->where.download(x_two.memory));
  }
}

SPTRSV_TEST_P(cusparse_calls, streams_with_a_workspace_each) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(60, 70);
  const form f = this->forms_for(2).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 2);
  const owned_stream side;
  auto other = solver.make_workspace(side.get());
  const auto b = this->random_rhs(single(p.size), 1);
  const auto c = this->random_rhs(row_major(p.size, 2), 2);
  std::vector<device_vector<value>> x;
  std::vector<device_vector<value>> y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(this->poisoned_solution(b.shape));
    y.push_back(this->poisoned_solution(c.shape));
  }
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(this->where.stream()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    solver.solve(b.in(), x[i].out(), this->where.stream());
    solver.solve(c.in(), y[i].out(), value(1), other, side.get());
  }
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(side.get()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    this->expect_solved(a, f, p.name, b.shape, this->where.download(b.memory),
                        this->where.download(x[i].memory));
    this->expect_solved(a, f, p.name, c.shape, this->where.download(c.memory),
                        this->where.download(y[i].memory));
  }
}

/// C++ aligns complex numbers like their parts; cuSPARSE needs more.
SPTRSV_TEST_P(cusparse_calls, arrays_that_are_not_aligned) {
  using value = typename TypeParam::value;
  using real = detail::real_t<value>;
  const pattern p = patterns::random(101, 4, 2);
  const form f = this->forms_for(4).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 2);
  for (const layout& shape : {single(p.size), column_major(p.size, 2, 1), row_major(p.size, 2, 1)}) {
    const auto content = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
    auto memory = this->where.upload(poisoned<value>(shape.extent + 1));
    auto* const shifted = reinterpret_cast<value*>(reinterpret_cast<real*>(memory.data()) + 1);
    const auto on = this->where.on();
    on.upload(shifted, content.data(), shape.extent * sizeof(value));
    solver.solve(shape.view(static_cast<const value*>(shifted)), shape.view(shifted), this->where.stream());
    std::vector<value> x(shape.extent);
    on.download(x.data(), shifted, shape.extent * sizeof(value));
    this->expect_solved(a, f, p.name, shape, content, x);
  }
}

SPTRSV_TESTS(cusparse_calls, status_names_the_first_row_that_is_not_finite,
             everything_comes_from_the_given_resource, new_values_reach_every_workspace,
             new_values_and_solves_in_one_graph, streams_with_a_workspace_each, arrays_that_are_not_aligned);
SPTRSV_TEST_POLICIES(gpu, cusparse_calls, call_cases);

/// Types that cuSPARSE does not support are refused by name; if a version supports them, the solution is
/// right.
TEST(CusparseRefusals, OffsetsWiderThanIndices) {
  using wide_case = suite_case<gpu_target, cusparse, double, std::int32_t, std::int64_t>;
  struct suite : contract_of<wide_case> {
    void TestBody() override {}
  };
  suite s;
  const pattern p = patterns::chain(30);
  const auto seen = failure::of([&] { s.check(p, {}); });
  if (seen.has_value()) {
    EXPECT_EQ(seen->code, errc::unsupported) << seen->message;
    EXPECT_TRUE(seen->mentions("64-bit offsets and 32-bit indices")) << seen->message;
  }
}

}  // namespace sptrsv::testing
