// SPDX-License-Identifier: Apache-2.0
// The C interface on top of any_solver, any_factors, any_incomplete, any_batch and the Krylov methods.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "any_krylov.hpp"
#include "sptrsv.h"
#include "sptrsv/any/any_policy.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace {

/// A class any_* for each type of values and of indices.
template <template <class, class> class Any>
using for_each_type =
    std::variant<Any<float, std::int32_t>, Any<float, std::int64_t>,  //
                 Any<double, std::int32_t>, Any<double, std::int64_t>, Any<std::complex<float>, std::int32_t>,
                 Any<std::complex<float>, std::int64_t>, Any<std::complex<double>, std::int32_t>,
                 Any<std::complex<double>, std::int64_t>>;
template <class Value, class Index>
using solver_of = sptrsv::any_solver<Value, Index>;
template <class Value, class Index>
using factors_of = sptrsv::any_factors<Value, Index>;
template <class Value, class Index>
using incomplete_of = sptrsv::any_incomplete<Value, Index>;
template <class Value, class Index>
using batch_of = sptrsv::any_batch<Value, Index>;

}  // namespace

struct sptrsv_workspace {
  sptrsv::detail::any_workspace held;
};

// An object of any type of values and of indices, and the description that owns the texts of sptrsv_info.
struct sptrsv_solver {
  for_each_type<solver_of> held;
  sptrsv::solver_info described{};
};
struct sptrsv_factors {
  for_each_type<factors_of> held;
  sptrsv::factors_info described{};
};
struct sptrsv_incomplete {
  for_each_type<incomplete_of> held;
  int storage;  ///< of the matrix that was analysed
};
struct sptrsv_batch {
  for_each_type<batch_of> held;
  sptrsv::solver_info described{};
};

