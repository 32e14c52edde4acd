// Vectors, scalars and products of the Krylov methods on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/matrix.hpp"
#include "sptrsv/policy/host_parallel.hpp"

namespace sptrsv_examples {

/// A number that the methods compute with. On the GPU it stays in device memory, so that an iteration can be
/// recorded in a graph.
using slot = std::size_t;

/// Consecutive slots.
struct slot_range {
  slot first = 0;
  std::size_t count = 1;
};

using view = sptrsv::span<double>;
using const_view = sptrsv::span<const double>;

/// The columns of a matrix with `rows` rows; column j begins at `data + j * stride`.
struct basis_view {
  double* data;
  std::size_t rows;
  std::size_t stride;

  [[nodiscard]] view column(std::size_t j) const { return {data + j * stride, rows}; }
};

/// Runs a method on the host.
class host_backend {
 public:
  using policy = sptrsv::policy::host_parallel;
  using vector = std::vector<double>;
  using matrix = sptrsv::csr_matrix<double>;

  /// `slots`: how many scalars the method uses.
  host_backend(const sptrsv::csr_matrix<double>& a, std::size_t slots) : a_(a), slots_(slots) {}

  [[nodiscard]] sptrsv::host_stream stream() const { return {}; }
  [[nodiscard]] const matrix& a() const { return a_; }
  [[nodiscard]] std::int64_t rows() const { return a_.rows; }
  static vector put(const std::vector<double>& v) { return v; }
  static vector zeros(std::size_t size) { return vector(size, 0.0); }
  static std::vector<double> get(const vector& v) { return v; }

  /// y = A x.
  void multiply(const_view x, view y) {
    const auto rows = static_cast<std::ptrdiff_t>(a_.rows);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (rows > 20000)
#endif
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (auto e = a_.row_offsets[static_cast<std::size_t>(i)];
           e < a_.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
        const auto k = static_cast<std::size_t>(e);
        sum += a_.values[k] * x[static_cast<std::size_t>(a_.column_indices[k])];
      }
      y[static_cast<std::size_t>(i)] = sum;
    }
  }
  void copy(const_view x, view y) { std::copy(x.begin(), x.end(), y.begin()); }
  /// s = x^T y.
  void dot(const_view x, const_view y, slot s) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += x[i] * y[i];
    }
    slots_[s] = sum;
  }
  /// y += s x.
  void add_scaled(slot s, const_view x, view y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] += slots_[s] * x[i];
    }
  }
  /// y = x + s y.
  void scale_and_add(slot s, const_view x, view y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = x[i] + slots_[s] * y[i];
    }
  }
  /// y = s y.
  void scale(slot s, view y) {
    for (double& v : y) {
      v *= slots_[s];
    }
  }
  /// z = d x, component by component.
  void multiply_by(const_view d, const_view x, view z) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      z[i] = d[i] * x[i];
    }
  }

  /// s = V^T y, with as many columns of V as `s` has slots.
  void project(const basis_view& v, const_view y, slot_range s) {
    for (std::size_t j = 0; j < s.count; ++j) {
      dot(v.column(j), y, s.first + j);
    }
  }
  /// y -= V s.
  void subtract_combination(const basis_view& v, slot_range s, view y) {
    for (std::size_t j = 0; j < s.count; ++j) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] -= slots_[s.first + j] * v.column(j)[i];
      }
    }
  }
  /// y = V s.
  void combine(const basis_view& v, slot_range s, view y) {
    std::fill(y.begin(), y.end(), 0.0);
    for (std::size_t j = 0; j < s.count; ++j) {
      add_scaled(s.first + j, v.column(j), y);
    }
  }

  /// to = a / b, and negative = -to. 0 / b is 0, also for b = 0: an iteration after the exact solution
  /// changes nothing.
  void divide(slot a, slot b, slot to, slot negative) {
    slots_[to] = slots_[a] == 0 ? 0 : slots_[a] / slots_[b];
    slots_[negative] = -slots_[to];
  }
  /// As divide, but 0 unless `square` is more than `limit`: an iteration after the last one changes nothing.
  void divide_above(slot square, slot limit, slot a, slot b, slot to, slot negative) {
    slots_[to] = slots_[square] <= slots_[limit] ? 0 : slots_[a];
    slots_[to] = slots_[to] == 0 ? 0 : slots_[to] / slots_[b];
    slots_[negative] = -slots_[to];
  }
  /// to = a b.
  void multiply(slot a, slot b, slot to) { slots_[to] = slots_[a] * slots_[b]; }
  /// to = from.
  void assign(slot from, slot to) { slots_[to] = slots_[from]; }
  /// to += from.
  void add(slot_range from, slot to) {
    for (std::size_t i = 0; i < from.count; ++i) {
      slots_[to + i] += slots_[from.first + i];
    }
  }
  /// to = the square root of from, and inverse = 1 / to.
  void square_root(slot from, slot to, slot inverse) {
    slots_[to] = std::sqrt(slots_[from]);
    slots_[inverse] = 1 / slots_[to];
  }
  /// Sets consecutive slots.
  void set(slot first, const std::vector<double>& values) {
    std::copy(values.begin(), values.end(), slots_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  [[nodiscard]] double value(slot s) const { return slots_[s]; }

  /// Returns a function that does `work`. On the GPU it replays a graph.
  template <class Work>
  auto repeated(const Work& work) {
    return work;
  }
  /// Calls `step(k)` for k = 0, 1, ... `limit` - 1 until `goes_on(values)` returns false, where the values
  /// are those of the slots `results(k)` after step k. On the GPU one more step may be under way then.
  template <class Step, class Results, class GoesOn>
  void run_steps(std::size_t limit, const Step& step, const Results& results, const GoesOn& goes_on) {
    bool more = true;
    for (std::size_t k = 0; more && k < limit; ++k) {
      step(k);
      const slot_range made = results(k);
      more = goes_on(const_view(slots_.data() + made.first, made.count));
    }
  }
  void synchronize() const {}

 private:
  const matrix& a_;
  std::vector<double> slots_;
};

}  // namespace sptrsv_examples
