// sptrsv_incomplete_factors: incomplete LU and Cholesky factorisations without fill-in, by this library and
// by cuSPARSE (csrilu02 and csric02, with and without its level policy; the faster one counts), in one run.
// It checks the factors of both against the serial factorisation of the host. A second table has the analyses
// of both factors for their solves with dataflow; the file of --json has the factorisations.
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
#include <fstream>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench/device_machine.cuh"
#include "benchmarks/bench/environment.hpp"
#include "benchmarks/shared/json.hpp"
#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/cusparse/handles.cuh"
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

struct options {
  common::matrix_selection matrices{"", "grids"};
  double system_limit = 0;  ///< milliseconds for a matrix; 0: none
  std::string json;         ///< path; empty: no file
  std::string command;      ///< the command line, for the results
};

/// A matrix with the factors of the host, each empty if it has none.
struct factored {
  matrix a;
  std::int64_t levels = 0;
  std::vector<double> lu;
  std::vector<double> cholesky;
};

template <method Method>
std::vector<double> factor_on_host(const matrix& a, std::int64_t& levels) {
  const sptrsv::incomplete_factorization<Method, double, std::int32_t, std::int32_t, sptrsv::host_stream>
      serial(a, {}, {}, nullptr);
  levels = serial.info().levels;
  return {serial.values().begin(), serial.values().end()};
}

factored make_factored(const common::matrix_source& source) {
  factored made;
  made.a = make_matrix(source);
  made.lu = factor_on_host<method::lu>(made.a, made.levels);
  made.cholesky = factor_on_host<method::cholesky>(made.a, made.levels);
  return made;
}

/// The times of one factorisation in milliseconds, and its largest error over the largest value.
struct times {
  /// Of an analysis that finds no memory in the pools, and of a repeated one; none if a factorisation takes
  /// as long as analysis and factorisation.
  std::optional<double> first_analysis;
  std::optional<double> analysis;
  double factor = 0;
  double error = 0;
  std::size_t bytes = 0;  ///< the memory of the factorisation, or the buffer of cuSPARSE

  [[nodiscard]] json_text json() const {
    return json_object()
        .add("first_analysis_ms", first_analysis)
        .add("analysis_ms", analysis)
        .add("factor_ms", factor)
        .add("error", error)
        .add("bytes", bytes)
        .text();
  }
};

