// SPDX-License-Identifier: Apache-2.0
// What the Krylov methods have in common (operands, memory, launches, the loop around their cycles), and the
// methods with short recurrences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/krylov/vector_step.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::krylov {
struct no_preconditioner;
template <class Value, class Index, class Offset, class Stream>
class csr_operator;
}  // namespace sptrsv::SPTRSV_ABI::krylov

namespace sptrsv::SPTRSV_ABI::detail::krylov {

using sptrsv::krylov::options;

/// The arrays of a method, which grow and are kept for the next one.
template <class Value>
struct method_memory {
  using wide = wide_t<scalar_t<Value>>;

  memory_resource* resource = nullptr;
  buffer<Value> vectors;
  buffer<wide> parts;
  buffer<wide> scalars;  ///< of gmres
  buffer<double> history;
  buffer<progress<wide>> state;

  template <class T, class Executor>
  void reserve(buffer<T>& array, std::int64_t size, const Executor& on) const {
    if (count_of(array) < size) {
      array = {};
      array = make_buffer<T>(size, on, *resource);
    }
  }
};

/// What repeat_iteration() keeps for the next cycle; cuda_loop.cuh has that of CUDA.
template <class Executor>
struct iteration_graph {};

/// Repeats `iterate(stream)` until the method stops. There is an overload for CUDA (cuda_loop.cuh).
template <class Executor, class Wide, class Stream, class Iterate>
void repeat_iteration(iteration_graph<Executor>&, const method_data<Wide>& data, const options& o,
                      Stream stream, const Iterate& iterate) {
  do {
    for (int k = 0; k < (simt::has_kernels<Executor> ? o.check_interval : 1); ++k) {
      iterate(stream);
    }
  } while (download_value(&data.state->stop, Executor(stream)) == 0);
}

template <class Operator>
inline constexpr bool is_csr = false;
template <class... Types>
inline constexpr bool is_csr<sptrsv::krylov::csr_operator<Types...>> = true;

/// A method on its operands. A derived class has cycle(), which iterates from the residual in vector 0 until
/// a kernel stops the method, and leaves x with all that it has found.
template <class Value, class Stream, class Operator, class Preconditioner>
struct method {
  using executor = executor_t<Stream>;
  using scalar = scalar_t<Value>;
  using wide = wide_t<scalar>;

  Operator& a;
  Preconditioner& m;
  const scalar* b;
  scalar* x;
  std::int64_t rows;
  const options& wanted;
  method_memory<Value>& memory;
  Stream stream;
  method_data<wide> data{};
  progress<wide> state{};
  iteration_graph<executor> graph{};

  /// Takes memory for vectors, for the sums and the scalars of a basis, and starts.
  void prepare(std::int64_t vectors, std::int64_t slots_of_basis, std::int64_t scalars) {
    const executor on(stream);
    memory.reserve(memory.vectors, vectors * rows, on);
    memory.reserve(memory.parts, (slot::basis + slots_of_basis) * max_parts, on);
    memory.reserve(memory.scalars, scalars, on);
    memory.reserve(memory.history, wanted.keep_history ? std::int64_t{wanted.max_iterations} + 1 : 0, on);
    memory.reserve(memory.state, 1, on);
    data = {memory.state.data(), memory.parts.data(), wanted.keep_history ? memory.history.data() : nullptr,
            0};
    start_cycle();
    state.max_iterations = wanted.max_iterations;
    state.b_norm = std::sqrt(real_part(inner_product(b, b)));
    // The true residual differs by rounding errors.
    state.limit = 0.999 * std::max(wanted.tolerance * state.b_norm, wanted.absolute_tolerance);
  }

  [[nodiscard]] scalar* vector(std::int64_t k) const { return as_scalar(memory.vectors.data()) + k * rows; }
  /// Passes `state` to the kernels, which work again.
  void start_cycle() {
    state.stop = 0;
    executor(stream).upload(memory.state.data(), &state, sizeof(state));
  }
  /// Repeats an iteration until a kernel stops the method, and reads the state.
  template <class Iterate>
  void repeat(const Iterate& iterate) {
    repeat_iteration(graph, data, wanted, stream, iterate);
    state = download_value(data.state, executor(stream));
  }

