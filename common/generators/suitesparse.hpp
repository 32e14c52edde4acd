// Complete factors by the direct solvers of SuiteSparse, with their orderings, scalings and pivoting.
// Programs that include this file link CHOLMOD and UMFPACK. Several threads may factorise at once.
#pragma once

#include <cholmod.h>
#include <umfpack.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sptrsv/conversions.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv_common {

/// The factor in P A P^T = L L^T. Row k of P A is row permutation[k] of A.
struct cholesky_factor {
  sptrsv::csr_matrix<double> lower;  ///< columns ascend, so the diagonal is the last entry of each row
  std::vector<std::int32_t> permutation;
};

/// The two fill-reducing orderings between which CHOLMOD decides by default. Programs ask for one of them, so
/// that every machine makes the same matrix. `amd`: approximate minimum degree (Amestoy, Davis and Duff
/// 1996), which CHOLMOD takes in two dimensions. `metis`: nested dissection of METIS (Karypis and Kumar
/// 1998), which CHOLMOD takes in three.
enum class cholmod_ordering { amd, metis };

namespace detail {

/// The environment of CHOLMOD's functions. CHOLMOD prints no messages; check() throws instead.
class cholmod_environment {
 public:
  cholmod_environment() {
    cholmod_start(&common_);
    common_.print = 0;
  }
  ~cholmod_environment() { cholmod_finish(&common_); }
  cholmod_environment(const cholmod_environment&) = delete;
  cholmod_environment& operator=(const cholmod_environment&) = delete;

  operator cholmod_common*() { return &common_; }
  cholmod_common* operator->() { return &common_; }

  /// Throws sptrsv::error if the last call failed.
  void check(const char* what) const {
    SPTRSV_EXPECTS(common_.status == CHOLMOD_OK, sptrsv::errc::invalid_argument,
                   std::string(what) + " of CHOLMOD failed with status " + std::to_string(common_.status));
  }

 private:
  cholmod_common common_{};
};

/// Throws sptrsv::error if a call of UMFPACK failed.
inline void check_umfpack(int status, const char* what) {
  SPTRSV_EXPECTS(status == UMFPACK_OK, sptrsv::errc::invalid_argument,
                 std::string(what) + " of UMFPACK failed with status " + std::to_string(status));
}

}  // namespace detail

/// Returns the supernodal factor (Chen, Davis, Hager and Rajamanickam 2008) of a symmetric positive definite
/// matrix. `lower`: its lower triangle; columns ascend. The factor stores the explicit zeros of merged
/// supernodes. Throws sptrsv::error where CHOLMOD fails: for a matrix that is not positive definite, or for
/// an ordering that CHOLMOD was built without.
inline cholesky_factor cholmod_factorize(sptrsv::csr_matrix<double> lower, cholmod_ordering ordering) {
  detail::cholmod_environment cholmod;
  cholmod->supernodal = CHOLMOD_SUPERNODAL;
  cholmod->nmethods = 1;
  cholmod->method[0].ordering = ordering == cholmod_ordering::amd ? CHOLMOD_AMD : CHOLMOD_METIS;

  const auto n = static_cast<std::size_t>(lower.rows);
  cholmod_sparse a{};  // the rows of the lower triangle are the columns of the upper one
  a.nrow = a.ncol = n;
  a.nzmax = lower.values.size();
  a.p = lower.row_offsets.data();
  a.i = lower.column_indices.data();
  a.x = lower.values.data();
  a.stype = 1;
  a.itype = CHOLMOD_INT;
  a.xtype = CHOLMOD_REAL;
  a.dtype = CHOLMOD_DOUBLE;
  a.sorted = a.packed = 1;

  const auto free_factor = [&](cholmod_factor* f) { cholmod_free_factor(&f, cholmod); };
  const auto free_sparse = [&](cholmod_sparse* s) { cholmod_free_sparse(&s, cholmod); };
  const auto analyze = [&] {
    static std::mutex one_at_a_time;  // METIS calls rand(), whose state all threads share
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    return cholmod_analyze(&a, cholmod);
  };
  const std::unique_ptr<cholmod_factor, decltype(free_factor)> factor(analyze(), free_factor);
  cholmod.check("the analysis");
  cholmod_factorize(&a, factor.get(), cholmod);
  cholmod.check("the factorisation");
  const auto* const permutation = static_cast<const std::int32_t*>(factor->Perm);
  cholesky_factor made{{}, {permutation, permutation + n}};
  const std::unique_ptr<cholmod_sparse, decltype(free_sparse)> columns(
      cholmod_factor_to_sparse(factor.get(), cholmod), free_sparse);
  cholmod.check("the copy of the factor");
  made.lower = sptrsv::to_csr(sptrsv::csc_view<double>{
      lower.rows, lower.rows, static_cast<const std::int32_t*>(columns->p)[n],
      static_cast<const std::int32_t*>(columns->p), static_cast<const std::int32_t*>(columns->i),
      static_cast<const double*>(columns->x)});
  return made;
}

