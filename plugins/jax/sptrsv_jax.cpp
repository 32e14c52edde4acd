// SPDX-License-Identifier: Apache-2.0
// The calls of sptrsv.jax: custom calls of XLA on top of the C interface of the library.
//
// The pattern, the values and the right-hand sides are operands of a call, in the memory where XLA runs it.
// So an analysis is made where it is used, and an executable refers to no object that could be gone: it may
// be stored and loaded by another process. All work on a GPU is enqueued on XLA's stream; only an analysis,
// in the first call, synchronises it.
//
// XLA may not record these calls into CUDA graphs, which would use an analysis without its lock.
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "analyses.hpp"
#include "sptrsv.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using namespace sptrsv_jax;

/// Right-hand sides that lie at one distance from each other, in elements.
struct row_of_columns {
  std::int64_t count;
  std::int64_t b_stride;
  std::int64_t x_stride;
};

/// Solves op(T_s) x = b for each system s. b is of shape (together, systems or 1, rows, columns), x of
/// (together, systems, rows, columns): each system has together * columns right-hand sides.
void solve_all(analysis& by, const attributes& of, const matrices& a, const ffi::AnyBuffer& b,
               const ffi::AnyBuffer& x, void* stream) {
  const auto from = b.dimensions();
  const auto to = x.dimensions();
  if (from.size() != 4 || to.size() != 4 || from[0] != to[0] || (from[1] != 1 && from[1] != a.systems) ||
      to[1] != a.systems || from[2] != a.first.rows || to[2] != a.first.rows || from[3] != to[3] ||
      b.element_type() != x.element_type() || ffi::ByteWidth(b.element_type()) != a.value_bytes) {
    fail("the right-hand sides of the call do not fit to the matrix");
  }
  const std::int64_t columns = to[3];
  const std::int64_t size = a.first.rows * columns;  // of the right-hand sides or solutions of one system
  const std::int64_t b_system = from[1] == 1 ? 0 : size;
  by.prepare_solve(of, a, stream);

  // The more numerous ones are solved together, as many as the analysis allows.
  row_of_columns outer{to[0], from[1] * size, a.systems * size};
  row_of_columns inner{columns, 1, 1};
  if (outer.count > inner.count) {
    std::swap(outer, inner);
  }
  const auto at = [&](const ffi::AnyBuffer& v, std::int64_t element) -> void* {
    return static_cast<std::byte*>(v.untyped_data()) + static_cast<std::size_t>(element) * a.value_bytes;
  };
  const auto for_each_part = [&](const auto& use) {
    for (std::int64_t i = 0; i < outer.count; ++i) {
      for (std::int64_t first = 0; first < inner.count; first += of.max_rhs) {
        use(i * outer.b_stride + first * inner.b_stride, i * outer.x_stride + first * inner.x_stride,
            std::min(of.max_rhs, inner.count - first));
      }
    }
  };

  if (by.batch != nullptr) {
    check(sptrsv_update_batch(by.batch, a.first.values, a.systems * a.first.entries, stream));
    for_each_part([&](std::int64_t of_b, std::int64_t of_x, std::int64_t count) {
      const sptrsv_batch_vectors right{at(b, of_b), count, columns, inner.b_stride, b_system};
      const sptrsv_batch_vectors solution{at(x, of_x), count, columns, inner.x_stride, size};
      check(sptrsv_solve_batch(by.batch, nullptr, &right, &solution, stream));
    });
    return;
  }
  for (std::int64_t system = 0; system < a.systems; ++system) {
    check(sptrsv_update_values(by.solver, a.values_of(system), a.first.entries, stream));
    for_each_part([&](std::int64_t of_b, std::int64_t of_x, std::int64_t count) {
      const sptrsv_vectors right{at(b, of_b + system * b_system), count, columns, inner.b_stride};
      const sptrsv_vectors solution{at(x, of_x + system * size), count, columns, inner.x_stride};
      check(sptrsv_solve_many(by.solver, nullptr, &right, &solution, nullptr, stream));
    });
  }
}

/// Copies inside the memory of the host, or of the GPU by CUDA's driver, which XLA has loaded.
void copy(void* to, const void* from, std::size_t bytes, void* stream) {
  if (stream == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  using function = int (*)(std::uintptr_t, std::uintptr_t, std::size_t, void*);  // cuMemcpyAsync
  static const auto copy_async = [] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return reinterpret_cast<function>(driver != nullptr ? dlsym(driver, "cuMemcpyAsync") : nullptr);
  }();
  const int status = copy_async == nullptr
                         ? -1
                         : copy_async(reinterpret_cast<std::uintptr_t>(to),
                                      reinterpret_cast<std::uintptr_t>(from), bytes, stream);
  if (status != 0) {
    throw failure{ffi::Error::Internal("cuMemcpyAsync failed with the code " + std::to_string(status))};
  }
}