namespace {

static_assert(static_cast<int>(sptrsv::solve_status::kind::non_finite) == SPTRSV_NON_FINITE);
static_assert(static_cast<int>(sptrsv::incomplete_method::cholesky) == SPTRSV_INCOMPLETE_CHOLESKY);
static_assert(static_cast<int>(sptrsv::factor_part::second) == SPTRSV_SECOND);
static_assert(static_cast<int>(sptrsv::errc::cuda_error) + 1 == SPTRSV_CUDA_ERROR);
static_assert(static_cast<int>(sptrsv::errc::size_mismatch) + 1 == SPTRSV_SIZE_MISMATCH);
static_assert(static_cast<int>(sptrsv::solve_status::kind::growth) == SPTRSV_GROWTH);
static_assert(static_cast<int>(sptrsv::detail::krylov_method::gmres) == SPTRSV_KRYLOV_GMRES);
static_assert(static_cast<int>(sptrsv::krylov::reason::not_positive_definite) ==
              SPTRSV_KRYLOV_NOT_POSITIVE_DEFINITE);

constexpr sptrsv_options default_options{
    sizeof(sptrsv_options), SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, nullptr, 0};

struct last_error {
  std::string text;
  std::int64_t row = -1;
};
thread_local last_error error_of_this_thread;

sptrsv_code record(sptrsv_code code, const char* text, std::int64_t row = -1) noexcept {
  error_of_this_thread.row = row;
  try {
    error_of_this_thread.text = text;
  } catch (...) {
    error_of_this_thread.text.clear();
  }
  return code;
}

/// Returns the code of an error. Those of sptrsv::errc follow success, in their order; one that was added
/// later comes last.
sptrsv_code code_of(sptrsv::errc code) {
  return code == sptrsv::errc::peer_failed ? SPTRSV_PEER_FAILED
                                           : static_cast<sptrsv_code>(static_cast<int>(code) + 1);
}

/// Returns the code of what `call` throws, and records the text.
template <class Call>
sptrsv_code guarded(const Call& call) noexcept {
  try {
    call();
    return SPTRSV_SUCCESS;
  } catch (const sptrsv::error& e) {
    return record(code_of(e.code()), e.what(), e.row().value_or(-1));
  } catch (const std::bad_alloc&) {
    return record(SPTRSV_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception& e) {
    return record(SPTRSV_INTERNAL_ERROR, e.what());
  } catch (...) {
    return record(SPTRSV_INTERNAL_ERROR, "an exception of an unknown type");
  }
}

void expect_not_null(const void* argument, const char* name) {
  SPTRSV_EXPECTS(argument != nullptr, sptrsv::errc::invalid_argument,
                 std::string(name) + " is a null pointer");
}

/// A structure that begins with its size: its name, and its size in the first version, up to the last member.
template <class Structure>
struct sized;
#define SPTRSV_SIZED(structure, last)                                       \
  template <>                                                               \
  struct sized<structure> {                                                 \
    static constexpr const char* name = #structure;                         \
    static constexpr std::size_t first_size =                               \
        offsetof(structure, last) + sizeof(std::declval<structure>().last); \
  }
SPTRSV_SIZED(sptrsv_options, policy);
SPTRSV_SIZED(sptrsv_info, analysis_peak_bytes);
SPTRSV_SIZED(sptrsv_factors_options, policy);
SPTRSV_SIZED(sptrsv_incomplete_options, boost_to);
SPTRSV_SIZED(sptrsv_batch_options, lanes);
SPTRSV_SIZED(sptrsv_krylov_options, solver);
SPTRSV_SIZED(sptrsv_krylov_result, residual);
#undef SPTRSV_SIZED

/// Checks the size that the caller set.
template <class Structure>
void expect_size(const Structure& given) {
  SPTRSV_EXPECTS(given.size >= sized<Structure>::first_size && given.size <= sizeof(Structure),
                 sptrsv::errc::invalid_argument,
                 std::string("the member size of ") + sized<Structure>::name + " is " +
                     std::to_string(given.size) + ", not sizeof(" + sized<Structure>::name + "), which is " +
                     std::to_string(sizeof(Structure)) + " in this version of the library");
}
/// Returns options of the caller, or `defaults` for null; members that the caller does not know are 0.
template <class Options>
Options options_of(const Options* given, const Options& defaults) {
  if (given == nullptr) {
    return defaults;
  }
  expect_size(*given);
  Options all{};
  std::memcpy(&all, given, given->size);
  return all;
}

template <class Enum>
Enum checked(int value, int last, const char* name) {
  SPTRSV_EXPECTS(value >= 0 && value <= last, sptrsv::errc::invalid_argument,
                 std::to_string(value) + " is no " + name);
  return static_cast<Enum>(value);
}

sptrsv::stream_handle stream_of(void* stream) { return static_cast<sptrsv::stream_handle>(stream); }

/// Returns an array of values as a span.
template <class Value>
sptrsv::span<const Value> values_of(const void* values, std::int64_t entries) {
  SPTRSV_EXPECTS(entries >= 0, sptrsv::errc::size_mismatch, "a negative number of values");
  return {static_cast<const Value*>(values), static_cast<std::size_t>(entries)};
}
template <class Value>
sptrsv::dense_view<Value> view_of(const sptrsv_vectors& v, std::int64_t rows) {
  return {static_cast<Value*>(v.data), rows, v.columns, v.row_stride, v.column_stride};
}

/// Calls `use(held, value)` with the object that a handle holds, and a null pointer to its type of values.
template <class Handle, class Use>
auto with_held(Handle& handle, const Use& use) {
  return std::visit(
      [&](auto& held) {
        return use(held, static_cast<typename std::decay_t<decltype(held)>::value_type*>(nullptr));
      },
      handle.held);
}
/// Returns what the last call on an object met, or on a workspace that is not null.
template <class Handle>
sptrsv::solve_status status_of(Handle& handle, sptrsv_workspace* workspace, void* stream) {
  return with_held(handle, [&](auto& held, auto*) {
    return workspace == nullptr ? held.status(stream_of(stream))
                                : held.status(workspace->held, stream_of(stream));
  });
}
template <class Handle>
sptrsv_workspace* workspace_of(const Handle& handle, void* stream) {
  return with_held(handle, [&](const auto& held, auto*) {
    return new sptrsv_workspace{held.make_workspace(stream_of(stream))};
  });
}
/// Returns the factor of b; null stands for 1.
template <class Value>
Value factor_of_rhs(const void* alpha) {
  return alpha != nullptr ? *static_cast<const Value*>(alpha) : Value(1);
}

sptrsv_storage storage_of(const sptrsv_matrix& a) {
  return checked<sptrsv_storage>(a.storage, SPTRSV_BSR_BY_COLUMNS, "sptrsv_storage");
}
template <class View>
View matrix_view(const sptrsv_matrix& a) {
  using index = typename View::index_type;
  return {a.rows,
          a.columns,
          a.entries,
          static_cast<const index*>(a.offsets),
          static_cast<const index*>(a.indices),
          static_cast<const typename View::value_type*>(a.values)};
}
/// Returns the policy of options that give its text, or null.
sptrsv::any_policy policy_of(const char* text) { return text != nullptr ? text : ""; }

template <class T>
sptrsv::span<const T> array_of(const void* data, std::int64_t elements) {
  return {static_cast<const T*>(data), data != nullptr ? static_cast<std::size_t>(elements) : 0};
}
sptrsv::triangular_factor factor_of(const sptrsv_factor& f) {
  return {checked<sptrsv::uplo>(f.part, SPTRSV_UPPER, "sptrsv_part"),
          checked<sptrsv::diag>(f.diagonal, SPTRSV_UNIT, "sptrsv_diagonal"),
          checked<sptrsv::op>(f.operation, SPTRSV_CONJ_TRANSPOSE, "sptrsv_operation")};
}

sptrsv::system_options system_of(const sptrsv_options& options) {
  const sptrsv::triangular_factor triangle = factor_of({options.part, options.diagonal, options.operation});
  return {triangle.part, triangle.diagonal, triangle.operation, options.max_rhs};
}

/// Calls `visit(number, integer)` with null pointers to the types of a matrix, and returns the result.
template <class Visit>
auto visit_types(const sptrsv_matrix& a, const Visit& visit) {
  const bool has_int64 =
      checked<sptrsv_index_type>(a.index_type, SPTRSV_INT64, "sptrsv_index_type") == SPTRSV_INT64;
  const auto with_value = [&](auto* value) {
    return has_int64 ? visit(value, static_cast<std::int64_t*>(nullptr))
                     : visit(value, static_cast<std::int32_t*>(nullptr));
  };
  switch (checked<sptrsv_value_type>(a.value_type, SPTRSV_COMPLEX_DOUBLE, "sptrsv_value_type")) {
    case SPTRSV_FLOAT:
      return with_value(static_cast<float*>(nullptr));
    case SPTRSV_DOUBLE:
      return with_value(static_cast<double*>(nullptr));
    case SPTRSV_COMPLEX_FLOAT:
      return with_value(static_cast<std::complex<float>*>(nullptr));
    default:
      return with_value(static_cast<std::complex<double>*>(nullptr));
  }
}

/// Calls `visit(view_type)` with a null pointer to the type of the view of a matrix by rows or by columns,
/// and returns the result.
template <class Visit>
auto visit_view_type(const sptrsv_matrix& a, const Visit& visit) {
  const sptrsv_storage storage = storage_of(a);
  SPTRSV_EXPECTS(storage <= SPTRSV_CSC, sptrsv::errc::unsupported,
                 "matrices of blocks are for sptrsv_analyze only");
  return visit_types(a, [&](auto* value, auto* index) {
    using number = std::remove_pointer_t<decltype(value)>;
    using integer = std::remove_pointer_t<decltype(index)>;
    return storage == SPTRSV_CSC ? visit(static_cast<sptrsv::csc_view<number, integer>*>(nullptr))
                                 : visit(static_cast<sptrsv::csr_view<number, integer>*>(nullptr));
  });
}

std::unique_ptr<sptrsv_solver> analyze_any(const sptrsv_matrix& a, const sptrsv_options& options,
                                           void* stream) {
  const sptrsv::system_options system = system_of(options);
  if (storage_of(a) > SPTRSV_CSC) {
    return visit_types(a, [&](auto* value, auto* index) {
      using view =
          sptrsv::bsr_view<std::remove_pointer_t<decltype(value)>, std::remove_pointer_t<decltype(index)>>;
      auto blocks = matrix_view<view>(a);
      blocks.block_size = options.block_size;
      blocks.order = a.storage == SPTRSV_BSR ? sptrsv::block_order::by_rows : sptrsv::block_order::by_columns;
      return std::unique_ptr<sptrsv_solver>(
          new sptrsv_solver{sptrsv::analyze(policy_of(options.policy), blocks, system, stream_of(stream))});
    });
  }
  return visit_view_type(a, [&](auto* type) {
    using view = std::remove_pointer_t<decltype(type)>;
    return std::unique_ptr<sptrsv_solver>(new sptrsv_solver{
        sptrsv::analyze(policy_of(options.policy), matrix_view<view>(a), system, stream_of(stream))});
  });
}

std::unique_ptr<sptrsv_factors> analyze_any(const sptrsv_matrix& first, const sptrsv_matrix* second,
                                            const sptrsv_factors_options& from, void* stream) {
  SPTRSV_EXPECTS(
      second == nullptr || (second->storage == first.storage && second->value_type == first.value_type &&
                            second->index_type == first.index_type),
      sptrsv::errc::invalid_argument, "the matrices of the factors differ in types or in storage");
  return visit_view_type(first, [&](auto* type) {
    using view = std::remove_pointer_t<decltype(type)>;
    using value = typename view::value_type;
    using index = typename view::index_type;
    sptrsv::factors_options<value, index> options;
    options.first = factor_of(from.first);
    options.second = factor_of(from.second);
    options.has_diagonal = from.has_diagonal != 0;
    options.transposed = checked<sptrsv::op>(from.transposed, SPTRSV_CONJ_TRANSPOSE, "sptrsv_operation");
    options.max_rhs = from.max_rhs;
    options.row_order = array_of<index>(from.row_order, first.rows);
    options.column_order = array_of<index>(from.column_order, first.rows);
    options.row_scale = array_of<value>(from.row_scale, first.rows);
    options.column_scale = array_of<value>(from.column_scale, first.rows);
    const sptrsv::any_policy policy = policy_of(from.policy);
    const auto first_view = matrix_view<view>(first);
    return std::unique_ptr<sptrsv_factors>(new sptrsv_factors{
        second == nullptr ? sptrsv::analyze_factors(policy, first_view, options, stream_of(stream))
                          : sptrsv::analyze_factors(policy, first_view, matrix_view<view>(*second), options,
                                                    stream_of(stream))});
  });
}

std::unique_ptr<sptrsv_incomplete> analyze_any(const sptrsv_matrix& a, const sptrsv_incomplete_options& from,
                                               void* stream) {
  const auto method =
      checked<sptrsv::incomplete_method>(from.method, SPTRSV_INCOMPLETE_CHOLESKY, "sptrsv_incomplete_method");
  const sptrsv::incomplete_options options({from.diagonal_shift, from.boost_below, from.boost_to},
                                           from.fill_level);
  return visit_view_type(a, [&](auto* type) {
    using view = std::remove_pointer_t<decltype(type)>;
    return std::unique_ptr<sptrsv_incomplete>(new sptrsv_incomplete{
        sptrsv::analyze_incomplete(method, matrix_view<view>(a), options, stream_of(stream)), a.storage});
  });
}

/// Returns the factors as a matrix that is stored as `of`, the matrix that was analysed.
sptrsv_matrix factors_of_matrix(const sptrsv_incomplete& incomplete, const sptrsv_matrix& of) {
  return visit_view_type(of, [&](auto* type) {
    using view_type = std::remove_pointer_t<decltype(type)>;
    const auto* const held =
        std::get_if<incomplete_of<typename view_type::value_type, typename view_type::index_type>>(
            &incomplete.held);
    SPTRSV_EXPECTS(held != nullptr && of.storage == incomplete.storage, sptrsv::errc::invalid_argument,
                   "the matrix has other types or another storage than the one that was analysed");
    const view_type view = held->view(matrix_view<view_type>(of));
    const auto pattern = sptrsv::detail::pattern_of(view);
    sptrsv_matrix result = of;
    result.entries = view.entries;
    result.offsets = pattern.offsets;
    result.indices = pattern.indices;
    result.values = view.values;
    return result;
  });
}

std::unique_ptr<sptrsv_batch> analyze_any(const sptrsv_matrix& a, const sptrsv_batch_options& systems,
                                          const sptrsv_options& options, void* stream) {
  SPTRSV_EXPECTS(options.policy == nullptr, sptrsv::errc::invalid_argument, "a batch has no policy");
  const sptrsv::system_options system = system_of(options);
  const sptrsv::batch_options batch{systems.systems, systems.value_stride, systems.lanes};
  return visit_view_type(a, [&](auto* type) {
    using view = std::remove_pointer_t<decltype(type)>;
    const auto last = sptrsv::detail::checked_product(
        std::max(std::int64_t{0}, batch.systems - 1),
        batch.value_stride == 0 ? std::max(std::int64_t{0}, a.entries) : batch.value_stride);
    const auto values = values_of<typename view::value_type>(a.values, last + a.entries);
    return std::unique_ptr<sptrsv_batch>(new sptrsv_batch{
        sptrsv::analyze_any_batch(matrix_view<view>(a), values, batch, system, stream_of(stream))});
  });
}

/// Returns the application of a handle to factors or a solver, as the preconditioner of a matrix of `rows`
/// rows. `apply(held, x, y, stream)` enqueues y = M^-1 x.
template <class Value, class Handle, class Apply>
sptrsv::detail::any_preconditioner<Value> preconditioner_of(Handle& handle, std::int64_t rows,
                                                            const Apply& apply) {
  return with_held(handle, [&](auto& held, auto* value) -> sptrsv::detail::any_preconditioner<Value> {
    if constexpr (std::is_same_v<decltype(value), Value*>) {
      SPTRSV_EXPECTS(held.rows() == rows, sptrsv::errc::size_mismatch,
                     "the preconditioner has " + std::to_string(held.rows()) + " rows, the matrix " +
                         std::to_string(rows));
      return [&held, apply](sptrsv::span<const Value> x, sptrsv::span<Value> y,
                            sptrsv::stream_handle stream) { apply(held, x, y, stream); };
    }
    throw sptrsv::error(sptrsv::errc::invalid_argument,
                        "the preconditioner has another type of values than the matrix");
  });
}

sptrsv::krylov::result solve_krylov(const sptrsv_matrix& a, const sptrsv_krylov_options& from, const void* b,
                                    void* x, void* stream) {
  const auto method =
      checked<sptrsv::detail::krylov_method>(from.method, SPTRSV_KRYLOV_GMRES, "sptrsv_krylov_method");
  SPTRSV_EXPECTS(storage_of(a) == SPTRSV_CSR, sptrsv::errc::unsupported,
                 "a Krylov method takes matrices by rows (SPTRSV_CSR)");
  SPTRSV_EXPECTS(from.factors == nullptr || from.solver == nullptr, sptrsv::errc::invalid_argument,
                 "the options have two preconditioners, factors and a solver");
  sptrsv::krylov::options options;
  options.tolerance = from.relative_tolerance;
  options.absolute_tolerance = from.absolute_tolerance;
  options.max_iterations = from.max_iterations;
  options.restart = from.restart;
  options.check_symmetry = from.check_symmetry != 0;
  return visit_view_type(a, [&](auto* type) -> sptrsv::krylov::result {
    using view = std::remove_pointer_t<decltype(type)>;
    using value = typename view::value_type;
    if constexpr (std::is_same_v<view, sptrsv::csr_view<value, typename view::index_type>>) {
      sptrsv::detail::any_preconditioner<value> m;
      if (from.factors != nullptr) {
        m = preconditioner_of<value>(*from.factors, a.rows,
                                     [](auto& of, auto r, auto z, auto on) { of.apply(r, z, on); });
      } else if (from.solver != nullptr) {
        m = preconditioner_of<value>(*from.solver, a.rows,
                                     [](auto& of, auto r, auto z, auto on) { of.solve(r, z, on); });
      }
      const auto to = values_of<value>(x, a.rows);
      return sptrsv::detail::solve_any_krylov(method, matrix_view<view>(a), m, values_of<value>(b, a.rows),
                                              {static_cast<value*>(x), to.size()}, options,
                                              stream_of(stream));
    }
    return {};  // unreachable: the matrix is stored by rows
  });
}

/// Copies a description for C, as much as the caller knows; its texts stay those of `from`.
void describe(const sptrsv::solver_info& from, sptrsv_info& to) {
  const sptrsv_info all{to.size,
                        from.policy.c_str(),
                        from.device.c_str(),
                        from.chosen.c_str(),
                        from.path.c_str(),
                        from.plan.c_str(),
                        from.bit_reproducible ? 1 : 0,
                        from.rows,
                        from.entries,
                        from.ignored_entries,
                        from.levels,
                        from.solver_bytes,
                        from.workspace_bytes,
                        from.analysis_peak_bytes};
  std::memcpy(&to, &all, to.size);
}

/// Copies what a call met; `row` may be null.
void report(const sptrsv::solve_status& met, sptrsv_solve_status& status, int64_t* row) {
  status = static_cast<sptrsv_solve_status>(met.code);
  if (row != nullptr) {
    *row = met.row.value_or(-1);
  }
}

sptrsv_code apply(bool transposed, sptrsv_factors* factors, const sptrsv_vectors* b, const sptrsv_vectors* x,
                  sptrsv_workspace* workspace, void* stream) {
  return guarded([&] {
    expect_not_null(factors, "factors");
    expect_not_null(b, "b");
    expect_not_null(x, "x");
    with_held(*factors, [&](auto& held, auto* value) {
      using number = std::remove_pointer_t<decltype(value)>;
      const auto from = view_of<number>(*b, held.rows());
      const auto to = view_of<number>(*x, held.rows());
      const auto own = stream_of(stream);
      if (workspace == nullptr) {
        transposed ? held.apply_transpose(from, to, own) : held.apply(from, to, own);
      } else {
        transposed ? held.apply_transpose(from, to, workspace->held, own)
                   : held.apply(from, to, workspace->held, own);
      }
    });
  });
}

}  // namespace

int sptrsv_version(void) { return SPTRSV_VERSION; }

size_t sptrsv_size_of(const char* structure) {
#define SPTRSV_STRUCTURE(name) \
  { #name, sizeof(name) }
  static constexpr struct {
    const char* name;
    std::size_t size;
  } structures[] = {SPTRSV_STRUCTURE(sptrsv_matrix),
                    SPTRSV_STRUCTURE(sptrsv_options),
                    SPTRSV_STRUCTURE(sptrsv_vectors),
                    SPTRSV_STRUCTURE(sptrsv_info),
                    SPTRSV_STRUCTURE(sptrsv_factor),
                    SPTRSV_STRUCTURE(sptrsv_factors_options),
                    SPTRSV_STRUCTURE(sptrsv_incomplete_options),
                    SPTRSV_STRUCTURE(sptrsv_batch_options),
                    SPTRSV_STRUCTURE(sptrsv_batch_vectors),
                    SPTRSV_STRUCTURE(sptrsv_krylov_options),
                    SPTRSV_STRUCTURE(sptrsv_krylov_result)};
#undef SPTRSV_STRUCTURE
  for (const auto& s : structures) {
    if (structure != nullptr && std::strcmp(structure, s.name) == 0) {
      return s.size;
    }
  }
  return 0;
}

const char* sptrsv_last_error(void) { return error_of_this_thread.text.c_str(); }
int64_t sptrsv_last_error_row(void) { return error_of_this_thread.row; }

const char* sptrsv_policy_names(void) {
  static const std::string names = [] {
    std::string text;
    for (const std::string& name : sptrsv::any_policy_names()) {
      text += (text.empty() ? "" : ",") + name;
    }
    return text;
  }();
  return names.c_str();
}

sptrsv_code sptrsv_analyze(const sptrsv_matrix* matrix, const sptrsv_options* options, void* stream,
                           sptrsv_solver** solver) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    *solver = nullptr;
    expect_not_null(matrix, "matrix");
    *solver = analyze_any(*matrix, options_of(options, default_options), stream).release();
  });
}
void sptrsv_destroy(sptrsv_solver* solver) { delete solver; }

