// sptrsv_incomplete_factors: incomplete LU and Cholesky factorisations without fill-in, by this library and
// by cuSPARSE (csrilu02 and csric02, with and without its level policy; the faster one counts), in one run.
// It checks the factors of both against the serial factorisation of the host. A second table has the analyses
// of both factors for their solves with dataflow.
#include <cuda_runtime.h>
#define DISABLE_CUSPARSE_DEPRECATED  // no warnings: cuSPARSE has no successor
#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/shared/driver.cuh"
#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/gpu/cuda_handles.cuh"
#include "common/gpu/pool.cuh"
#include "common/measurement/placement.hpp"
#include "common/measurement/statistics.hpp"
#include "common/terminal/table.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv_benchmarks::incomplete_factors {
namespace {

namespace common = sptrsv_common;
using clock = std::chrono::steady_clock;
using matrix = sptrsv::csr_matrix<double>;
using sptrsv::detail::incomplete::method;

void check(cusparseStatus_t status) {
  SPTRSV_EXPECTS(status == CUSPARSE_STATUS_SUCCESS, sptrsv::errc::cuda_error,
                 std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}

/// Returns both triangles of a matrix with a complete diagonal that dominates: the entries beside the
/// diagonal are random, at most one over the length of their row and column, and the diagonal is 3.
matrix make_matrix(const common::matrix_source& source) {
  sptrsv_common::coordinate_matrix<double> all;
  if (source.generated != nullptr) {
    const common::pattern lower = source.generated->build();
    all.rows = all.cols = lower.rows();
    for (common::vertex i = 0; i < lower.rows(); ++i) {
      for (auto e = static_cast<std::size_t>(lower.row_offsets[static_cast<std::size_t>(i)]);
           lower.columns[e] != i; ++e) {
        all.row_indices.insert(all.row_indices.end(), {i, lower.columns[e]});
        all.column_indices.insert(all.column_indices.end(), {lower.columns[e], i});
      }
    }
  } else {  // values are replaced, so their imaginary parts do not count
    auto file = sptrsv_common::read_matrix_market<std::complex<double>>(source.path);
    SPTRSV_EXPECTS(file.rows == file.cols, sptrsv::errc::not_square, "the matrix is not square");
    all = {file.rows, file.cols, std::move(file.row_indices), std::move(file.column_indices), {}};
    if (std::equal(all.row_indices.begin(), all.row_indices.end(), all.column_indices.begin(),
                   std::greater_equal<>())) {  // a stored lower triangle stands for both
      const auto rows = all.row_indices;
      all.row_indices.insert(all.row_indices.end(), all.column_indices.begin(), all.column_indices.end());
      all.column_indices.insert(all.column_indices.end(), rows.begin(), rows.end());
    }
  }
  all.values.assign(all.row_indices.size(), 0);
  common::add_missing_pivots(all);
  auto a =
      sptrsv::make_csr<std::int32_t>(all.rows, all.cols, all.row_indices, all.column_indices, all.values);
  common::sort_and_merge_rows(a);
  std::vector<double> columns(static_cast<std::size_t>(a.columns), 0);
  for (const auto column : a.column_indices) {
    columns[static_cast<std::size_t>(column)] += 1;
  }
  for (std::size_t row = 0; row < columns.size(); ++row) {
    const double length = a.row_offsets[row + 1] - a.row_offsets[row];
    for (auto e = static_cast<std::size_t>(a.row_offsets[row]);
         e < static_cast<std::size_t>(a.row_offsets[row + 1]); ++e) {
      const auto column = static_cast<std::size_t>(a.column_indices[e]);
      a.values[e] = column == row ? 3 : (2 * common::uniform(e, 1) - 1) / std::max(length, columns[column]);
    }
  }
  return a;
}

/// The times of one factorisation in milliseconds, and its largest error over the largest value.
struct times {
  std::optional<double> analysis;  ///< none if a factorisation takes as long as analysis and factorisation
  double factor = 0;
  double error = 0;
};

double milliseconds_since(clock::time_point start) {
  return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

/// Returns the median milliseconds of up to 9 calls of `work` that take about 0.05 s together; `prepare` is
/// called before each of them and is not timed.
template <class Prepare, class Work>
double time_of(const Prepare& prepare, const Work& work) {
  std::vector<double> samples;
  double total = 0;
  while (samples.size() < 3 || (samples.size() < 9 && total < 50)) {
    prepare();
    samples.push_back(common::device_time(work));
    total += samples.back();
  }
  return common::median(samples);
}

double error_of(const std::vector<double>& seen, const std::vector<double>& expected) {
  double largest = 0;
  double difference = 0;
  for (std::size_t e = 0; e < seen.size(); ++e) {
    largest = std::max(largest, std::fabs(expected[e]));
    difference = std::isfinite(seen[e]) ? std::max(difference, std::fabs(seen[e] - expected[e])) : HUGE_VAL;
  }
  return difference / largest;
}

/// Measures this library. `bytes`: output, the memory of the factorisation.
template <method Method>
times measure_ours(const sptrsv::device_csr_matrix<double>& a, const std::vector<double>& expected,
                   std::size_t& bytes) {
  times made;
  std::vector<double> analyses;
  for (int k = 0; k < 3; ++k) {  // the first one loads kernels
    const auto start = clock::now();
    const sptrsv::incomplete_factorization<Method, double> factors(a, {}, nullptr, nullptr);
    SPTRSV_CUDA_CHECK(cudaStreamSynchronize(nullptr));
    analyses.push_back(milliseconds_since(start));
  }
  sptrsv::incomplete_factorization<Method, double> factors(a, {}, nullptr, nullptr);
  made.factor = time_of([] {}, [&] { factors.factorize(a.values); });
  made.analysis = common::if_positive(*std::min_element(analyses.begin(), analyses.end()) - made.factor);
  made.error = error_of(
      sptrsv::detail::download_array(factors.values().data(), static_cast<std::int64_t>(expected.size()),
                                     sptrsv::detail::cuda_executor()),
      expected);
  bytes = factors.info().bytes;
  return made;
}

/// The calls of cuSPARSE for a method.
template <method Method>
struct calls;
template <>
struct calls<method::lu> {
  using info = csrilu02Info_t;
  static constexpr auto create = cusparseCreateCsrilu02Info;
  static constexpr auto destroy = cusparseDestroyCsrilu02Info;
  static constexpr auto buffer_size = cusparseDcsrilu02_bufferSize;
  static constexpr auto analyze = cusparseDcsrilu02_analysis;
  static constexpr auto factorize = cusparseDcsrilu02;
};
template <>
struct calls<method::cholesky> {
  using info = csric02Info_t;
  static constexpr auto create = cusparseCreateCsric02Info;
  static constexpr auto destroy = cusparseDestroyCsric02Info;
  static constexpr auto buffer_size = cusparseDcsric02_bufferSize;
  static constexpr auto analyze = cusparseDcsric02_analysis;
  static constexpr auto factorize = cusparseDcsric02;
};

/// Measures cuSPARSE under one of its policies. `bytes`: output, its buffer.
template <method Method>
times measure_cusparse(cusparseHandle_t handle, cusparseSolvePolicy_t policy,
                       const sptrsv::device_csr_matrix<double>& a, const std::vector<double>& expected,
                       std::size_t& bytes) {
  using api = calls<Method>;
  const sptrsv::detail::cuda_executor on;
  const auto rows = static_cast<int>(a.rows);
  const auto entries = static_cast<int>(a.values.size());
  const auto values = sptrsv::detail::copy_of(a.values, on, on.default_resource());
  cusparseMatDescr_t description = nullptr;
  check(cusparseCreateMatDescr(&description));
  times made;
  for (int k = 0; k < 2; ++k) {  // the first analysis loads kernels
    typename api::info info = nullptr;
    int buffer_bytes = 0;
    check(api::create(&info));
    check(api::buffer_size(handle, rows, entries, description, values.data(), a.row_offsets.data(),
                           a.column_indices.data(), info, &buffer_bytes));
    const sptrsv::buffer<char> scratch(static_cast<std::size_t>(buffer_bytes), on.default_resource(),
                                       nullptr);
    bytes = scratch.bytes();
    on.synchronize();
    const auto start = clock::now();
    check(api::analyze(handle, rows, entries, description, values.data(), a.row_offsets.data(),
                       a.column_indices.data(), info, policy, scratch.data()));
    on.synchronize();
    const double analysis = milliseconds_since(start);
    made.analysis = std::min(made.analysis.value_or(analysis), analysis);
    if (k == 1) {
      made.factor = time_of(
          [&] { on.copy(values.data(), a.values.data(), values.bytes()); },
          [&] {
            check(api::factorize(handle, rows, entries, description, values.data(), a.row_offsets.data(),
                                 a.column_indices.data(), info, policy, scratch.data()));
          });
    }
    check(api::destroy(info));
  }
  check(cusparseDestroyMatDescr(description));
  made.error = error_of(sptrsv::to_host(values, cudaStream_t{}), expected);
  return made;
}

/// The ratios cuSPARSE over ours of all matrices.
struct summary {
  common::ratio_summary by_level;
  common::ratio_summary without;
  common::ratio_summary analysis;  ///< by level; without levels cuSPARSE has none
};

template <method Method>
bool measure(cusparseHandle_t handle, const std::string& name, const matrix& a, summary& ratios) {
  const sptrsv::incomplete_factorization<Method, double, std::int32_t, std::int32_t, sptrsv::host_stream>
      serial(a, {}, {}, nullptr);
  const std::vector<double> expected(serial.values().begin(), serial.values().end());
  const auto there = sptrsv::to_device(a.view());
  std::size_t our_bytes = 0;
  std::size_t their_bytes = 0;
  const times ours = measure_ours<Method>(there, expected, our_bytes);
  const times by_level =
      measure_cusparse<Method>(handle, CUSPARSE_SOLVE_POLICY_USE_LEVEL, there, expected, their_bytes);
  const times without =
      measure_cusparse<Method>(handle, CUSPARSE_SOLVE_POLICY_NO_LEVEL, there, expected, their_bytes);
  const auto over_levels = common::ratio_of(by_level.factor, ours.factor);
  const auto over_none = common::ratio_of(without.factor, ours.factor);
  const auto over_analysis = common::ratio_of(by_level.analysis, ours.analysis);
  ratios.by_level.add(over_levels, name);
  ratios.without.add(over_none, name);
  ratios.analysis.add(over_analysis, name);
  std::printf(
      "%-24.24s %-3s %8lld %9lld %6lld | %8.3f %8.3f %8.3f %5s %5s | %7s %7s %7s %5s | %7.1f "
      "%7.1f | %.0e %.0e\n",
      name.c_str(), Method == method::lu ? "ILU" : "IC", static_cast<long long>(a.rows),
      static_cast<long long>(a.values.size()), static_cast<long long>(serial.info().levels), ours.factor,
      by_level.factor, without.factor, common::cell(over_levels, "%.1f").c_str(),
      common::cell(over_none, "%.1f").c_str(), common::cell(ours.analysis, "%.2f").c_str(),
      common::cell(by_level.analysis, "%.2f").c_str(), common::cell(without.analysis, "%.2f").c_str(),
      common::cell(over_analysis, "%.1f").c_str(), static_cast<double>(our_bytes) * 1e-6,
      static_cast<double>(their_bytes) * 1e-6, ours.error, by_level.error);
  std::fflush(stdout);
  return ours.error < 1e-12;
}

/// The milliseconds that dataflow's analyses of the factors of a matrix take.
struct analyses {
  std::string name;
  double lower = 0;
  double upper = 0;
  double in_turn = 0;   ///< of both, one after the other
  double together = 0;  ///< of both, as `analyze_factors` does it for one matrix
  /// Bytes for each entry of both factors, over those of the solver of the lower triangle.
  double memory = 0;

  /// Returns how many times as long as one triangle `both` takes.
  [[nodiscard]] std::optional<double> over_one(double both) const {
    return common::ratio_of(2 * both, lower + upper);
  }
};

/// Returns the median milliseconds of 9 calls of `analyze`; the first calls load kernels and are not timed.
template <class Analyze>
double time_of_analysis(const Analyze& analyze) {
  std::vector<double> samples;
  for (int k = 0; k < 12; ++k) {
    SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    const auto start = clock::now();
    const auto made = analyze();
    SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    if (k >= 3) {
      samples.push_back(milliseconds_since(start));
    }
  }
  return common::median(samples);
}

analyses measure_analyses(const std::string& name, const sptrsv::device_csr_matrix<double>& a) {
  const sptrsv::policy::dataflow policy;
  analyses made;
  made.name = name;
  made.lower = time_of_analysis([&] {
    return sptrsv::analyze(policy, a, {sptrsv::uplo::lower, sptrsv::diag::unit});
  });
  made.upper = time_of_analysis([&] { return sptrsv::analyze(policy, a, {sptrsv::uplo::upper}); });
  made.in_turn = time_of_analysis([&] { return sptrsv::analyze_factors(policy, a, a); });
  made.together = time_of_analysis([&] { return sptrsv::analyze_factors(policy, a); });
  const auto both = sptrsv::analyze_factors(policy, a).info();
  const sptrsv::solver_info& lower = both.solvers[0];
  const auto bytes_per_entry = [](std::size_t bytes, std::int64_t entries) {
    return static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(entries, 1));
  };
  made.memory = bytes_per_entry(both.bytes, lower.entries + both.solvers[1].entries) /
                bytes_per_entry(lower.solver_bytes, lower.entries);
  return made;
}

void print(const std::vector<analyses>& all) {
  std::printf("\nanalysis of both factors for solves with dataflow, ms\n%-24s %8s %8s %8s %8s | %s | %s\n",
              "matrix", "lower", "upper", "in turn", "together", "over one: in turn, together",
              "bytes for each entry over those of one triangle");
  common::ratio_summary in_turn;
  common::ratio_summary together;
  for (const analyses& a : all) {
    std::printf("%-24.24s %8.3f %8.3f %8.3f %8.3f | %s %s | %.2f\n", a.name.c_str(), a.lower, a.upper,
                a.in_turn, a.together, common::cell(a.over_one(a.in_turn), "%.2f").c_str(),
                common::cell(a.over_one(a.together), "%.2f").c_str(), a.memory);
    in_turn.add(a.over_one(a.in_turn), a.name);
    together.add(a.over_one(a.together), a.name);
  }
  std::printf("geometric mean over one: in turn %s, together %s\n",
              common::cell(in_turn.mean(), "%.2f").c_str(), common::cell(together.mean(), "%.2f").c_str());
}

void print(const std::string& what, const common::ratio_summary& of) {
  std::printf("%-42s %5s times as fast in the geometric mean of %d, at least %s (%s); %d without a value\n",
              what.c_str(), common::cell(of.mean(), "%.2f").c_str(), of.count(),
              common::cell(of.worst(), "%.2f").c_str(), of.worst_name().c_str(), of.left_out());
}
void print(const std::string& what, const summary& of) {
  print(what + " than cuSPARSE by level", of.by_level);
  print(what + " than cuSPARSE without levels", of.without);
  print(what + ", analysis, than by level", of.analysis);
}

int run(const common::matrix_selection& selection) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_incomplete_factors: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  const common::generator_registry registry;
  const auto sources = common::choose_sources(selection, registry);
  common::keep_pool_memory();
  cusparseHandle_t handle = nullptr;
  int version = 0;
  check(cusparseCreate(&handle));
  check(cusparseGetVersion(handle, &version));
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s; cuSPARSE %d\n",
              sptrsv::detail::cuda_executor().device_name().c_str(), driver_version().c_str(),
              runtime_version().c_str(), version);
  std::printf(
      "%-24s %-3s %8s %9s %6s | %-38s | %-29s | %-15s | %s\n%-54s | %8s %8s %8s %11s | %7s %7s %7s %5s | %7s "
      "%7s |\n",
      "matrix", "", "rows", "entries", "levels", "factorisation, ms", "analysis, ms", "memory, MB", "error",
      "", "ours", "levels", "none", "ratios", "ours", "levels", "none", "ratio", "ours", "buffer");
  summary lu;
  summary cholesky;
  std::vector<analyses> of_solves;
  bool right = true;
  std::vector<std::future<matrix>> matrices;  // made by all cores, which are idle before the measurements
  for (const common::matrix_source& source : sources) {
    matrices.push_back(std::async(std::launch::async, make_matrix, std::cref(source)));
  }
  for (const auto& made : matrices) {
    made.wait();
  }
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const common::matrix_source& source = sources[k];
    try {
      const matrix a = matrices[k].get();
      right = measure<method::lu>(handle, source.name, a, lu) && right;
      right = measure<method::cholesky>(handle, source.name, a, cholesky) && right;
      of_solves.push_back(measure_analyses(source.name, sptrsv::to_device(a.view())));
    } catch (const std::exception& e) {
      std::printf("%-24s FAILED: %s\n", source.name.c_str(), e.what());
      right = false;
    }
  }
  print("ILU(0)", lu);
  print("IC(0)", cholesky);
  print(of_solves);
  check(cusparseDestroy(handle));
  return right ? 0 : 1;
}

}  // namespace
}  // namespace sptrsv_benchmarks::incomplete_factors

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_incomplete_factors",
      "Measures incomplete LU and Cholesky factorisations by this library and by cuSPARSE.");
  sptrsv_common::matrix_selection selection{"", "grids"};
  add_matrix_options(arguments, selection, "all", "grids");
  arguments.add_footer(
      "Exit status: 0 for success, 1 if factors are wrong or an error occurs, 2 for an error in the command "
      "line, 77 without a GPU.");
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::incomplete_factors::run(selection); });
}
