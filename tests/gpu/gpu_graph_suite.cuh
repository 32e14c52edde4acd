// Solves in CUDA graphs of the user. The capture also shows that nothing synchronises or allocates: it would
// fail otherwise.
#pragma once

#include <functional>

#include "gpu/gpu_fixture.cuh"

namespace sptrsv::testing {

/// Records the work that `enqueue` puts on a stream; `launch` runs it.
class recorded_graph {
 public:
  explicit recorded_graph(const std::function<void(cudaStream_t)>& enqueue) {
    SPTRSV_CUDA_CHECK(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeGlobal));
    cudaGraph_t graph = nullptr;
    try {
      enqueue(stream_.get());
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream_.get(), &graph));
      throw;
    }
    SPTRSV_CUDA_CHECK(cudaStreamEndCapture(stream_.get(), &graph));
    SPTRSV_CUDA_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
    SPTRSV_CUDA_CHECK(cudaGraphDestroy(graph));
  }
  ~recorded_graph() { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  recorded_graph(const recorded_graph&) = delete;
  recorded_graph& operator=(const recorded_graph&) = delete;

  void launch(cudaStream_t stream) const { SPTRSV_CUDA_CHECK(cudaGraphLaunch(executable_, stream)); }

 private:
  owned_stream stream_;
  cudaGraphExec_t executable_ = nullptr;
};

template <class Types>
class gpu_graphs : public gpu_suite<Types> {
 public:
  using gpu_suite<Types>::gpu_suite;
};

SPTRSV_TEST_P(gpu_graphs, one_right_hand_side_with_changing_content) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(30, 40);
  const form f = this->forms_for(1).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f);
  auto b = this->random_rhs(single(p.size), 1);
  auto x = this->poisoned_solution(b.shape);
  const recorded_graph graph([&](cudaStream_t stream) { solver.solve(b.in(), x.out(), stream); });
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto content = random_vector<value>(p.size, 100 + i);
    this->where.overwrite(b.memory, content);
    this->where.overwrite(x.memory, poisoned<value>(x.shape.extent));
    graph.launch(this->where.stream());
    this->expect_solved(a, f, p.name, content, this->where.download(x.memory));
    EXPECT_TRUE(solver.status(this->where.stream()).ok());
  }
}

SPTRSV_TEST_P(gpu_graphs, several_right_hand_sides_in_place) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(400, 10, 2);
  const form f = this->forms_for(2).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 5);
  auto both = this->random_rhs(row_major(p.size, 5, 2), 1);
  const recorded_graph graph([&](cudaStream_t stream) { solver.solve(both.in(), both.out(), stream); });
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto content = random_vector<value>(static_cast<std::int64_t>(both.shape.extent), 100 + i);
    this->where.overwrite(both.memory, content);
    graph.launch(this->where.stream());
    const auto x = this->where.download(both.memory);
    this->expect_solved(a, f, p.name, both.shape, content, x);
    EXPECT_TRUE(gaps_untouched(both.shape, content, x));
  }
}

/// One iteration of an iterative solver in one graph: new values, then two solves that depend on each other.
SPTRSV_TEST_P(gpu_graphs, new_values_and_solves_in_one_graph) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_3d(9, 10, 11);
  for (const form& f : this->forms_for(3)) {
    auto a = this->make(p, f);
    auto solver = this->analyze(a, f);
    auto values = this->where.upload(a.values());
    auto b = this->random_rhs(single(p.size), 1);
    auto x = this->poisoned_solution(b.shape);
    auto y = this->poisoned_solution(b.shape);
    const recorded_graph graph([&](cudaStream_t stream) {
      solver.update_values(values, stream);
      solver.solve(b.in(), x.out(), stream);
      solver.solve(x.in(), y.out(), make_value<value>(0.5), stream);
    });
    for (std::uint64_t i = 0; i < 4; ++i) {
      a.values() = this->make(p, f, 50 + i).values();
      const auto content = random_vector<value>(p.size, 100 + i);
      this->where.overwrite(values, a.values());
      this->where.overwrite(b.memory, content);
      graph.launch(this->where.stream());
      const auto first = this->where.download(x.memory);
      this->expect_solved(a, f, p.name, content, first);
      this->expect_solved(a, f, p.name, first, this->where.download(y.memory), make_value<value>(0.5));
    }
  }
}