sptrsv_code sptrsv_update_values(sptrsv_solver* solver, const void* values, int64_t entries, void* stream) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    with_held(*solver, [&](auto& held, auto* value) {
      held.update_values(values_of<std::remove_pointer_t<decltype(value)>>(values, entries),
                         stream_of(stream));
    });
  });
}

sptrsv_code sptrsv_solve(sptrsv_solver* solver, const void* b, void* x, void* stream) {
  const sptrsv_vectors from{const_cast<void*>(b), 1, 1, 0};  // solve() does not write to b
  const sptrsv_vectors to{x, 1, 1, 0};
  return sptrsv_solve_many(solver, nullptr, &from, &to, nullptr, stream);
}
sptrsv_code sptrsv_solve_many(sptrsv_solver* solver, const void* alpha, const sptrsv_vectors* b,
                              const sptrsv_vectors* x, sptrsv_workspace* workspace, void* stream) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    expect_not_null(b, "b");
    expect_not_null(x, "x");
    with_held(*solver, [&](auto& held, auto* value) {
      using number = std::remove_pointer_t<decltype(value)>;
      const auto from = view_of<number>(*b, held.rows());
      const auto to = view_of<number>(*x, held.rows());
      const auto factor = factor_of_rhs<number>(alpha);
      workspace == nullptr ? held.solve(from, to, factor, stream_of(stream))
                           : held.solve(from, to, factor, workspace->held, stream_of(stream));
    });
  });
}