/// Writes the incomplete factors of each matrix, in its pattern.
void factorize_all(analysis& by, const attributes& of, const matrices& a, const ffi::AnyBuffer& factors,
                   void* stream) {
  by.prepare_factorization(of, a, stream);
  sptrsv_matrix product;
  check(sptrsv_get_incomplete_factors(by.incomplete, &a.first, &product));
  const std::size_t bytes = static_cast<std::size_t>(a.first.entries) * a.value_bytes;
  if (product.entries != a.first.entries ||
      factors.size_bytes() != static_cast<std::size_t>(a.systems) * bytes) {
    fail("the factors of the call do not fit to the matrix");
  }
  for (std::int64_t system = 0; system < a.systems; ++system) {
    check(sptrsv_factorize(by.incomplete, a.values_of(system), a.first.entries, stream));
    copy(static_cast<std::byte*>(factors.untyped_data()) + static_cast<std::size_t>(system) * bytes,
         product.values, bytes, stream);
  }
}

/// Runs `work(analysis, attributes, matrices)` with the analysis of a call, which no other call uses
/// meanwhile.
template <class Work>
ffi::Error with_analysis(void* stream, const ffi::AnyBuffer& offsets, const ffi::AnyBuffer& indices,
                         const ffi::AnyBuffer& values, const ffi::Dictionary& given, const Work& work) {
  try {
    const attributes of(given);
    const matrices a(of, offsets, indices, values);
    const std::shared_ptr<analysis> by = all_analyses().at(of, a, stream);
    const std::lock_guard lock(by->in_use);
    work(*by, of, a);
    return ffi::Error::Success();
  } catch (const failure& e) {
    return e.error;
  } catch (const std::exception& e) {
    return ffi::Error::Internal(e.what());
  }
}

ffi::Error solve(void* stream, ffi::AnyBuffer offsets, ffi::AnyBuffer indices, ffi::AnyBuffer values,
                 ffi::AnyBuffer b, ffi::Result<ffi::AnyBuffer> x, ffi::Dictionary given) {
  return with_analysis(stream, offsets, indices, values, given,
                       [&](auto& by, auto& of, auto& a) { solve_all(by, of, a, b, *x, stream); });
}
ffi::Error factorize(void* stream, ffi::AnyBuffer offsets, ffi::AnyBuffer indices, ffi::AnyBuffer values,
                     ffi::Result<ffi::AnyBuffer> factors, ffi::Dictionary given) {
  return with_analysis(stream, offsets, indices, values, given,
                       [&](auto& by, auto& of, auto& a) { factorize_all(by, of, a, *factors, stream); });
}

/// The stream of the host.
struct no_stream {};

/// Returns the binding of the operands of a solve (of a factorisation, without b).
template <class Stream>
auto binding_of_solve() {
  using any = ffi::AnyBuffer;
  return ffi::Ffi::Bind()
      .Ctx<Stream>()
      .template Arg<any>()
      .template Arg<any>()
      .template Arg<any>()
      .template Arg<any>()
      .template Ret<any>()
      .Attrs();
}
template <class Stream>
auto binding_of_factorization() {
  using any = ffi::AnyBuffer;
  return ffi::Ffi::Bind()
      .Ctx<Stream>()
      .template Arg<any>()
      .template Arg<any>()
      .template Arg<any>()
      .template Ret<any>()
      .Attrs();
}

}  // namespace

template <>
struct xla::ffi::CtxDecoding<no_stream> {
  using Type = void*;
  static std::optional<Type> Decode(const XLA_FFI_Api*, XLA_FFI_ExecutionContext*, DiagnosticEngine&) {
    return nullptr;
  }
};

// The handlers that sptrsv.jax registers.
using device_stream = ffi::PlatformStream<void*>;
XLA_FFI_DEFINE_HANDLER_SYMBOL(sptrsv_jax_solve_host, solve, binding_of_solve<no_stream>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(sptrsv_jax_solve_device, solve, binding_of_solve<device_stream>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(sptrsv_jax_factorize_host, factorize, binding_of_factorization<no_stream>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(sptrsv_jax_factorize_device, factorize,
                              binding_of_factorization<device_stream>());

/// Returns how many analyses are kept.
extern "C" std::int64_t sptrsv_jax_count(void) { return all_analyses().count(); }
/// Drops all analyses; those in use are destroyed after their calls.
extern "C" void sptrsv_jax_clear(void) { all_analyses().clear(); }