/// Graphs with different numbers of right-hand sides share the workspace with each other and with solves
/// outside any graph, in any order.
SPTRSV_TEST_P(gpu_graphs, graphs_and_plain_solves_on_one_workspace) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(20, 21);
  const form f = this->forms_for(4).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 5);
  auto one = this->random_rhs(single(p.size), 1);
  auto five = this->random_rhs(column_major(p.size, 5), 2);
  auto x_one = this->poisoned_solution(one.shape);
  auto x_five = this->poisoned_solution(five.shape);
  const recorded_graph graph_one([&](cudaStream_t stream) { solver.solve(one.in(), x_one.out(), stream); });
  const recorded_graph graph_five(
      [&](cudaStream_t stream) { solver.solve(five.in(), x_five.out(), stream); });
  const auto stream = this->where.stream();
  random_source source(5);
  for (int i = 0; i < 40; ++i) {
    const bool wide = source.coin();
    const bool replayed = source.coin();
    auto& b = wide ? five : one;
    auto& x = wide ? x_five : x_one;
    this->where.overwrite(x.memory, poisoned<value>(x.shape.extent));
    if (replayed) {
      (wide ? graph_five : graph_one).launch(stream);
    } else {
      solver.solve(b.in(), x.out(), stream);
    }
    this->expect_solved(a, f, p.name, x.shape, this->where.download(b.memory),
                        this->where.download(x.memory));
    EXPECT_TRUE(solver.status(stream).ok());
  }
}

/// A graph with two branches, each with a workspace.
SPTRSV_TEST_P(gpu_graphs, branches_with_a_workspace_each) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(30, 31);
  const form f = this->forms_for(5).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 2);
  const owned_stream side;
  auto other = solver.make_workspace(this->where.stream());
  auto b = this->random_rhs(single(p.size), 1);
  auto x = this->poisoned_solution(b.shape);
  auto c = this->random_rhs(column_major(p.size, 2), 2);
  auto y = this->poisoned_solution(c.shape);
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(this->where.stream()));
  cudaEvent_t fork;
  cudaEvent_t join;
  SPTRSV_CUDA_CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  SPTRSV_CUDA_CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  const recorded_graph graph([&](cudaStream_t stream) {
    SPTRSV_CUDA_CHECK(cudaEventRecord(fork, stream));
    SPTRSV_CUDA_CHECK(cudaStreamWaitEvent(side.get(), fork, 0));
    solver.solve(b.in(), x.out(), stream);
    solver.solve(c.in(), y.out(), value(1), other, side.get());
    SPTRSV_CUDA_CHECK(cudaEventRecord(join, side.get()));
    SPTRSV_CUDA_CHECK(cudaStreamWaitEvent(stream, join, 0));
  });
  SPTRSV_CUDA_CHECK(cudaEventDestroy(fork));
  SPTRSV_CUDA_CHECK(cudaEventDestroy(join));
  for (int i = 0; i < 10; ++i) {
    this->where.overwrite(x.memory, poisoned<value>(x.shape.extent));
    this->where.overwrite(y.memory, poisoned<value>(y.shape.extent));
    graph.launch(this->where.stream());
    this->expect_solved(a, f, p.name, b.shape, this->where.download(b.memory),
                        this->where.download(x.memory));
    this->expect_solved(a, f, p.name, c.shape, this->where.download(c.memory),
                        this->where.download(y.memory));
  }
}

SPTRSV_TESTS(gpu_graphs, one_right_hand_side_with_changing_content, several_right_hand_sides_in_place,
             new_values_and_solves_in_one_graph, graphs_and_plain_solves_on_one_workspace,
             branches_with_a_workspace_each);

}  // namespace sptrsv::testing
