// sptrsv_schemes: what each scheme of policy::scheme takes on each system, what the model chooses and what a
// search finds: the data of `benchmarks/python train-schemes` and `scheme-study`. `--check` looks
// whether all schemes solve right. Exit status 1 if one does not. Needs no Google Benchmark.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <fstream>
#include <future>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench/json.hpp"
#include "benchmarks/bench/matrix_source.hpp"
#include "benchmarks/generators/renumberings.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/scheme/search.hpp"

namespace sptrsv_benchmarks::schemes {
namespace {

using index = std::int32_t;
using clock = std::chrono::steady_clock;
using host_system = support::triangular_system<double, index>;

constexpr const char* usage_text =
    "usage: sptrsv_schemes [OPTIONS]\n"
    "\n"
    "  --matrices DIR      the lower triangle of each .mtx file of a directory\n"
    "  --generated WHICH   all (default), small, grids, none, or names of generated matrices\n"
    "  --renumbered K[,K]  instead, each of those systems in other orders: reversed, half (the leading "
    "rows),\n"
    "                      random, blocks, rcm, colours, or all\n"
    "  --schemes WHICH     all (default), or plain: without those that hardly ever win (fenced, buffered,\n"
    "                      lists by load or locality)\n"
    "  --seconds S         what the search may take on a system (default: 2)\n"
    "  --time-limit S      begin no further system after S seconds; the order of systems is random\n"
    "  --check             look whether all schemes solve right; measures nothing\n"
    "  --json FILE         write the results there, after each system\n"
    "  --help              this text\n";

struct program_options {
  bench_options systems;
  std::vector<std::string> renumbered;
  bool plain = false;
  double seconds = 2;
  double time_limit = std::numeric_limits<double>::infinity();
  bool check = false;
  std::string json;
  bool help = false;
};

program_options parse_options(int argc, char** argv) {
  program_options made;
  support::argument_list arguments(argc, argv);
  while (!arguments.empty()) {
    const std::string option = arguments.take();
    if (option == "--matrices") {
      made.systems.directory = arguments.value_of(option);
    } else if (option == "--generated") {
      made.systems.generated = arguments.value_of(option);
    } else if (option == "--renumbered") {
      std::vector<std::string> kinds = renumberings();
      kinds.emplace_back("all");
      made.renumbered = take_choices(arguments, option, kinds);
      if (made.renumbered.front() == "all") {
        made.renumbered = renumberings();
      }
    } else if (option == "--schemes") {
      made.plain = take_choice(arguments, option, {"all", "plain"}) == "plain";
    } else if (option == "--seconds") {
      made.seconds = static_cast<double>(arguments.number_of(option, 1, 100000));
    } else if (option == "--time-limit") {
      made.time_limit = static_cast<double>(arguments.number_of(option, 1, 1000000));
    } else if (option == "--check") {
      made.check = true;
    } else if (option == "--json") {
      made.json = arguments.value_of(option);
    } else if (option == "--help" || option == "-h") {
      made.help = true;
    } else {
      throw support::usage_error("there is no option " + option);
    }
  }
  return made;
}

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// A matrix, in its own order or another.
struct system_source {
  matrix_source matrix;
  std::string renumbering;  ///< empty: its own

  [[nodiscard]] std::string name() const {
    return renumbering.empty() ? matrix.name : matrix.name + "/" + renumbering;
  }
};

std::vector<system_source> choose_systems(const program_options& options,
                                          const generator_registry& registry) {
  std::vector<system_source> made;
  for (const matrix_source& source : choose_sources(options.systems, registry, true)) {
    if (options.renumbered.empty()) {
      made.push_back({source, ""});
    }
    for (const std::string& kind : options.renumbered) {
      made.push_back({source, kind});
    }
  }
  return made;
}

host_system make_system(const system_source& source) {
  const matrix_source& matrix = source.matrix;
  host_system own = matrix.made != nullptr ? generate_triangle<double>(*matrix.made, sptrsv::uplo::lower)
                                           : read_triangle<double>(matrix.path, sptrsv::uplo::lower);
  if (source.renumbering.empty()) {
    return own;
  }
  pattern p = renumbered({own.matrix.row_offsets, own.matrix.column_indices, {}}, source.renumbering);
  host_system made;
  made.matrix.rows = made.matrix.columns = p.rows();
  made.matrix.row_offsets = std::move(p.row_offsets);
  made.matrix.column_indices = std::move(p.columns);
  made.matrix.values.resize(made.matrix.column_indices.size());
  support::seed_values(made);
  return made;
}

/// Schemes that hardly ever win are not plain.
bool is_plain(const sptrsv::scheme& s) {
  return s.signal == sptrsv::hand_off::value && !s.buffered &&
         (s.warps == sptrsv::warp_scheduling::hardware || s.warps == sptrsv::warp_scheduling::round_robin);
}

/// Systems of one kind, which a model is not to know from its training when it is judged.
std::string family_of(const matrix_source& source) {
  return source.made != nullptr ? source.made->kind
                                : "file " + source.name.substr(0, source.name.find_first_of("0123456789_-"));
}

/// Made ahead on other threads, a few at a time.
class system_queue {
 public:
  explicit system_queue(std::vector<system_source> sources) : sources_(std::move(sources)) { fill(); }

