// Every kernel of the GPU policies for a real and a complex type: compiled for each architecture, never run.
#include <complex>
#include <type_traits>

#include "sptrsv/detail/any_solver/policy_list.hpp"
#include "sptrsv/sptrsv.hpp"

namespace {

template <class Policy, class Value>
void instantiate() {
  const sptrsv::csr_view<Value> a{};
  auto solver = sptrsv::analyze(Policy{}, a);
  static_assert(std::is_same_v<decltype(solver), sptrsv::solver<Policy, Value>>);
  solver.solve(sptrsv::dense_view<const Value>{}, sptrsv::dense_view<Value>{});
}

template <class Value>
void instantiate_all() {
  sptrsv::detail::for_each_policy(sptrsv::detail::device_policies{}, [](const auto& policy) {
    instantiate<std::decay_t<decltype(policy)>, Value>();
  });
  auto options = sptrsv::factors_options<Value>::ldl(sptrsv::op::transpose);
  options.transposed = sptrsv::op::transpose;
  auto factors =
      sptrsv::analyze_factors(sptrsv::policy::sync_free_thread{}, sptrsv::csr_view<Value>{}, options);
  factors.apply(sptrsv::dense_view<const Value>{}, sptrsv::dense_view<Value>{});
  auto sweeps = sptrsv::analyze_sweeps(sptrsv::policy::sync_free_thread{}, sptrsv::csr_view<Value>{});
  sweeps.relax(sptrsv::sweep_direction::symmetric, sptrsv::dense_view<const Value>{},
               sptrsv::dense_view<Value>{});
  sweeps.apply(sptrsv::dense_view<const Value>{}, sptrsv::dense_view<Value>{});
  auto batch = sptrsv::analyze_batch(sptrsv::csr_view<Value>{}, {}, {2});
  batch.solve(sptrsv::batch_view<const Value>{}, sptrsv::batch_view<Value>{});
  static_cast<void>(sptrsv::colour_on_device(sptrsv::csr_view<Value>{}));
  static_cast<void>(sptrsv::analyze_incomplete_lu(sptrsv::csr_view<Value>{}));
  static_cast<void>(sptrsv::analyze_incomplete_cholesky(sptrsv::csr_view<Value>{}));
  const auto by_columns = sptrsv::to_csc(sptrsv::device_csr_matrix<Value>{});
  static_cast<void>(sptrsv::to_csr(by_columns));
  static_cast<void>(sptrsv::to_csr(sptrsv::device_bsr_matrix<Value>{}));
  static_cast<void>(sptrsv::analyze(sptrsv::policy::sync_free_thread{}, sptrsv::bsr_view<Value>{}));
}

}  // namespace

void instantiate_kernels() {
  instantiate_all<double>();
  instantiate_all<std::complex<float>>();
}
