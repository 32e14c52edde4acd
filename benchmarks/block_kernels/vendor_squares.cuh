// Multiplies squares by cuSPARSE, each with a call of its own, to compare them with the kernels of the
// library, which solve the whole system in one launch.
#pragma once

#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/cusparse/handles.cuh"
#include "common/gpu/cuda_handles.cuh"
#include "common/measurement/statistics.hpp"
#include "common/terminal/table.hpp"
#include "sptrsv/detail/papers/block/block_engine.hpp"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv_benchmarks::block_kernels {

inline constexpr const char* vendor_kernel = "cusparse_spmv";

/// Returns the microseconds of a launch: the median of five pairs of launches, after one launch that is not
/// timed.
template <class Launch>
double microseconds_of(const Launch& launch) {
  launch();
  std::vector<double> samples;
  for (int k = 0; k < 5; ++k) {
    samples.push_back(500 * sptrsv_common::device_time([&] {
                        launch();
                        launch();
                      }));
  }
  return sptrsv_common::median(samples);
}

/// An empty kernel.
struct do_nothing {
  template <class Context>
  SPTRSV_DEVICE void operator()(Context&, std::int64_t) const {}
};

/// Returns the microseconds per launch of many empty kernels that are launched one after the other.
inline double microseconds_of_a_launch(const sptrsv::detail::cuda_executor& on) {
  constexpr int launches = 1000;
  const auto launch_all = [&] {
    for (int i = 0; i < launches; ++i) {
      sptrsv::detail::simt::for_each(on, 1, do_nothing{});
    }
  };
  launch_all();  // loads the kernel
  return sptrsv_common::device_time(launch_all) * 1e3 / launches;
}

/// Computes to[i] = from[i] - shift.
template <class Index>
struct shift_down {
  const Index* from;
  Index* to;
  Index shift;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + i, ctx.load_constant(from + i) - shift);
  }
};

/// Computes y += A x by cusparseSpMV, where A is a square in CSR.
template <class Scalar, class Index>
class vendor_spmv {
  using executor = sptrsv::detail::cuda_executor;

 public:
  vendor_spmv() { sptrsv_common::cusparse::check(cusparseCreate(handle_.address()), "cusparseCreate"); }

