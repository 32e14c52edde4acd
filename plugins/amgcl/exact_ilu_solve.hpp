// SPDX-License-Identifier: Apache-2.0
// The solves of AMGCL's incomplete factorisations by sptrsv, for the backends whose headers include this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <amgcl/backend/builtin.hpp>
#include <amgcl/util.hpp>

#ifdef SPTRSV_COMPILED
#include "sptrsv/any/any_policy.hpp"
#else
#include "sptrsv/any/any_factors.hpp"
#endif

namespace sptrsv_amgcl {

/// Returns both factors of (I + L) (D^-1 + U) in one matrix by rows, in host memory.
///
/// @param lower, upper the strict triangles L and U of AMGCL's factorisations, n x n.
/// @param inverse_pivots the diagonal of D, which holds the inverses of the pivots; n elements.
template <class Value, class Matrix, class Vector>
sptrsv::csr_matrix<Value> joined_factors(const Matrix& lower, const Matrix& upper,
                                         const Vector& inverse_pivots) {
  const auto rows = static_cast<std::size_t>(lower.nrows);
  const auto entries =
      static_cast<std::size_t>(lower.ptr[rows]) + static_cast<std::size_t>(upper.ptr[rows]) + rows;
  amgcl::precondition(entries <= std::numeric_limits<std::int32_t>::max() - std::size_t{65536},
                      "sptrsv: the incomplete factors have too many entries for 32-bit indices");

  sptrsv::csr_matrix<Value> joined;
  joined.rows = joined.columns = static_cast<std::int64_t>(rows);
  joined.row_offsets.reserve(rows + 1);
  joined.column_indices.reserve(entries);
  joined.values.reserve(entries);
  joined.row_offsets.push_back(0);
  const auto append_row = [&](const Matrix& triangle, std::size_t i) {
    for (auto k = triangle.ptr[i]; k < triangle.ptr[i + 1]; ++k) {
      joined.column_indices.push_back(static_cast<std::int32_t>(triangle.col[k]));
      joined.values.push_back(triangle.val[k]);
    }
  };
  for (std::size_t i = 0; i < rows; ++i) {
    append_row(lower, i);
    joined.column_indices.push_back(static_cast<std::int32_t>(i));
    joined.values.push_back(amgcl::math::inverse(inverse_pivots[i]));
    append_row(upper, i);
    joined.row_offsets.push_back(static_cast<std::int32_t>(joined.column_indices.size()));
  }
  return joined;
}

/// Solves (I + L) (D^-1 + U) x = b by substitution; with the interface of
/// amgcl::relaxation::detail::ilu_solve.
///
/// @tparam Backend a backend of AMGCL.
/// @tparam Space where the backend's vectors are: `Space::analyze(joined, policy)` returns the factors, and
///   `Space::data(x)` a pointer to the elements of a vector.
template <class Backend, class Space>
class exact_ilu_solve {
 public:
  using value_type = typename Backend::value_type;
  using backend_params = typename Backend::params;
  using build_matrix = typename amgcl::backend::builtin<value_type, typename Backend::col_type,
                                                        typename Backend::ptr_type>::matrix;

  /// The parameters `solve` of AMGCL's incomplete factorisations.
  struct params {
    /// The policy of sptrsv and its options, as text; empty: the default. Only with the compiled library.
    std::string policy;

    params() = default;
#ifndef AMGCL_NO_BOOST
    /// Takes what AMGCL's own solves have, too, which has no meaning here.
    params(const boost::property_tree::ptree& p) : AMGCL_PARAMS_IMPORT_VALUE(p, policy) {
      amgcl::check_params(p, {"policy", "iters", "damping", "serial"});
    }
    void get(boost::property_tree::ptree& p, const std::string& path) const {
      AMGCL_PARAMS_EXPORT_VALUE(p, path, policy);
    }
#endif
  } prm;

  exact_ilu_solve(std::shared_ptr<build_matrix> lower, std::shared_ptr<build_matrix> upper,
                  std::shared_ptr<amgcl::backend::numa_vector<value_type>> inverse_pivots,
                  const params& chosen = params(), const backend_params& = backend_params())
      : prm(chosen),
        factors_(Space::analyze(joined_factors<value_type>(*lower, *upper, *inverse_pivots), prm.policy)),
        rows_(lower->nrows) {}

  /// Replaces b, which is in x, by the solution.
  template <class Vector>
  void solve(Vector& x) {
    const sptrsv::span<value_type> elements(Space::data(x), rows_);
    factors_.apply(elements, elements);
  }

  /// Returns how many bytes of memory the factors and their workspace have.
  std::size_t bytes() const {
    const sptrsv::factors_info info = factors_.info();
    return info.bytes + info.workspace_bytes;
  }

 private:
  sptrsv::any_factors<value_type> factors_;
  std::size_t rows_;
};

}  // namespace sptrsv_amgcl
