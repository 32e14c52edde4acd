// sptrsv_bench: policies side by side on triangular systems, with floors, errors and the vendor's solver in
// every result. `--help` says how to use it. Compiled by nvcc it measures the GPU, otherwise the host.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/run.hpp"

namespace sptrsv_benchmarks {
namespace {

void print_list(const generator_registry& registry) {
  for (const support::form_entry& form : bench_forms()) {
    std::printf("%-34s %-7s  %s\n", form.name.c_str(), form.is_default ? "default" : "",
                form.description.c_str());
  }
  std::printf("\n");
  for (const generator& g : registry.all()) {
    std::printf("%-28s %-6s  %s\n", g.name.c_str(), g.size == size_class::small ? "small" : "",
                g.description.c_str());
  }
}

environment describe(const bench_options& options, machines& available) {
  environment made;
  made.command = options.command;
  made.host = host_description();
#ifdef __CUDACC__
  if (available.has_gpu()) {
    made.cusparse = sptrsv::detail::cusparse::version();
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

/// What is measured with one combination of types.
struct typed_run {
  decltype(&run_types<double, std::int32_t>) call;
  std::vector<std::string> forms;
};

/// Throws support::usage_error for a form that was named and is not compiled for these types.
template <class Value, class Index>
typed_run make_run(const bench_options& options, const std::string& types) {
  std::vector<std::string> compiled;
  for_each_bench_form<Value, Index>([&](const auto& form) { compiled.push_back(form.name); });
  typed_run made{run_types<Value, Index>, {}};
  for (const std::string& form : choose_forms(options.policies, support::has_gpu())) {
    if (is_one_of(form, compiled)) {
      made.forms.push_back(form);
    } else if (is_one_of(form, options.policies)) {
      throw support::usage_error("the policy " + form + " is not compiled for " + types);
    }
  }
  return made;
}

/// The combinations of types that are compiled: one of each kind of number, both indices. Throws
/// support::usage_error for others.
typed_run make_run(const bench_options& options, const std::string& value) {
  const std::string types = value + " with " + options.index;
  if (types == "f64 with i32") {
    return make_run<double, std::int32_t>(options, types);
  }
  if (types == "f32 with i32") {
    return make_run<float, std::int32_t>(options, types);
  }
  if (types == "c128 with i32") {
    return make_run<std::complex<double>, std::int32_t>(options, types);
  }
  if (types == "f64 with i64") {
    return make_run<double, std::int64_t>(options, types);
  }
  throw support::usage_error(types +
                             " is not compiled into this program; there are f64, f32 and c128 with i32, " +
                             "and f64 with i64");
}

int run(int argc, char** argv) {
  const bench_options options = parse_options(argc, argv);
  const generator_registry registry;
  if (options.help || options.list) {
    options.help ? static_cast<void>(std::fputs(usage, stdout)) : print_list(registry);
    return 0;
  }
  std::vector<typed_run> runs;
  for (const std::string& value : options.values) {
    runs.push_back(make_run(options, value));
  }
  const auto cases = cases_of(options, choose_sources(options, registry, support::has_gpu()));
  if (cases.empty()) {
    throw support::usage_error("there is nothing to measure");
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
  try {
    return sptrsv_benchmarks::run(argc, argv);
  } catch (const sptrsv_examples::usage_error& e) {
    std::fprintf(stderr, "sptrsv_bench: %s (--help)\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sptrsv_bench: %s\n", e.what());
    return 1;
  }
}