  template <class Body>
  void step(const Body& body, Stream on) const {
    launch<step_agent<Body>>(executor(on), step_blocks(rows), {rows, data, body});
  }
  void step(const vector_step<scalar>& body, Stream on) const { step<vector_step<scalar>>(body, on); }
  template <class Any>
  void apply(Any& any, const scalar* from, scalar* to, Stream on) const {
    const span<const Value> u(reinterpret_cast<const Value*>(from), at(rows));
    const span<Value> v(reinterpret_cast<Value*>(to), at(rows));
    if constexpr (std::is_invocable_v<Any&, span<const Value>, span<Value>, Stream>) {
      any(u, v, on);
    } else {
      any.apply(u, v, on);
    }
  }
  void product(const scalar* from, scalar* to, Stream on) const { apply(a, from, to, on); }
  /// Enqueues to = A from, and left^H to as slot::product. Returns the parts of the sum.
  std::int64_t product_with(const scalar* left, const scalar* from, scalar* to, Stream on) const {
    if constexpr (is_csr<std::remove_const_t<Operator>>) {
      return csr_product(a.view(), from, to, left, data, executor(on));
    } else {
      product(from, to, on);
      step({rule::given, {}, {{left, to}}, slot::product}, on);
      return step_blocks(rows);
    }
  }
  /// Enqueues M^-1 from. Returns where it is.
  const scalar* precondition(const scalar* from, scalar* to, Stream on) const {
    if constexpr (std::is_same_v<std::remove_const_t<Preconditioner>, sptrsv::krylov::no_preconditioner>) {
      return from;
    } else {
      apply(m, from, to, on);
      return to;
    }
  }