sptrsv_code sptrsv_make_workspace(const sptrsv_solver* solver, void* stream, sptrsv_workspace** workspace) {
  return guarded([&] {
    expect_not_null(workspace, "workspace");
    *workspace = nullptr;
    expect_not_null(solver, "solver");
    *workspace = workspace_of(*solver, stream);
  });
}
void sptrsv_destroy_workspace(sptrsv_workspace* workspace) { delete workspace; }

sptrsv_code sptrsv_get_status(sptrsv_solver* solver, sptrsv_workspace* workspace, void* stream,
                              sptrsv_solve_status* status, int64_t* row) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    expect_not_null(status, "status");
    report(status_of(*solver, workspace, stream), *status, row);
  });
}

sptrsv_code sptrsv_get_info(sptrsv_solver* solver, sptrsv_info* info) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    expect_not_null(info, "info");
    expect_size(*info);
    solver->described = with_held(*solver, [](const auto& held, auto*) { return held.info(); });
    describe(solver->described, *info);
  });
}

sptrsv_code sptrsv_analyze_factors(const sptrsv_matrix* first, const sptrsv_matrix* second,
                                   const sptrsv_factors_options* options, void* stream,
                                   sptrsv_factors** factors) {
  return guarded([&] {
    expect_not_null(factors, "factors");
    *factors = nullptr;
    expect_not_null(first, "first");
    *factors = analyze_any(*first, second, options_of(options, sptrsv_lu_options()), stream).release();
  });
}
void sptrsv_destroy_factors(sptrsv_factors* factors) { delete factors; }

