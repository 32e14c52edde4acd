// sptrsv_bench: measures policies side by side on triangular systems. Each result has the backward error, the
// bandwidth floor, the time of the inter-block latency model, and the speed-up over cuSPARSE. Compiled by
// nvcc it measures the GPU, otherwise the host. `--help` lists the options.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/run.hpp"

namespace sptrsv_benchmarks {
namespace {

void print_list(const common::generator_registry& registry) {
  for (const common::form_entry& form : bench_forms()) {
    std::printf("%-34s %-7s  %s\n", form.name.c_str(), form.is_default ? "default" : "",
                form.description.c_str());
  }
  std::printf("\n");
  for (const common::generator& g : registry.all()) {
    std::printf("%-28s %-6s  %s\n", g.name.c_str(),
                g.size == common::size_class::small   ? "small"
                : g.size == common::size_class::large ? "large"
                                                      : "",
                g.description.c_str());
  }
}

/// Returns the description of the machine, with its measured limits.
environment describe(const bench_options& options, machines& available) {
  environment made;
  made.command = options.command;
  made.host = host_description();
#ifdef __CUDACC__
  if (available.has_gpu()) {
    made.cusparse = common::cusparse::version();
  }
#endif
  available.main().describe(made);
  return made;
}

template <class Value, class Index>
void run_types(const bench_options& options, const std::vector<std::string>& forms,
               const std::vector<bench_case>& cases, machines& available, run_record& record) {
  bench_run<Value, Index>(options, forms, cases, available, record).run();
}

/// The measurements with one combination of types.
struct typed_run {
  decltype(&run_types<double, std::int32_t>) call;
  std::vector<std::string> forms;  ///< names
};

/// Chooses the forms that are measured with these types. Throws usage_error if the options name a form that
/// is not compiled for them.
template <class Value, class Index>
typed_run make_run(const bench_options& options, const std::string& types) {
  std::vector<std::string> compiled;
  for_each_bench_form<Value, Index>([&](const auto& form) { compiled.push_back(form.name); });
  typed_run made{run_types<Value, Index>, {}};
  for (const std::string& form : common::choose_forms(bench_forms(), options.policies, common::has_gpu())) {
    if (is_one_of(form, compiled)) {
      made.forms.push_back(form);
    } else if (is_one_of(form, options.policies)) {
      throw common::usage_error("the policy " + form + " is not compiled for " + types);
    }
  }
  return made;
}

/// Returns the run for the types with these names. Throws usage_error for a combination that this program is
/// not compiled for.
typed_run make_run(const bench_options& options, const std::string& value) {
  const std::string types = value + " with " + options.index;
  if (types == "f64 with i32") {
    return make_run<double, std::int32_t>(options, types);
  }
#ifndef SPTRSV_BENCH_ONE_TYPE
  if (types == "f32 with i32") {
    return make_run<float, std::int32_t>(options, types);
  }
  if (types == "c128 with i32") {
    return make_run<std::complex<double>, std::int32_t>(options, types);
  }
  if (types == "f64 with i64") {
    return make_run<double, std::int64_t>(options, types);
  }
  constexpr const char* compiled = "f64, f32 and c128 with i32, and f64 with i64";
#else
  constexpr const char* compiled = "f64 with i32";
#endif
  throw common::usage_error("this program is not compiled for " + types + "; it has " + compiled);
}

int run(bench_options options) {
  const common::generator_registry registry;
  if (options.list) {
    print_list(registry);
    return 0;
  }
  std::vector<typed_run> runs;
  for (const std::string& value : options.values) {
    runs.push_back(make_run(options, value));
  }
  if (options.matrices.generated.empty()) {
    options.matrices.generated = common::has_gpu() ? "all" : "small";
  }
  const auto cases = cases_of(options, common::choose_sources(options.matrices, registry));
  if (cases.empty()) {
    throw common::usage_error("the options choose no matrix");
  }
  machines available;
  run_record record(options, describe(options, available), baseline_name(available.has_gpu()),
                    runs.size() * cases.size());
  for (const typed_run& one : runs) {
    one.call(options, one.forms, cases, available, record);
  }
  return record.finish();
}

}  // namespace
}  // namespace sptrsv_benchmarks

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_bench", "Measures policies side by side on triangular systems and checks their solutions.");
  sptrsv_benchmarks::bench_options options;
  for (int k = 0; k < argc; ++k) {
    options.command += (k > 0 ? " " : "") + std::string(argv[k]);
  }
  add_bench_options(arguments, options);
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::run(options); });
}
