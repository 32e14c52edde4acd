// Solves with triangles of a grid by KokkosSparse::sptrsv_solve in the execution space TEST_SPACE, and
// compares with the known solution: lower and upper, several types, new values, several streams. Fails if a
// solution is wrong or if sptrsv did not solve.
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <vector>

#include <KokkosSparse_sptrsv.hpp>

#ifndef TEST_SPACE
#define TEST_SPACE Kokkos::DefaultExecutionSpace
#endif

namespace {

using space = TEST_SPACE;
using memory = space::memory_space;
using device = Kokkos::Device<space, memory>;
bool all_passed = true;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::printf("FAILED: %s\n", what);
    all_passed = false;
  }
}

template <class T>
Kokkos::View<T*, device> to_space(const std::vector<T>& v) {
  Kokkos::View<T*, device> made("made", v.size());
  Kokkos::deep_copy(made,
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(v.data(), v.size()));
  return made;
}

/// One triangle of a matrix with seven entries in most rows, in host memory and in that of the execution
/// space.
template <class Scalar, class Ordinal, class Offset>
struct triangle {
  triangle(Ordinal rows, bool is_lower) {
    for (Ordinal i = 0; i < rows; ++i) {
      for (Ordinal step : {300, 17, 1, 0}) {
        const Ordinal column = is_lower ? i - step : i + step;
        if (column >= 0 && column < rows) {
          host_indices.push_back(column);
          host_values.push_back(step == 0 ? Scalar(4) : Scalar(-1));
        }
      }
      host_offsets.push_back(static_cast<Offset>(host_indices.size()));
    }
    offsets = to_space(host_offsets);
    indices = to_space(host_indices);
    values = to_space(host_values);
  }

  /// Returns the product with ones, times `factor`.
  std::vector<Scalar> row_sums(Scalar factor) const {
    std::vector<Scalar> sums(host_offsets.size() - 1, Scalar(0));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (Offset k = host_offsets[i]; k < host_offsets[i + 1]; ++k) {
        sums[i] += factor * host_values[k];
      }
    }
    return sums;
  }

  std::vector<Offset> host_offsets{0};
  std::vector<Ordinal> host_indices;
  std::vector<Scalar> host_values;
  Kokkos::View<Offset*, device> offsets;
  Kokkos::View<Ordinal*, device> indices;
  Kokkos::View<Scalar*, device> values;
};

template <class View>
bool are_ones(const View& x) {
  using scalar = typename View::non_const_value_type;
  int wrong = 0;
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<space>(0, x.extent(0)),
      KOKKOS_LAMBDA(int i, int& count) {
        count += Kokkos::ArithTraits<scalar>::abs(x(i) - scalar(1)) > 1e-5 ? 1 : 0;
      },
      wrong);
  return wrong == 0;
}

template <class Scalar, class Ordinal, class Offset>
void check(const char* types) {
  using handle_type =
      KokkosKernels::Experimental::KokkosKernelsHandle<Offset, Ordinal, Scalar, space, memory, memory>;
  static_assert(sptrsv_kokkos::solvers<typename handle_type::SPTRSVHandleType>::has_types);
  for (const bool is_lower : {true, false}) {
    const triangle<Scalar, Ordinal, Offset> a(2000, is_lower);
    handle_type handle;
    handle.create_sptrsv_handle(KokkosSparse::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1, 2000, is_lower);
    KokkosSparse::sptrsv_symbolic(&handle, a.offsets, a.indices);
    expect(handle.get_sptrsv_handle()->get_num_levels() == 0, "Kokkos Kernels made levels");

    Kokkos::View<Scalar*, device> x("x", 2000);
    KokkosSparse::sptrsv_solve(&handle, a.offsets, a.indices, a.values, to_space(a.row_sums(Scalar(1))), x);
    expect(are_ones(x), types);

    auto tripled = a.host_values;
    for (Scalar& value : tripled) {
      value *= Scalar(3);
    }
    Kokkos::deep_copy(x, Scalar(0));
    KokkosSparse::sptrsv_solve(&handle, a.offsets, a.indices, to_space(tripled),
                               to_space(a.row_sums(Scalar(3))), x);
    expect(are_ones(x), "new values");

    sptrsv_kokkos::release(handle);
    Kokkos::deep_copy(x, Scalar(0));
    KokkosSparse::sptrsv_solve(&handle, a.offsets, a.indices, a.values, to_space(a.row_sums(Scalar(1))), x);
    expect(are_ones(x), "a solve after release");
  }
}

void check_streams() {
  using handle_type =
      KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, space, memory, memory>;
  const triangle<double, int, int> a(2000, true);
  std::vector<space> spaces(2);
  handle_type handles[2];
  std::vector<handle_type*> pointers{&handles[0], &handles[1]};
  for (handle_type* handle : pointers) {
    handle->create_sptrsv_handle(KokkosSparse::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1, 2000, true);
    KokkosSparse::sptrsv_symbolic(handle, a.offsets, a.indices);
  }
  const auto b = to_space(a.row_sums(1));
  std::vector<Kokkos::View<double*, device>> x{Kokkos::View<double*, device>("x", 2000),
                                               Kokkos::View<double*, device>("x", 2000)};
  KokkosSparse::Experimental::sptrsv_solve_streams(spaces, pointers, std::vector(2, a.offsets),
                                                   std::vector(2, a.indices), std::vector(2, a.values),
                                                   std::vector(2, b), x);
  Kokkos::fence();
  expect(are_ones(x[0]) && are_ones(x[1]), "several streams");
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  check<float, int, int>("float, int, int");
  check<double, int, int>("double, int, int");
  check<double, int, std::size_t>("double, int, size_t");
  check<double, std::int64_t, std::size_t>("double, int64_t, size_t");
  check<Kokkos::complex<double>, int, int>("complex<double>, int, int");
  check_streams();
  std::printf("%s: %s\n", space::name(), all_passed ? "all passed" : "failed");
  return all_passed ? 0 : 1;
}
