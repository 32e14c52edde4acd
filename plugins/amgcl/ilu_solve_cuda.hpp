// SPDX-License-Identifier: Apache-2.0
// AMGCL's backend `cuda`: sptrsv solves with the factors of ilu0, iluk, ilup and ilut, on the default stream
// of the GPU. AMGCL's own solves are two damped Jacobi sweeps for each triangle. nvcc compiles this header,
// as it does AMGCL's.
#pragma once

#include <amgcl/backend/cuda.hpp>
#include <amgcl/relaxation/detail/ilu_solve.hpp>

#include "exact_ilu_solve.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/policy/automatic.hpp"

namespace sptrsv_amgcl {

/// The memory of the current GPU.
struct device_space {
  template <class Value>
  static sptrsv::any_factors<Value> analyze(const sptrsv::csr_matrix<Value>& joined,
                                            const std::string& policy) {
    const auto a = sptrsv::to_device(joined);
#ifdef SPTRSV_COMPILED
    return sptrsv::analyze_factors(sptrsv::any_policy(policy), a);
#else
    amgcl::precondition(policy.empty(), "sptrsv: a policy by name needs the compiled library");
    return sptrsv::analyze_factors(sptrsv::policy::automatic<>{}, a);
#endif
  }
  template <class Vector>
  static auto data(Vector& x) {
    return thrust::raw_pointer_cast(x.data());
  }
};

}  // namespace sptrsv_amgcl

namespace amgcl::relaxation::detail {

template <class Real, class DirectSolver>
class ilu_solve<backend::cuda<Real, DirectSolver>>
    : public sptrsv_amgcl::exact_ilu_solve<backend::cuda<Real, DirectSolver>, sptrsv_amgcl::device_space> {
  using base = sptrsv_amgcl::exact_ilu_solve<backend::cuda<Real, DirectSolver>, sptrsv_amgcl::device_space>;

 public:
  using base::base;
};

}  // namespace amgcl::relaxation::detail
