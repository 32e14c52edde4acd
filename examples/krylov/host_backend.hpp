// Vectors, scalars and products of the Krylov methods on the host.
#pragma once

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
  static std::vector<double> get(const vector& v) { return v; }

  /// y = A x.
  void multiply(const vector& x, vector& y) {
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
  void copy(const vector& x, vector& y) { y = x; }
  /// s = x^T y.
  void dot(const vector& x, const vector& y, slot s) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += x[i] * y[i];
    }
    slots_[s] = sum;
  }
  /// y += s x.
  void add_scaled(slot s, const vector& x, vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] += slots_[s] * x[i];
    }
  }
  /// y = s y.
  void scale(slot s, vector& y) {
    for (double& v : y) {
      v *= slots_[s];
    }
  }
  /// z = d x, component by component.
  void multiply_by(const vector& d, const vector& x, vector& z) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      z[i] = d[i] * x[i];
    }
  }

  /// to = a / b, and negative = -to.
  void divide(slot a, slot b, slot to, slot negative) {
    slots_[to] = slots_[a] / slots_[b];
    slots_[negative] = -slots_[to];
  }
  /// to = a b.
  void multiply(slot a, slot b, slot to) { slots_[to] = slots_[a] * slots_[b]; }
  /// to = from, and negative = -from.
  void assign(slot from, slot to, slot negative) {
    slots_[negative] = -slots_[from];
    slots_[to] = slots_[from];
  }
  /// to = the square root of from, and inverse = 1 / to.
  void square_root(slot from, slot to, slot inverse) {
    slots_[to] = std::sqrt(slots_[from]);
    slots_[inverse] = 1 / slots_[to];
  }
  void set(slot s, double value) { slots_[s] = value; }
  [[nodiscard]] double value(slot s) const { return slots_[s]; }

  /// Returns a function that runs `work` each time; on the GPU it replays a graph.
  template <class Work>
  auto recorded(const Work& work) {
    return work;
  }
  void synchronize() const {}

 private:
  const matrix& a_;
  std::vector<double> slots_;
};

}  // namespace sptrsv_examples