sptrsv_code sptrsv_update_factors(sptrsv_factors* factors, const void* first_values, int64_t first_entries,
                                  const void* second_values, int64_t second_entries, void* stream) {
  return guarded([&] {
    expect_not_null(factors, "factors");
    with_held(*factors, [&](auto& held, auto* value) {
      using number = std::remove_pointer_t<decltype(value)>;
      const auto first = values_of<number>(first_values, first_entries);
      if (second_values == nullptr) {
        held.update_values(first, stream_of(stream));
      } else {
        held.update_values(first, values_of<number>(second_values, second_entries), stream_of(stream));
      }
    });
  });
}

sptrsv_code sptrsv_apply(sptrsv_factors* factors, const sptrsv_vectors* b, const sptrsv_vectors* x,
                         sptrsv_workspace* workspace, void* stream) {
  return apply(false, factors, b, x, workspace, stream);
}
sptrsv_code sptrsv_apply_transpose(sptrsv_factors* factors, const sptrsv_vectors* b, const sptrsv_vectors* x,
                                   sptrsv_workspace* workspace, void* stream) {
  return apply(true, factors, b, x, workspace, stream);
}

sptrsv_code sptrsv_make_factors_workspace(const sptrsv_factors* factors, void* stream,
                                          sptrsv_workspace** workspace) {
  return guarded([&] {
    expect_not_null(workspace, "workspace");
    *workspace = nullptr;
    expect_not_null(factors, "factors");
    *workspace = workspace_of(*factors, stream);
  });
}