  [[nodiscard]] bool empty() const { return ahead_.empty(); }
  std::pair<system_source, host_system> take() {
    const system_source source = sources_[taken_++];
    auto system = std::move(ahead_.front());
    ahead_.pop_front();
    fill();
    return {source, system.get()};
  }

 private:
  void fill() {
    for (; ahead_.size() < 6 && started_ < sources_.size(); ++started_) {
      ahead_.push_back(std::async(std::launch::async, make_system, sources_[started_]));
    }
  }

  std::vector<system_source> sources_;
  std::size_t taken_ = 0;
  std::size_t started_ = 0;
  std::deque<std::future<host_system>> ahead_;
};

/// Whether all schemes of the reduced space solve the system right, or refuse it; says which do not.
bool check(const std::string& name, const host_system& host) {
  const auto a = sptrsv::to_device(host.matrix, cudaStream_t{});
  const auto b = support::seeded_vector<double>(host.matrix.rows, 3);
  const auto device_b = sptrsv::to_device(b, cudaStream_t{});
  struct solved {
    sptrsv::scheme use;
    std::future<sptrsv::backward_error_result> error;
  };
  std::deque<solved> pending;
  int right = 0;
  int refused = 0;
  int wrong = 0;
  double worst = 0;
  const auto finish_one = [&] {
    const sptrsv::backward_error_result result = pending.front().error.get();
    worst = std::max(worst, result.error / result.bound);
    ++(result.ok() ? right : wrong);
    if (!result.ok()) {
      std::printf("%-26s WRONG: %s: error %.3g, bound %.3g\n", name.c_str(),
                  to_string(pending.front().use).c_str(), result.error, result.bound);
    }
    pending.pop_front();
  };
  for (const sptrsv::scheme& s : sptrsv::reduced_schemes()) {
    try {
      auto solver = sptrsv::analyze(sptrsv::policy::scheme{s}, a, host.options(), cudaStream_t{});
      auto x = sptrsv::to_device(std::vector<double>(b.size()), cudaStream_t{});
      for (int i = 0; i < 2; ++i) {  // the second finds what the first left behind
        solver.solve(device_b, x, cudaStream_t{});
      }
      pending.push_back(
          {s, std::async(std::launch::async, [&host, &b, x = sptrsv::to_host(x, cudaStream_t{})] {
             return sptrsv::backward_error(host.matrix, host.options(), b, x);
           })});
    } catch (const sptrsv::error& e) {
      if (e.code() != sptrsv::errc::unsupported) {
        throw;
      }
      ++refused;
    }
    while (pending.size() > 12) {
      finish_one();
    }
  }
  while (!pending.empty()) {
    finish_one();
  }
  std::printf("%-26s %4d right, %3d refused, %3d wrong; error at most %.2g of the bound\n", name.c_str(),
              right, refused, wrong, worst);
  std::fflush(stdout);
  return wrong == 0;
}

/// Milliseconds of the analysis and of a solve with the scheme that the model chooses.
struct model_choice {
  std::string scheme;
  double analysis_ms = 0;
  double ms = 0;
};

template <class Matrix>
model_choice measure_model(const Matrix& a, const sptrsv::system_options& options) {
  const sptrsv::detail::cuda_executor on;
  const auto zeros =
      sptrsv::to_device(std::vector<double>(static_cast<std::size_t>(a.view().rows)), cudaStream_t{});
  auto x = sptrsv::to_device(std::vector<double>(static_cast<std::size_t>(a.view().rows)), cudaStream_t{});
  on.synchronize();
  const auto start = clock::now();
  auto solver = sptrsv::analyze(sptrsv::policy::scheme{}, a, options, cudaStream_t{});
  on.synchronize();
  model_choice made{solver.info().plan, seconds_since(start) * 1e3, 0};
  solver.solve(zeros, x, cudaStream_t{});
  on.synchronize();
  const auto first = clock::now();
  int solves = 0;
  do {
    solver.solve(zeros, x, cudaStream_t{});
    on.synchronize();
    ++solves;
  } while (solves < 20 && seconds_since(first) < 0.1);
  const auto batch = clock::now();
  for (int i = 0; i < solves; ++i) {
    solver.solve(zeros, x, cudaStream_t{});
  }
  on.synchronize();
  made.ms = seconds_since(batch) * 1e3 / solves;
  return made;
}

/// One system.
json_text measure(const system_source& source, const host_system& host, double seconds, bool plain) {
  namespace library = sptrsv::detail::schemes;
  const sptrsv::detail::cuda_executor on;
  const auto a = sptrsv::to_device(host.matrix, cudaStream_t{});
  sptrsv::memory_resource& resource = on.default_resource();
  library::system_features features;
  {
    const auto t =
        sptrsv::detail::build_on_device(sptrsv::detail::pattern_of(a.view()),
                                        sptrsv::detail::triangle_form(host.options(), false), on, resource);
    features = library::features_of(t, sptrsv::detail::levels_on_device(t, on, resource), on, resource);
  }
  const model_choice model = measure_model(a, host.options());
  sptrsv::scheme_search how;
  how.seconds = seconds;
  if (plain) {
    how.space.erase(std::remove_if(how.space.begin(), how.space.end(),
                                   [](const sptrsv::scheme& s) { return !is_plain(s); }),
                    how.space.end());
  }
  const auto found = sptrsv::search_schemes(a, host.options(), how, cudaStream_t{});
  how.likeliest = 3;
  how.rounds = 1;
  const auto of_three = sptrsv::search_schemes(a, host.options(), how, cudaStream_t{});

  std::vector<json_text> schemes;
  for (const sptrsv::scheme_measurement& m : found.measured) {
    json_object one;
    one.add("scheme", to_string(m.tried));
    if (m.solves > 0) {
      one.add("ms", m.milliseconds).add("analysis_ms", m.analysis_milliseconds).add("solves", m.solves);
    } else {
      one.add("refused", m.refused);
    }
    schemes.push_back(one.text());
  }
  const auto values = features.values();
  std::printf(
      "%-33s %9.0f rows %7.0f levels  search %6.2f s  best %9.4f ms  model %9.4f ms (analysis %7.2f)  %s\n",
      source.name().c_str(), features.rows, features.levels, found.seconds, found.plan.milliseconds, model.ms,
      model.analysis_ms, to_string(found.plan.use).c_str());
  std::fflush(stdout);
  return json_object()
      .add("matrix", source.name())
      .add("family", family_of(source.matrix))
      .add("renumbering", source.renumbering)
      .add("search_seconds", found.seconds)
      .add("complete", found.complete ? 1 : 0)
      .add("model", json_object()
                        .add("scheme", model.scheme)
                        .add("analysis_ms", model.analysis_ms)
                        .add("ms", model.ms)
                        .text())
      .add("likeliest", json_object()
                            .add("of", static_cast<int>(how.likeliest))
                            .add("scheme", to_string(of_three.plan.use))
                            .add("search_seconds", of_three.seconds)
                            .add("ms", of_three.plan.milliseconds)
                            .text())
      .add("features", std::vector<double>(values.begin(), values.end()))
      .add("schemes", json_text{to_json(schemes, ",\n  ")})
      .text();
}

void write(const std::string& path, const std::vector<json_text>& systems) {
  if (path.empty()) {
    return;
  }
  std::ofstream out(path, std::ios::binary);
  out << json_object()
             .add("device", sptrsv::detail::cuda_executor().device_name())
             .add("systems", json_text{to_json(systems, ",\n")})
             .text()
             .text
      << "\n";
  SPTRSV_EXPECTS(out.flush().good(), sptrsv::errc::io_error, path + " cannot be written");
}

/// Without this the pool gives its memory back to the driver at every synchronisation.
void keep_pool_memory() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  SPTRSV_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  SPTRSV_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

int run(int argc, char** argv) {
  const program_options options = parse_options(argc, argv);
  if (options.help) {
    std::fputs(usage_text, stdout);
    return 0;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "sptrsv_schemes: no GPU\n");
    return 77;
  }
  const auto start = clock::now();
  const generator_registry registry;
  std::vector<system_source> sources = choose_systems(options, registry);
  std::shuffle(sources.begin(), sources.end(), std::mt19937(1));
  keep_pool_memory();
  std::printf("%zu systems, %zu schemes\n", sources.size(), sptrsv::reduced_schemes().size());
  std::vector<json_text> measured;
  bool right = true;
  for (system_queue systems(std::move(sources));
       !systems.empty() && seconds_since(start) < options.time_limit;) {
    const auto [source, host] = systems.take();
    try {
      if (options.check) {
        right = check(source.name(), host) && right;
      } else {
        measured.push_back(measure(source, host, options.seconds, options.plain));
        write(options.json, measured);
      }
    } catch (const std::exception& e) {
      std::printf("%-26s FAILED: %s\n", source.name().c_str(), e.what());
      right = false;
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace sptrsv_benchmarks::schemes

int main(int argc, char** argv) {
  try {
    return sptrsv_benchmarks::schemes::run(argc, argv);
  } catch (const sptrsv_examples::usage_error& e) {
    std::fprintf(stderr, "sptrsv_schemes: %s (--help)\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sptrsv_schemes: %s\n", e.what());
    return 1;
  }
}
