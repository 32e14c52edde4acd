// sptrsv_bench: policies side by side on triangular systems, with floors, errors and the vendor's solver in
// every result. `--help` says how to use it. Compiled by nvcc it measures the GPU, otherwise the host.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>

#include "bench/options.hpp"
#include "bench/run.hpp"

namespace sptrsv_benchmarks {
namespace {

void print_list(const generator_registry& registry) {
  std::printf("policies: %s\n\n", bench_policy_names().c_str());
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
int run_types(const bench_options& options, std::vector<matrix_source> sources, machines& available) {
  const environment where = describe(options, available);
  print_environment(where);
  return bench_run<Value, Index>(options, std::move(sources), available, where).run();
}

int run(int argc, char** argv) {
  const bench_options options = parse_options(argc, argv);
  const generator_registry registry;
  if (options.help || options.list) {
    options.help ? static_cast<void>(std::fputs(usage, stdout)) : print_list(registry);
    return 0;
  }
  check_policy_names(options.policies, support::has_gpu());
  auto sources = choose_sources(options, registry, support::has_gpu());
  if (sources.empty()) {
    throw support::usage_error("there is nothing to measure");
  }
  machines available;
  // The combinations of types that are compiled: one of each kind of number, both indices.
  const std::string types = options.value + " with " + options.index;
  if (types == "f64 with i32") {
    return run_types<double, std::int32_t>(options, std::move(sources), available);
  }
  if (types == "f32 with i32") {
    return run_types<float, std::int32_t>(options, std::move(sources), available);
  }
  if (types == "c128 with i32") {
    return run_types<std::complex<double>, std::int32_t>(options, std::move(sources), available);
  }
  if (types == "f64 with i64") {
    return run_types<double, std::int64_t>(options, std::move(sources), available);
  }
  throw support::usage_error(types +
                             " is not compiled into this program; there are f64, f32 and c128 with i32, " +
                             "and f64 with i64");
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