sptrsv_code sptrsv_get_factors_status(sptrsv_factors* factors, sptrsv_workspace* workspace, void* stream,
                                      sptrsv_solve_status* status, sptrsv_factor_part* part, int64_t* row) {
  return guarded([&] {
    expect_not_null(factors, "factors");
    expect_not_null(status, "status");
    const sptrsv::solve_status met = status_of(*factors, workspace, stream);
    report(met, *status, row);
    if (part != nullptr && met.part) {
      *part = static_cast<sptrsv_factor_part>(*met.part);
    }
  });
}

sptrsv_code sptrsv_get_factors_info(sptrsv_factors* factors, int number, sptrsv_info* info) {
  return guarded([&] {
    expect_not_null(factors, "factors");
    expect_not_null(info, "info");
    expect_size(*info);
    factors->described = with_held(*factors, [](const auto& held, auto*) { return held.info(); });
    const auto solvers = static_cast<int>(factors->described.solvers.size());
    SPTRSV_EXPECTS(
        number >= 0 && number < solvers, sptrsv::errc::invalid_argument,
        "the factors have no solver " + std::to_string(number) + "; they have " + std::to_string(solvers));
    describe(factors->described.solvers[static_cast<std::size_t>(number)], *info);
  });
}

sptrsv_code sptrsv_analyze_incomplete(const sptrsv_matrix* matrix, const sptrsv_incomplete_options* options,
                                      void* stream, sptrsv_incomplete** incomplete) {
  return guarded([&] {
    expect_not_null(incomplete, "incomplete");
    *incomplete = nullptr;
    expect_not_null(matrix, "matrix");
    *incomplete = analyze_any(*matrix, options_of(options, sptrsv_incomplete_options{}), stream).release();
  });
}
void sptrsv_destroy_incomplete(sptrsv_incomplete* incomplete) { delete incomplete; }