/// The factors in P R A Q = L U. Row k of P R A is row row_permutation[k] of R A; column k of A Q is column
/// column_permutation[k] of A.
struct lu_factors {
  sptrsv::csr_matrix<double> lower;  ///< the diagonal, all 1, is the last entry of each row
  sptrsv::csr_matrix<double> upper;  ///< the diagonal is the first entry of each row
  std::vector<std::int32_t> row_permutation;
  std::vector<std::int32_t> column_permutation;
  std::vector<double> row_scaling;  ///< the diagonal of R
};

/// Returns the factors of a square matrix with the default ordering, scaling and pivoting of UMFPACK (Davis
/// 2004). Throws sptrsv::error where UMFPACK fails, for example for a singular matrix.
inline lu_factors umfpack_factorize(const sptrsv::csr_matrix<double>& matrix) {
  const auto n = static_cast<std::int32_t>(matrix.rows);
  const sptrsv::csc_matrix<double> a = sptrsv::to_csc(matrix);
  const std::int32_t* const offsets = a.column_offsets.data();
  const std::int32_t* const rows = a.row_indices.data();

  const auto free_symbolic = [](void* s) { umfpack_di_free_symbolic(&s); };
  const auto free_numeric = [](void* s) { umfpack_di_free_numeric(&s); };
  void* raw = nullptr;
  int status = umfpack_di_symbolic(n, n, offsets, rows, a.values.data(), &raw, nullptr, nullptr);
  const std::unique_ptr<void, decltype(free_symbolic)> symbolic(raw, free_symbolic);
  detail::check_umfpack(status, "the analysis");
  raw = nullptr;
  status = umfpack_di_numeric(offsets, rows, a.values.data(), symbolic.get(), &raw, nullptr, nullptr);
  const std::unique_ptr<void, decltype(free_numeric)> numeric(raw, free_numeric);
  detail::check_umfpack(status, "the factorisation");

  std::int32_t lower_entries = 0;
  std::int32_t upper_entries = 0;
  std::int32_t ignored = 0;
  status = umfpack_di_get_lunz(&lower_entries, &upper_entries, &ignored, &ignored, &ignored, numeric.get());
  detail::check_umfpack(status, "the size of the factors");

  const auto size = static_cast<std::size_t>(n);
  lu_factors made;
  made.lower.rows = made.lower.columns = n;
  made.lower.row_offsets.resize(size + 1);
  made.lower.column_indices.resize(static_cast<std::size_t>(lower_entries));
  made.lower.values.resize(static_cast<std::size_t>(lower_entries));
  sptrsv::csc_matrix<double> upper;
  upper.rows = upper.columns = n;
  upper.column_offsets.resize(size + 1);
  upper.row_indices.resize(static_cast<std::size_t>(upper_entries));
  upper.values.resize(static_cast<std::size_t>(upper_entries));
  made.row_permutation.resize(size);
  made.column_permutation.resize(size);
  made.row_scaling.resize(size);
  int scaling_multiplies = 0;
  status = umfpack_di_get_numeric(
      made.lower.row_offsets.data(), made.lower.column_indices.data(), made.lower.values.data(),
      upper.column_offsets.data(), upper.row_indices.data(), upper.values.data(), made.row_permutation.data(),
      made.column_permutation.data(), nullptr, &scaling_multiplies, made.row_scaling.data(), numeric.get());
  detail::check_umfpack(status, "the copy of the factors");
  if (scaling_multiplies == 0) {
    for (double& scale : made.row_scaling) {
      scale = 1 / scale;
    }
  }
  made.upper = sptrsv::to_csr(upper);
  return made;
}

}  // namespace sptrsv_common
