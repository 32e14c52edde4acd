// A program that calls every analysis that a machine without a GPU has. The test compiles it with the
// warnings of a careful user, who includes the headers as those of a project of his own.
#include <complex>
#include <cstdint>
#include <vector>

#include "sptrsv/any/any_policy.hpp"
#include "sptrsv/distributed.hpp"
#include "sptrsv/distributed/process_group.hpp"
#include "sptrsv/scheme/search.hpp"
#include "sptrsv/sptrsv.hpp"

namespace {

template <class Value, class Index, class Offset>
struct calls {
  using vector = std::vector<Value>;

  sptrsv::csr_matrix<Value, Index, Offset> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 1, 4}};
  vector b{5, 5};
  vector x{0, 0};

  template <class Solver>
  void solve_with(Solver solver) {
    auto workspace = solver.make_workspace();
    solver.update_values(a.values);
    solver.solve(b, x, Value(1), workspace);
    static_cast<void>(solver.status(workspace));
    static_cast<void>(solver.info());
  }
  template <class Factors>
  void apply(Factors factors) {
    auto workspace = factors.make_workspace();
    factors.update_values(a.values);
    factors.update_values(a.values, a.values);
    factors.apply(b, x, workspace);
    factors.apply_transpose(b, x, workspace);
    static_cast<void>(factors.status(workspace));
    static_cast<void>(factors.info());
  }
  template <class Sweeps>
  void relax(Sweeps sweeps) {
    sweeps.update_values(a.values);
    sweeps.relax(sptrsv::sweep_direction::symmetric, b, x, 2);
    sweeps.apply(b, x);
    static_cast<void>(sweeps.status());
    static_cast<void>(sweeps.info());
  }
  template <class Batch>
  void solve_batch(Batch batch) {
    batch.update_values(a.values);
    batch.solve(sptrsv::batch_view<const Value>::contiguous(b.data(), 1, 2),
                sptrsv::batch_view<Value>::contiguous(x.data(), 1, 2));
    static_cast<void>(batch.status());
  }
  template <class Factorization>
  void factorize(Factorization factorization) {
    factorization.factorize(a.values, sptrsv::pivot_options{});
    static_cast<void>(factorization.view(a));
    static_cast<void>(factorization.status());
  }

  template <class Policy>
  void with_policy(const Policy& policy) {
    solve_with(sptrsv::analyze(policy, a));
    solve_with(sptrsv::analyze(policy, to_csc(a)));
    const auto blocks = to_bsr(a, 2);
    solve_with(sptrsv::analyze(policy, blocks));
    apply(sptrsv::analyze_factors(policy, blocks));
    apply(sptrsv::analyze_factors(policy, a));
    apply(sptrsv::analyze_factors(policy, a, a));
    relax(sptrsv::analyze_sweeps(policy, a));
  }
  void with_names() {
    solve_with(sptrsv::analyze("host_parallel", a));
    solve_with(sptrsv::analyze("host_parallel", to_bsr(a, 2)));
    const auto factors = sptrsv::analyze_factors("host_parallel", a, a);
    static_cast<void>(factors.info());
    apply(sptrsv::analyze_factors("host_parallel", a));
    const sptrsv::span<const Value> values = a.values;
    solve_batch(sptrsv::analyze_any_batch(a, values, {}));
    factorize(sptrsv::analyze_incomplete(sptrsv::incomplete_method::lu, a));
  }
  void all() {
    with_policy(sptrsv::policy::host_serial{});
    with_policy(sptrsv::policy::host_parallel{});
    with_names();
    const auto options = sptrsv::incomplete_options::fill(1);
    factorize(sptrsv::analyze_incomplete_lu(a, options, sptrsv::host_stream{}));
    factorize(sptrsv::analyze_incomplete_cholesky(a, options, sptrsv::host_stream{}));
    static_cast<void>(sptrsv::backward_error(a, {}, b, x));
    static_cast<void>(sptrsv::structure_of(a));
    static_cast<void>(sptrsv::reordered(a, sptrsv::reverse_cuthill_mckee(a)));
    static_cast<void>(sptrsv::greedy_colouring(a));
  }
};

}  // namespace

int main() {
  calls<float, std::int64_t, std::int64_t>{}.all();
  calls<double, std::int32_t, std::int32_t>{}.all();
  calls<std::complex<double>, std::int32_t, std::int32_t>{}.all();
}