sptrsv_code sptrsv_factorize(sptrsv_incomplete* incomplete, const void* values, int64_t entries,
                             void* stream) {
  return guarded([&] {
    expect_not_null(incomplete, "incomplete");
    with_held(*incomplete, [&](auto& held, auto* value) {
      held.factorize(values_of<std::remove_pointer_t<decltype(value)>>(values, entries), stream_of(stream));
    });
  });
}

sptrsv_code sptrsv_get_incomplete_factors(const sptrsv_incomplete* incomplete, const sptrsv_matrix* matrix,
                                          sptrsv_matrix* factors) {
  return guarded([&] {
    expect_not_null(incomplete, "incomplete");
    expect_not_null(matrix, "matrix");
    expect_not_null(factors, "factors");
    *factors = factors_of_matrix(*incomplete, *matrix);
  });
}

sptrsv_code sptrsv_get_incomplete_status(const sptrsv_incomplete* incomplete, void* stream,
                                         sptrsv_solve_status* status, int64_t* row, int64_t* boosted_pivots) {
  return guarded([&] {
    expect_not_null(incomplete, "incomplete");
    expect_not_null(status, "status");
    const sptrsv::solve_status met =
        with_held(*incomplete, [&](const auto& held, auto*) { return held.status(stream_of(stream)); });
    report(met, *status, row);
    if (boosted_pivots != nullptr) {
      *boosted_pivots = met.boosted_pivots;
    }
  });
}

