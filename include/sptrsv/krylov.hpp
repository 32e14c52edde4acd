// SPDX-License-Identifier: Apache-2.0
// Krylov methods: conjugate gradients, BiCGStab and GMRES, on the GPU and on the host, for any operator and
// any preconditioner.
//
// An operator or a preconditioner is an object with `apply(x, y, stream)`, such as `csr_operator`, `factors`
// and `sweeps`, or a callable with these arguments. It computes y = A x (y = M^-1 x) for a
// `span<const Value>` x and a `span<Value>` y that do not overlap, and only enqueues, on the stream that it
// is given: this is not the caller's stream while an iteration is recorded in a CUDA graph.
//
// An iteration has few kernels beside the products and the preconditioner: three with conjugate_gradients
// (four, if A is no csr_operator), three with gmres, four (five) with bicgstab. Scalars stay in the memory of
// the device. Sums are added in one order, so that results repeat in every bit if those of A and M do.
#pragma once

#include <cstdint>
#include <memory>

#include "sptrsv/detail/krylov/gmres.hpp"
#include "sptrsv/detail/krylov/method.hpp"
#include "sptrsv/krylov_options.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/solver.hpp"

#ifdef __CUDACC__
#include "sptrsv/detail/krylov/cuda_loop.cuh"
#endif

namespace sptrsv::SPTRSV_ABI::krylov {

/// The preconditioner M = I.
struct no_preconditioner {};

/// The product with a matrix in CSR, which the operator refers to. The matrix must be valid: offsets from 0
/// to the number of entries that never decrease, and indices in range.
///
/// @tparam Stream cudaStream_t for a matrix in device memory; host_stream for one in host memory.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class csr_operator {
 public:
  using view_type = csr_view<Value, Index, Offset>;  ///< type of the view

  /// Throws error with errc::not_square, and as to_device for arrays that are not right.
  explicit csr_operator(const view_type& a, Stream = {}) : a_(a) {
    SPTRSV_EXPECTS(a.rows == a.columns, errc::not_square, "the operator has ", a.rows, " rows and ",
                   a.columns, " columns");
    detail::check_arrays<detail::executor_t<Stream>>(a, "csr_operator");
  }

  /// Enqueues y = A x. Throws error with errc::size_mismatch.
  void apply(span<const Value> x, span<Value> y, Stream stream = {}) const {
    SPTRSV_EXPECTS(x.size() == detail::at(a_.rows) && y.size() == x.size(), errc::size_mismatch,
                   "the operator has ", a_.rows, " rows, x has ", x.size(), " and y has ", y.size());
    if (a_.rows > 0) {
      detail::krylov::csr_product(a_, detail::as_scalar(x.data()), detail::as_scalar(y.data()), nullptr, {},
                                  detail::executor_t<Stream>(stream));
    }
  }
  /// Returns the matrix.
  [[nodiscard]] const view_type& view() const noexcept { return a_; }

 private:
  view_type a_;
};

template <class Matrix, class Stream = stream_handle, class View = typename Matrix::view_type>
explicit csr_operator(const Matrix&, Stream = {})
    -> csr_operator<typename View::value_type, typename View::index_type, typename View::offset_type, Stream>;

/// The memory of a method. It grows when a method needs more, and is kept: a further call of the same size
/// allocates nothing, and no iteration allocates. One method at a time uses it. Move-only; no method
/// accepts one that was moved from.
template <class Value, class Stream = stream_handle>
class workspace {
 public:
  /// Memory comes from `resource` (null: the default of the stream's device), and is given back on the stream
  /// of the method that has taken it, which must still exist then.
  explicit workspace(Stream stream = {}, memory_resource* resource = nullptr)
      : memory_(std::make_unique<detail::krylov::method_memory<Value>>()) {
    memory_->resource = &detail::resource_or_default(resource, detail::executor_t<Stream>(stream));
  }

  /// Returns the arrays, for the methods. Throws errc::invalid_argument if the workspace was moved from.
  [[nodiscard]] auto& memory() {
    SPTRSV_EXPECTS(memory_ != nullptr, errc::invalid_argument, "the workspace was moved from");
    return *memory_;
  }

 private:
  std::unique_ptr<detail::krylov::method_memory<Value>> memory_;
};

}  // namespace sptrsv::SPTRSV_ABI::krylov