  /// Returns a sum that a step has published. Synchronises.
  [[nodiscard]] wide total(slot of) const {
    wide sum{};
    for (const wide& part :
         download_array(memory.parts.data() + of * max_parts, step_blocks(rows), executor(stream))) {
      sum = sum + part;
    }
    return sum;
  }
  /// Returns u^H v. Synchronises.
  [[nodiscard]] wide inner_product(const scalar* u, const scalar* v) const {
    step({rule::given, {}, {{u, v}}}, stream);
    return total(slot::square);
  }
  /// Computes the residual of x in vector 0. Returns its norm. Synchronises.
  [[nodiscard]] double residual_norm() const {
    product(x, vector(0), stream);
    step({rule::given, {{vector(0), {b, vector(0)}}}, {{vector(0), vector(0)}}, slot::square, 0, {{1, -1}}},
         stream);
    return std::sqrt(real_part(total(slot::square)));
  }
  /// Returns whether u^H A v is the conjugate of v^H A u, to within rounding errors, for two vectors.
  [[nodiscard]] bool is_symmetric() const {
    scalar* const v[4] = {vector(0), vector(1), vector(2), vector(3)};
    step({rule::noise, {{v[0]}, {v[1]}}}, stream);
    product(v[0], v[2], stream);
    product(v[1], v[3], stream);
    const wide difference = inner_product(v[1], v[2]) - conjugate(inner_product(v[0], v[3]));
    const double square = real_part(inner_product(v[2], v[2])) + real_part(inner_product(v[3], v[3]));
    const double precision = static_cast<double>(std::numeric_limits<real_t<scalar>>::epsilon());
    return !(magnitude(difference) > 8 * precision * std::sqrt(static_cast<double>(rows) * square));
  }
};

/// Runs the cycles of a method until the residual of x itself is small enough, or nothing helps.
template <class Method>
sptrsv::krylov::result run(Method& of, bool tests_symmetry) {
  sptrsv::krylov::result made;
  const typename Method::executor on(of.stream);
  // Squares of b may underflow: then the first step has a sum that is not 0.
  if (of.state.b_norm == 0) {
    of.step(
        {rule::given, {{of.vector(0), {of.b}}}, {{of.vector(0), of.vector(0)}}, slot::square, 0, {{0x1p600}}},
        of.stream);
    made.why = of.total(slot::square) == typename Method::wide{} ? reason::converged : reason::not_finite;
    of.step({rule::given, {{of.x}}}, of.stream);
    return made;
  }
  double before = std::numeric_limits<double>::infinity();
  std::int32_t last = of.wanted.max_iterations > 0 ? 0 : code_of(reason::iteration_limit);
  if (tests_symmetry && is_finite(of.state.b_norm) && !of.is_symmetric()) {
    last = code_of(reason::not_symmetric);
  }
  for (;; last = of.state.stop, of.start_cycle()) {
    of.state.norm = of.residual_norm();
    made.residual = of.state.norm / of.state.b_norm;
    if (made.history.empty()) {
      made.history.push_back(made.residual);
    }
    const bool claims_convergence = last == code_of(reason::converged);
    if (made.residual <= of.wanted.tolerance || of.state.norm <= of.wanted.absolute_tolerance) {
      break;
    }
    // Updated residuals may differ from b - A x, and a divisor may be 0 by chance: from x the method goes on.
    const bool starts_again = claims_convergence || last == code_of(reason::breakdown);
    if (last > 0 && !(starts_again && of.state.norm <= before / 2)) {
      made.why = claims_convergence ? reason::stagnation : static_cast<reason>(last - 1);
      break;
    }
    if (!is_finite(made.residual)) {
      made.why = reason::not_finite;
      break;
    }
    before = of.state.norm;
    of.cycle();
  }
  made.iterations = of.state.iterations;
  made.history.resize(of.wanted.keep_history ? at(made.iterations) + 1 : 0);
  if (made.history.size() > 1) {
    on.download(made.history.data() + 1, of.memory.history.data() + 1, at(made.iterations) * sizeof(double));
  }
  return made;
}

/// The conjugate gradient method (Saad, Iterative Methods for Sparse Linear Systems, 9.2). An iteration is
/// q = A p with p^H q, the update of x and r with |r|^2, z = M^-1 r, r^H z, and the next p.
template <class... Types>
struct conjugate_gradients : method<Types...> {
  void cycle() {
    auto* const r = this->vector(0);
    auto* const p = this->vector(1);
    auto* const q = this->vector(2);
    const auto* const first = this->precondition(r, this->vector(3), this->stream);
    this->step({rule::given, {{p, {first}}}}, this->stream);
    this->state.rho = this->inner_product(r, first);
    if (!(real_part(this->state.rho) > 0) || !is_finite(this->state.rho)) {
      this->state.stop =
          code_of(is_finite(this->state.rho) ? reason::not_positive_definite : reason::not_finite);
      return;
    }
    this->start_cycle();
    this->repeat([&](auto to) {
      const auto parts = this->product_with(p, p, q, to);
      this->step({rule::cg_update, {{this->x, {this->x, p}}, {r, {r, q}}}, {{r, r}}, slot::square, parts},
                 to);
      const auto* const z = this->precondition(r, this->vector(3), to);
      this->step({rule::ends_iteration, {}, {{r, z}}, slot::rho}, to);
      this->step({rule::cg_direction, {{p, {z, p}}}}, to);
    });
  }
};

/// The stabilised biconjugate gradient method (van der Vorst 1992), preconditioned from the right. With
/// y = M^-1 p, v = A y, z = M^-1 s and t = A z, an iteration is v with w^H v, s = r - alpha v, t, t^H s with
/// |t|^2, the update of x and r with |r|^2 and w^H r, and the next p. s has the place of r.
template <class... Types>
struct bicgstab : method<Types...> {
  void cycle() {
    auto* const r = this->vector(0);
    auto* const p = this->vector(1);
    auto* const v = this->vector(2);
    auto* const t = this->vector(3);
    auto* const w = this->vector(4);
    this->step({rule::given, {{p, {r}}, {w, {r}}}}, this->stream);
    this->state.rho = from_real<typename bicgstab::wide>(this->state.norm * this->state.norm);
    this->start_cycle();
    this->repeat([&](auto to) {
      const auto* const y = this->precondition(p, this->vector(5), to);
      const auto parts = this->product_with(w, y, v, to);
      this->step({rule::bicgstab_half, {{r, {r, v}}}, {}, slot::square, parts}, to);
      const auto* const z = this->precondition(r, this->vector(6), to);
      this->product(z, t, to);
      this->step({rule::given, {}, {{t, r}, {t, t}}, slot::product}, to);
      this->step({rule::bicgstab_update, {{this->x, {this->x, y, z}}, {r, {r, t}}}, {{r, r}, {w, r}}}, to);
      this->step({rule::bicgstab_direction, {{p, {r, p, v}}}}, to);
    });
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::krylov