  /// Returns the microseconds of the faster of CUSPARSE_SPMV_CSR_ALG1 and CUSPARSE_SPMV_CSR_ALG2, both
  /// preprocessed. `part`: a square of a recursive cut with all rows stored.
  double run(const sptrsv::detail::block::block_plan<Index, Index>& system, const Scalar* values,
             const sptrsv::detail::block::part& part, const executor& on) {
    namespace cusparse = sptrsv_common::cusparse;
    const std::int64_t rows = part.square.rows;
    const std::int64_t entries = part.square.entries;
    const Index* const offsets = system.triangle.row_offsets.data() +
                                 system.host_steps.steps[part.first_step].offsets + part.first_row;
    Index first = 0;
    on.download(&first, offsets, sizeof(first));
    // The square is copied: cuSPARSE needs offsets that start at 0, and the arrays should be aligned.
    auto own_offsets = make<Index>(rows + 1, on);
    auto own_columns = make<Index>(entries, on);
    auto own_values = make<Scalar>(entries, on);
    sptrsv::detail::simt::for_each(on, rows + 1, shift_down<Index>{offsets, own_offsets.data(), first});
    sptrsv::detail::simt::for_each(
        on, entries,
        shift_down<Index>{system.triangle.columns.data() + first, own_columns.data(),
                          static_cast<Index>(part.first_row - part.columns())});
    sptrsv::detail::simt::for_each(on, entries, shift_down<Scalar>{values + first, own_values.data(), 0});
    auto x = sptrsv::to_device(std::vector<Scalar>(static_cast<std::size_t>(part.columns()), 1), on.stream());
    auto y = sptrsv::to_device(std::vector<Scalar>(static_cast<std::size_t>(rows), 0), on.stream());
    cusparse::dense_vector x_there;
    cusparse::dense_vector y_there;
    constexpr cudaDataType type = cusparse::value_type<Scalar>;
    cusparse::check(cusparseCreateDnVec(x_there.address(), part.columns(), x.data(), type),
                    "cusparseCreateDnVec");
    cusparse::check(cusparseCreateDnVec(y_there.address(), rows, y.data(), type), "cusparseCreateDnVec");
    double least = std::numeric_limits<double>::infinity();
    for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      cusparse::sparse_matrix square;  // holds the result of the preprocessing
      cusparse::check(cusparseCreateCsr(square.address(), rows, part.columns(), entries, own_offsets.data(),
                                        own_columns.data(), own_values.data(), cusparse::index_type<Index>,
                                        cusparse::index_type<Index>, CUSPARSE_INDEX_BASE_ZERO, type),
                      "cusparseCreateCsr");
      const Scalar one = 1;
      std::size_t bytes = 0;
      cusparse::check(
          cusparseSpMV_bufferSize(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, square.get(),
                                  x_there.get(), &one, y_there.get(), type, algorithm, &bytes),
          "cusparseSpMV_bufferSize");
      auto scratch = make<unsigned char>(static_cast<std::int64_t>(bytes) + 1, on);
      cusparse::check(
          cusparseSpMV_preprocess(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, square.get(),
                                  x_there.get(), &one, y_there.get(), type, algorithm, scratch.data()),
          "cusparseSpMV_preprocess");
      const double time = microseconds_of([&] {
        cusparse::check(cusparseSpMV(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, square.get(),
                                     x_there.get(), &one, y_there.get(), type, algorithm, scratch.data()),
                        "cusparseSpMV");
      });
      least = time < least ? time : least;
    }
    return least;
  }

 private:
  template <class T>
  static sptrsv::buffer<T> make(std::int64_t count, const executor& on) {
    return sptrsv::buffer<T>(static_cast<std::size_t>(count), on.default_resource(), on.stream());
  }

  sptrsv_common::cusparse::library_handle handle_;
};

/// Times of the squares of many systems with the fastest kernel of the library and with cuSPARSE.
class vendor_comparison {
 public:
  void add(const std::string& matrix, int depth, std::size_t number, const std::string& kernel,
           double microseconds) {
    pair_of_times& times = cuts_[{matrix, depth}][number];
    double& time = kernel == vendor_kernel ? times.vendor : times.ours;
    time = microseconds < time ? microseconds : time;
  }

  /// Prints the comparison. `launch`: microseconds of a launch. A square that cuSPARSE multiplies splits the
  /// launch of the solve, which costs two launches more.
  void print(double launch) const {
    sptrsv_common::ratio_summary ratios;
    int faster = 0;
    std::printf("\nsquares by cuSPARSE; a launch takes %.2f us\n", launch);
    std::printf("%-26s %5s %7s %6s %9s %22s\n", "", "depth", "squares", "faster", "saved, us",
                "minus 2 launches each");
    for (const auto& [cut, squares] : cuts_) {
      int faster_here = 0;
      double saved = 0;
      double left = 0;
      for (const auto& square : squares) {
        const pair_of_times& times = square.second;
        const double gain = times.ours - times.vendor;
        ratios.add(sptrsv_common::ratio_of(times.ours, times.vendor), cut.first);
        faster_here += gain > 0 ? 1 : 0;
        saved += gain > 0 ? gain : 0;
        left += gain > 2 * launch ? gain - 2 * launch : 0;
      }
      faster += faster_here;
      std::printf("%-26s %5d %7zu %6d %9.1f %22.1f\n", cut.first.c_str(), cut.second, squares.size(),
                  faster_here, saved, left);
    }
    std::printf("%d of %d squares faster; the fastest kernel's time over cuSPARSE's, geometric mean: %s\n",
                faster, ratios.count(), sptrsv_common::cell(ratios.mean(), "%.3f").c_str());
  }

 private:
  struct pair_of_times {
    double ours = std::numeric_limits<double>::infinity();
    double vendor = std::numeric_limits<double>::infinity();
  };

  std::map<std::pair<std::string, int>, std::map<std::size_t, pair_of_times>> cuts_;
};

}  // namespace sptrsv_benchmarks::block_kernels