sptrsv_code sptrsv_analyze_batch(const sptrsv_matrix* matrix, const sptrsv_batch_options* systems,
                                 const sptrsv_options* options, void* stream, sptrsv_batch** batch) {
  return guarded([&] {
    expect_not_null(batch, "batch");
    *batch = nullptr;
    expect_not_null(matrix, "matrix");
    expect_not_null(systems, "systems");
    *batch =
        analyze_any(*matrix, options_of(systems, {}), options_of(options, default_options), stream).release();
  });
}
void sptrsv_destroy_batch(sptrsv_batch* batch) { delete batch; }

sptrsv_code sptrsv_update_batch(sptrsv_batch* batch, const void* values, int64_t count, void* stream) {
  return guarded([&] {
    expect_not_null(batch, "batch");
    with_held(*batch, [&](auto& held, auto* value) {
      held.update_values(values_of<std::remove_pointer_t<decltype(value)>>(values, count), stream_of(stream));
    });
  });
}

sptrsv_code sptrsv_solve_batch(sptrsv_batch* batch, const void* alpha, const sptrsv_batch_vectors* b,
                               const sptrsv_batch_vectors* x, void* stream) {
  return guarded([&] {
    expect_not_null(batch, "batch");
    expect_not_null(b, "b");
    expect_not_null(x, "x");
    with_held(*batch, [&](auto& held, auto* value) {
      using number = std::remove_pointer_t<decltype(value)>;
      const auto view = [&](const sptrsv_batch_vectors& v) {
        return sptrsv::batch_view<number>(static_cast<number*>(v.data), held.systems(), held.rows(),
                                          v.columns, v.row_stride, v.column_stride, v.system_stride);
      };
      held.solve(view(*b), view(*x), factor_of_rhs<number>(alpha), stream_of(stream));
    });
  });
}

sptrsv_code sptrsv_get_batch_status(sptrsv_batch* batch, void* stream, sptrsv_solve_status* status,
                                    int64_t* system, int64_t* row) {
  return guarded([&] {
    expect_not_null(batch, "batch");
    expect_not_null(status, "status");
    const sptrsv::solve_status met =
        with_held(*batch, [&](auto& held, auto*) { return held.status(stream_of(stream)); });
    report(met, *status, row);
    if (system != nullptr) {
      *system = met.system.value_or(-1);
    }
  });
}

sptrsv_code sptrsv_get_batch_info(sptrsv_batch* batch, sptrsv_info* info) {
  return guarded([&] {
    expect_not_null(batch, "batch");
    expect_not_null(info, "info");
    expect_size(*info);
    batch->described = with_held(*batch, [](const auto& held, auto*) { return held.info(); });
    describe(batch->described, *info);
  });
}

sptrsv_code sptrsv_solve_krylov(const sptrsv_matrix* matrix, const sptrsv_krylov_options* options,
                                const void* b, void* x, void* stream, sptrsv_krylov_result* result) {
  return guarded([&] {
    expect_not_null(matrix, "matrix");
    expect_not_null(result, "result");
    expect_size(*result);
    const sptrsv::krylov::result made =
        solve_krylov(*matrix, options_of(options, sptrsv_default_krylov_options()), b, x, stream);
    const sptrsv_krylov_result all{result->size, static_cast<sptrsv_krylov_reason>(made.why), made.iterations,
                                   made.residual};
    std::memcpy(result, &all, result->size);
  });
}
