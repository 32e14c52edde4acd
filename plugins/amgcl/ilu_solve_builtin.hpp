// SPDX-License-Identifier: Apache-2.0
// AMGCL's backend `builtin` with values float, double and std::complex of them: sptrsv solves with the
// factors of ilu0, iluk, ilup and ilut, on the host.
#pragma once

#include <complex>

#include <amgcl/relaxation/detail/ilu_solve.hpp>

#include "exact_ilu_solve.hpp"
#include "sptrsv/policy/host_parallel.hpp"

namespace sptrsv_amgcl {

/// The host's memory.
struct host_space {
  template <class Value>
  static sptrsv::any_factors<Value> analyze(const sptrsv::csr_matrix<Value>& joined,
                                            const std::string& policy) {
#ifdef SPTRSV_COMPILED
    return sptrsv::analyze_factors(sptrsv::any_policy(policy), joined);
#else
    amgcl::precondition(policy.empty(), "sptrsv: a policy by name needs the compiled library");
    return sptrsv::analyze_factors(sptrsv::policy::host_parallel{}, joined);
#endif
  }
  template <class Vector>
  static auto data(Vector& x) {
    return &x[0];
  }
};

}  // namespace sptrsv_amgcl

namespace amgcl::relaxation::detail {

#define SPTRSV_AMGCL_SOLVE(VALUE)                                                                         \
  template <class Column, class Offset>                                                                   \
  class ilu_solve<backend::builtin<VALUE, Column, Offset>>                                                \
      : public sptrsv_amgcl::exact_ilu_solve<backend::builtin<VALUE, Column, Offset>,                     \
                                             sptrsv_amgcl::host_space> {                                  \
    using base =                                                                                          \
        sptrsv_amgcl::exact_ilu_solve<backend::builtin<VALUE, Column, Offset>, sptrsv_amgcl::host_space>; \
                                                                                                          \
   public:                                                                                                \
    using base::base;                                                                                     \
  };
SPTRSV_AMGCL_SOLVE(float)
SPTRSV_AMGCL_SOLVE(double)
SPTRSV_AMGCL_SOLVE(std::complex<float>)
SPTRSV_AMGCL_SOLVE(std::complex<double>)
#undef SPTRSV_AMGCL_SOLVE

}  // namespace amgcl::relaxation::detail