namespace sptrsv::SPTRSV_ABI::detail::krylov {

/// Checks the arguments and runs a method with `vectors` vectors, and with slots and scalars of a basis.
template <template <class...> class Method, class Operator, class Preconditioner, class Value, class Stream>
sptrsv::krylov::result solve(Operator& a, Preconditioner& m, span<const Value> b, span<Value> x,
                             sptrsv::krylov::workspace<Value, Stream>& scratch, const options& o,
                             Stream stream, std::int64_t vectors, std::int64_t restart = -1) {
  using executor = executor_t<Stream>;
  SPTRSV_EXPECTS(o.tolerance >= 0 && o.absolute_tolerance >= 0 && o.max_iterations >= 0 && o.restart > 0 &&
                     o.check_interval > 0,
                 errc::invalid_argument,
                 "a tolerance or the number of iterations is negative, or restart or check_interval is not "
                 "positive");
  const auto rows = static_cast<std::int64_t>(b.size());
  if (!check_operands<executor>(dense_view<const Value>(b), dense_view<Value>(x), rows, 1,
                                "a Krylov method")) {
    return {};
  }
  SPTRSV_EXPECTS(!views_overlap(dense_view<const Value>(b), dense_view<Value>(x)), errc::invalid_argument,
                 "a Krylov method got vectors x and b that overlap");
  if constexpr (simt::has_kernels<executor>) {
    SPTRSV_EXPECTS(!executor(stream).is_capturing(), errc::invalid_argument,
                   "a Krylov method reads its residual, so that it cannot be captured into a CUDA graph");
  }
  Method<Value, Stream, Operator, Preconditioner> of{
      {a, m, as_scalar(b.data()), as_scalar(x.data()), rows, o, scratch.memory(), stream}};
  of.prepare(vectors, 2 * (restart + 2), (restart + 1) * (restart + 6) / 2);
  return run(of, vectors == 4 && o.check_symmetry);
}

}  // namespace sptrsv::SPTRSV_ABI::detail::krylov

namespace sptrsv::SPTRSV_ABI::krylov {

/// Solves A x = b by the preconditioned conjugate gradient method. A and M are symmetric (Hermitian) and
/// positive definite; the result says where they are not. Synchronises `stream`.
///
/// @param a, m the operator and the preconditioner, see the top of this header; no_preconditioner for M = I.
/// @param b the right-hand side, in the memory space of the workspace.
/// @param x the initial guess, and the solution. It must not overlap b.
/// @param scratch the memory of the method.
/// @param o when the method stops.
/// @param stream the stream that the work is enqueued on.
/// @return how far the method has come, and why it ended. No convergence is no error.
/// @throws error errc::size_mismatch, errc::wrong_memory_space, errc::invalid_argument for a null pointer,
///   options that are negative, a workspace that was moved from, and a stream that is captured;
///   errc::out_of_memory, errc::cuda_error; and what the operators throw.
template <class Operator, class Preconditioner, class Value, class Stream>
result conjugate_gradients(Operator&& a, Preconditioner&& m, span<const detail::identity_t<Value>> b,
                           span<detail::identity_t<Value>> x, workspace<Value, Stream>& scratch,
                           const options& o = {}, detail::identity_t<Stream> stream = {}) {
  return detail::krylov::solve<detail::krylov::conjugate_gradients>(a, m, b, x, scratch, o, stream, 4);
}

/// Solves A x = b by BiCGStab, with A M^-1; otherwise as conjugate_gradients.
template <class Operator, class Preconditioner, class Value, class Stream>
result bicgstab(Operator&& a, Preconditioner&& m, span<const detail::identity_t<Value>> b,
                span<detail::identity_t<Value>> x, workspace<Value, Stream>& scratch, const options& o = {},
                detail::identity_t<Stream> stream = {}) {
  return detail::krylov::solve<detail::krylov::bicgstab>(a, m, b, x, scratch, o, stream, 7);
}

/// Solves A x = b by GMRES with A M^-1, restarted after options::restart iterations, which takes as many
/// vectors and four more; otherwise as conjugate_gradients.
template <class Operator, class Preconditioner, class Value, class Stream>
result gmres(Operator&& a, Preconditioner&& m, span<const detail::identity_t<Value>> b,
             span<detail::identity_t<Value>> x, workspace<Value, Stream>& scratch, const options& o = {},
             detail::identity_t<Stream> stream = {}) {
  return detail::krylov::solve<detail::krylov::gmres>(a, m, b, x, scratch, o, stream, o.restart + 4,
                                                      o.restart);
}

}  // namespace sptrsv::SPTRSV_ABI::krylov
