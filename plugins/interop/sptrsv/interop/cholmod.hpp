// SPDX-License-Identifier: Apache-2.0
// Cholesky factors of CHOLMOD (SuiteSparse), as matrices that `analyze` takes. Not part of sptrsv.hpp; needs
// CHOLMOD's header, and no function of its library.
//
// CHOLMOD factorises P A P^T = L L^T, or L D L^T. The factor is in host memory:
//
//   const auto l = sptrsv::to_device(sptrsv::interop::supernodal_of<double, int>(*factor), stream);
//   auto forward = sptrsv::analyze(sptrsv::policy::supernodal{}, l, {}, stream);
#pragma once

#if __has_include(<suitesparse/cholmod.h>)
#include <suitesparse/cholmod.h>
#else
#include <cholmod.h>
#endif

#include <cstdint>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/supernodal_matrix.hpp"

namespace sptrsv::SPTRSV_ABI::interop {
namespace detail {

/// Throws unless `f` holds a complete numerical factor with values of type Value and indices of type Index.
template <class Value, class Index>
void expect_factor(const cholmod_factor& f) {
  using sptrsv::detail::scalar_t;
  static_assert(std::is_same_v<sptrsv::detail::real_t<scalar_t<Value>>, double>,
                "CHOLMOD's factors are of double or std::complex<double>");
  static_assert(std::is_same_v<Index, std::int32_t> || std::is_same_v<Index, std::int64_t>,
                "CHOLMOD's indices are 32-bit or 64-bit integers");
  constexpr bool is_complex = sptrsv::detail::is_complex_v<scalar_t<Value>>;
  SPTRSV_EXPECTS(f.xtype != CHOLMOD_PATTERN, errc::invalid_argument,
                 "the CHOLMOD factor is symbolic: it has no values yet");
  SPTRSV_EXPECTS(f.dtype == CHOLMOD_DOUBLE && f.xtype == (is_complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL),
                 errc::invalid_argument, "the values of the CHOLMOD factor are not ",
                 (is_complex ? "std::complex<double>" : "double"));
  SPTRSV_EXPECTS(f.itype == (sizeof(Index) == 4 ? CHOLMOD_INT : CHOLMOD_LONG), errc::invalid_argument,
                 "the indices of the CHOLMOD factor do not have ", 8 * sizeof(Index), " bits");
  sptrsv::detail::expect_of_row(f.minor >= f.n, errc::invalid_argument, static_cast<std::int64_t>(f.minor),
                                "the CHOLMOD factorisation failed at column ", f.minor,
                                ": the matrix is not positive definite");
}

}  // namespace detail

/// Returns a view of the panels of a supernodal factor L in host memory, valid as long as the factor is.
///
/// @tparam Value double or std::complex<double>, as in the factor.
/// @tparam Index std::int32_t or std::int64_t, as in the factor.
/// @throws error errc::invalid_argument if the factor is simplicial or symbolic, if its types are others, or
///   if the factorisation failed (with the column).
template <class Value, class Index>
supernodal_view<Value, Index> supernodal_of(const cholmod_factor& f) {
  detail::expect_factor<Value, Index>(f);
  SPTRSV_EXPECTS(f.is_super != 0, errc::invalid_argument,
                 "the CHOLMOD factor is simplicial: use simplicial_of");
  return {static_cast<std::int64_t>(f.n),      static_cast<std::int64_t>(f.n),
          static_cast<std::int64_t>(f.nsuper), static_cast<std::int64_t>(f.ssize),
          static_cast<std::int64_t>(f.xsize),  static_cast<const Index*>(f.super),
          static_cast<const Index*>(f.pi),     static_cast<const Index*>(f.s),
          static_cast<const Index*>(f.px),     static_cast<const Value*>(f.x)};
}

/// A simplicial factor.
template <class Value, class Index>
struct simplicial_factor {
  csc_matrix<Value, Index> l;  ///< L with its diagonal; for L D L^T the diagonal is one
  std::vector<Value> d;        ///< the diagonal of D; empty for L L^T
};

/// Returns a copy of a simplicial factor, in host memory.
///
/// @tparam Value double or std::complex<double>, as in the factor.
/// @tparam Index std::int32_t or std::int64_t, as in the factor.
/// @throws error errc::invalid_argument if the factor is supernodal or symbolic, if its types are others, or
///   if the factorisation failed (with the column).
template <class Value, class Index>
simplicial_factor<Value, Index> simplicial_of(const cholmod_factor& f) {
  detail::expect_factor<Value, Index>(f);
  SPTRSV_EXPECTS(f.is_super == 0, errc::invalid_argument,
                 "the CHOLMOD factor is supernodal: use supernodal_of");
  const auto* begin = static_cast<const Index*>(f.p);
  const auto* count = static_cast<const Index*>(f.nz);
  const auto* rows = static_cast<const Index*>(f.i);
  const auto* values = static_cast<const Value*>(f.x);
  const auto size = static_cast<std::int64_t>(f.n);
  simplicial_factor<Value, Index> made{{size, size, {}, {}, {}}, {}};
  made.l.column_offsets.push_back(0);
  for (std::int64_t j = 0; j < size; ++j) {
    made.l.row_indices.insert(made.l.row_indices.end(), rows + begin[j], rows + begin[j] + count[j]);
    made.l.values.insert(made.l.values.end(), values + begin[j], values + begin[j] + count[j]);
    if (f.is_ll == 0) {
      Value& diagonal = made.l.values[sptrsv::detail::at(made.l.column_offsets.back())];
      made.d.push_back(diagonal);
      diagonal = Value(1);
    }
    made.l.column_offsets.push_back(static_cast<Index>(made.l.row_indices.size()));
  }
  return made;
}

/// Returns the fill-reducing permutation: row k of L belongs to row `permutation[k]` of A.
///
/// @tparam Index std::int32_t or std::int64_t, as in the factor.
/// @throws error errc::invalid_argument if the factor has other indices.
template <class Index>
std::vector<Index> permutation_of(const cholmod_factor& f) {
  SPTRSV_EXPECTS(f.itype == (sizeof(Index) == 4 ? CHOLMOD_INT : CHOLMOD_LONG), errc::invalid_argument,
                 "the indices of the CHOLMOD factor do not have ", 8 * sizeof(Index), " bits");
  const auto* from = static_cast<const Index*>(f.Perm);
  return {from, from + f.n};
}

}  // namespace sptrsv::SPTRSV_ABI::interop