double milliseconds_since(clock::time_point start) {
  return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

/// How many calls a time is the median of: up to `most` in about 50 ms, but at least three. A limit for the
/// matrix cuts both: then they end with the call in which they have taken a fortieth of it.
struct repetitions {
  std::size_t most = 9;
  double limit = 0;  ///< milliseconds for a matrix; 0: none

  [[nodiscard]] bool goes_on(std::size_t calls, double total) const {
    if (limit > 0 && calls > 0 && total > limit / 40) {
      return false;
    }
    return calls < 3 || (calls < most && total < 50);
  }
};

/// Returns the median milliseconds of several calls of `work`; `prepare` is called before each of them and is
/// not timed.
template <class Prepare, class Work>
double time_of(const repetitions& count, const Prepare& prepare, const Work& work) {
  std::vector<double> samples;
  double total = 0;
  while (count.goes_on(samples.size(), total)) {
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

/// Measures this library.
template <method Method>
times measure_ours(const sptrsv::device_csr_matrix<double>& a, const std::vector<double>& expected,
                   const repetitions& count) {
  times made;
  std::vector<double> analyses;
  common::release_pool_memory();
  for (int k = 0; k < 4; ++k) {
    SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    const auto start = clock::now();
    const sptrsv::incomplete_factorization<Method, double> factors(a, {}, nullptr, nullptr);
    SPTRSV_CUDA_CHECK(cudaStreamSynchronize(nullptr));
    analyses.push_back(milliseconds_since(start));
  }
  sptrsv::incomplete_factorization<Method, double> factors(a, {}, nullptr, nullptr);
  made.factor = time_of(
      count, [] {}, [&] { factors.factorize(a.values); });
  made.first_analysis = common::if_positive(analyses.front() - made.factor);
  made.analysis = common::if_positive(*std::min_element(analyses.begin() + 1, analyses.end()) - made.factor);
  made.error = error_of(
      sptrsv::detail::download_array(factors.values().data(), static_cast<std::int64_t>(expected.size()),
                                     sptrsv::detail::cuda_executor()),
      expected);
  made.bytes = factors.info().bytes;
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

/// Measures cuSPARSE under one of its policies.
template <method Method>
times measure_cusparse(cusparseHandle_t handle, cusparseSolvePolicy_t policy,
                       const sptrsv::device_csr_matrix<double>& a, const std::vector<double>& expected,
                       const repetitions& count) {
  using api = calls<Method>;
  const sptrsv::detail::cuda_executor on;
  const auto rows = static_cast<int>(a.rows);
  const auto entries = static_cast<int>(a.values.size());
  const auto values = sptrsv::detail::copy_of(a.values, on, on.default_resource());
  cusparseMatDescr_t description = nullptr;
  check(cusparseCreateMatDescr(&description));
  times made;
  common::release_pool_memory();
  for (int k = 0; k < 3; ++k) {
    typename api::info info = nullptr;
    int buffer_bytes = 0;
    check(api::create(&info));
    check(api::buffer_size(handle, rows, entries, description, values.data(), a.row_offsets.data(),
                           a.column_indices.data(), info, &buffer_bytes));
    const sptrsv::buffer<char> scratch(static_cast<std::size_t>(buffer_bytes), on.default_resource(),
                                       nullptr);
    made.bytes = scratch.bytes();
    on.synchronize();
    const auto start = clock::now();
    check(api::analyze(handle, rows, entries, description, values.data(), a.row_offsets.data(),
                       a.column_indices.data(), info, policy, scratch.data()));
    on.synchronize();
    const double analysis = milliseconds_since(start);
    if (k == 0) {
      made.first_analysis = analysis;
    } else {
      made.analysis = std::min(made.analysis.value_or(analysis), analysis);
    }
    if (k == 2) {
      made.factor = time_of(
          count, [&] { on.copy(values.data(), a.values.data(), values.bytes()); },
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

/// The factorisation of a matrix by a method, by all.
struct factorisation {
  std::string matrix;
  const char* factors;  ///< "ilu0" or "ic0"
  std::int64_t rows;
  std::int64_t entries;
  std::int64_t levels;
  times ours;
  times by_level;
  times without_levels;

  [[nodiscard]] json_text json() const {
    return json_object()
        .add("matrix", matrix)
        .add("factors", factors)
        .add("n", rows)
        .add("nnz", entries)
        .add("levels", levels)
        .add("ours", ours.json())
        .add("by_level", by_level.json())
        .add("without_levels", without_levels.json())
        .text();
  }
};

/// Measures a method, prints a line and adds it to `ratios`.
template <method Method>
factorisation measure(cusparseHandle_t handle, const std::string& name, const factored& of,
                      const repetitions& count, summary& ratios) {
  const std::vector<double>& expected = Method == method::lu ? of.lu : of.cholesky;
  const auto there = sptrsv::to_device(of.a.view());
  const times ours = measure_ours<Method>(there, expected, count);
  const times by_level =
      measure_cusparse<Method>(handle, CUSPARSE_SOLVE_POLICY_USE_LEVEL, there, expected, count);
  const times without =
      measure_cusparse<Method>(handle, CUSPARSE_SOLVE_POLICY_NO_LEVEL, there, expected, count);
  const std::int64_t rows = of.a.rows;
  const auto entries = static_cast<std::int64_t>(of.a.values.size());
  const auto over_levels = common::ratio_of(by_level.factor, ours.factor);
  const auto over_none = common::ratio_of(without.factor, ours.factor);
  const auto over_analysis = common::ratio_of(by_level.analysis, ours.analysis);
  ratios.by_level.add(over_levels, name);
  ratios.without.add(over_none, name);
  ratios.analysis.add(over_analysis, name);
  std::printf(
      "%-24.24s %-3s %8lld %9lld %6lld | %8.3f %8.3f %8.3f %5s %5s | %7s %7s %7s %5s | %7.1f "
      "%7.1f | %.0e %.0e\n",
      name.c_str(), Method == method::lu ? "ILU" : "IC", static_cast<long long>(rows),
      static_cast<long long>(entries), static_cast<long long>(of.levels), ours.factor, by_level.factor,
      without.factor, common::cell(over_levels, "%.1f").c_str(), common::cell(over_none, "%.1f").c_str(),
      common::cell(ours.analysis, "%.2f").c_str(), common::cell(by_level.analysis, "%.2f").c_str(),
      common::cell(without.analysis, "%.2f").c_str(), common::cell(over_analysis, "%.1f").c_str(),
      static_cast<double>(ours.bytes) * 1e-6, static_cast<double>(without.bytes) * 1e-6, ours.error,
      by_level.error);
  std::fflush(stdout);
  return {name, Method == method::lu ? "ilu0" : "ic0", rows, entries, of.levels, ours, by_level, without};
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

/// Returns the median milliseconds of several calls of `analyze`; the first call loads kernels and is not
/// timed.
template <class Analyze>
double time_of_analysis(const repetitions& count, const Analyze& analyze) {
  analyze();
  std::vector<double> samples;
  double total = 0;
  while (count.goes_on(samples.size(), total)) {
    SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    const auto start = clock::now();
    const auto made = analyze();
    SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    samples.push_back(milliseconds_since(start));
    total += samples.back();
  }
  return common::median(samples);
}

analyses measure_analyses(const std::string& name, const sptrsv::device_csr_matrix<double>& a,
                          const repetitions& count) {
  const sptrsv::policy::dataflow policy;
  analyses made;
  made.name = name;
  made.lower = time_of_analysis(count, [&] {
    return sptrsv::analyze(policy, a, {sptrsv::uplo::lower, sptrsv::diag::unit});
  });
  made.upper = time_of_analysis(count, [&] { return sptrsv::analyze(policy, a, {sptrsv::uplo::upper}); });
  made.in_turn = time_of_analysis(count, [&] { return sptrsv::analyze_factors(policy, a, a); });
  made.together = time_of_analysis(count, [&] { return sptrsv::analyze_factors(policy, a); });
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

/// Measures a small matrix by all, so that no later measurement loads kernels.
void load_kernels(cusparseHandle_t handle) {
  const common::generator tiny{"tiny", "", "", [] { return common::dense_band(256, 3); }, {}};
  const factored made = make_factored({tiny.name, "", &tiny});
  const auto there = sptrsv::to_device(made.a.view());
  const auto all = [&](auto of, const std::vector<double>& expected) {
    constexpr method which = decltype(of)::value;
    measure_ours<which>(there, expected, {});
    for (const auto policy : {CUSPARSE_SOLVE_POLICY_USE_LEVEL, CUSPARSE_SOLVE_POLICY_NO_LEVEL}) {
      measure_cusparse<which>(handle, policy, there, expected, {});
    }
  };
  all(std::integral_constant<method, method::lu>{}, made.lu);
  all(std::integral_constant<method, method::cholesky>{}, made.cholesky);
}

/// Writes the file of results. Throws sptrsv::error if that fails.
void write(const std::string& path, const environment& where, const std::vector<factorisation>& all) {
  std::vector<json_text> texts;
  texts.reserve(all.size());
  for (const factorisation& one : all) {
    texts.push_back(one.json());
  }
  std::ofstream out(path);
  out << "{\"context\": " << to_json(where.json()) << ",\n\"factorisations\": " << to_json(texts, ",\n")
      << "}\n";
  out.close();
  SPTRSV_EXPECTS(out.good(), sptrsv::errc::io_error, "cannot write '" + path + "'");
}

environment describe(const options& chosen) {
  environment made;
  made.program = "sptrsv_incomplete_factors";
  made.command = chosen.command;
  made.host = host_description();
  made.cusparse = common::cusparse::version();
  device_machine().describe(made);
  return made;
}

int run(const options& chosen) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_incomplete_factors: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  const common::generator_registry registry;
  const auto sources = common::choose_sources(chosen.matrices, registry);
  common::keep_pool_memory();
  cusparseHandle_t handle = nullptr;
  check(cusparseCreate(&handle));
  const environment where = describe(chosen);
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s; cuSPARSE %s\n", where.device->c_str(),
              where.driver->c_str(), where.cuda_runtime->c_str(), where.cusparse->c_str());
  std::printf(
      "%-24s %-3s %8s %9s %6s | %-38s | %-29s | %-15s | %s\n%-54s | %8s %8s %8s %11s | %7s %7s %7s %5s | %7s "
      "%7s |\n",
      "matrix", "", "rows", "entries", "levels", "factorisation, ms", "analysis, ms", "memory, MB", "error",
      "", "ours", "levels", "none", "ratios", "ours", "levels", "none", "ratio", "ours", "buffer");
  summary lu;
  summary cholesky;
  std::vector<analyses> of_solves;
  bool right = true;
  // Made by all cores, which are idle before the measurements.
  std::vector<std::future<factored>> matrices;
  for (const common::matrix_source& source : sources) {
    matrices.push_back(std::async(std::launch::async, make_factored, std::cref(source)));
  }
  for (const auto& made : matrices) {
    made.wait();
  }
  load_kernels(handle);
  const repetitions count{9, chosen.system_limit};
  std::vector<factorisation> all;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const common::matrix_source& source = sources[k];
    try {
      const factored made = matrices[k].get();
      all.push_back(measure<method::lu>(handle, source.name, made, count, lu));
      right = all.back().ours.error < 1e-12 && right;
      all.push_back(measure<method::cholesky>(handle, source.name, made, count, cholesky));
      right = all.back().ours.error < 1e-12 && right;
      of_solves.push_back(measure_analyses(source.name, sptrsv::to_device(made.a.view()), count));
    } catch (const std::exception& e) {
      std::printf("%-24s FAILED: %s\n", source.name.c_str(), e.what());
      right = false;
    }
    if (!chosen.json.empty()) {
      write(chosen.json, where, all);
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
  sptrsv_benchmarks::incomplete_factors::options options;
  for (int k = 0; k < argc; ++k) {
    options.command += (k > 0 ? " " : "") + std::string(argv[k]);
  }
  add_matrix_options(arguments, options.matrices, "all", "grids");
  arguments.begin_group("Measurement");
  arguments.add_integer("--system-limit", options.system_limit, 1, 1000000, "MS",
                        "Milliseconds for a matrix, about. What takes a fortieth of it is not repeated.");
  arguments.begin_group("Output");
  arguments.add_text("-o,--json", options.json, "FILE",
                     "Write the factorisations to this file, after each matrix.");
  arguments.add_footer(
      "Exit status: 0 for success, 1 if factors are wrong or an error occurs, 2 for an error in the command "
      "line, 77 without a GPU.");
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::incomplete_factors::run(options); });
}
