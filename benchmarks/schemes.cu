// sptrsv_schemes: measures the time of each scheme of policy::scheme on each system, the choice of the model
// and the result of a search. The scripts train_schemes.py and scheme_study.py read the file of --json. With
// --check it checks that all schemes solve right.
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

#include "benchmarks/shared/json.hpp"
#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/generators/renumberings.hpp"
#include "common/gpu/pool.cuh"
#include "common/measurement/placement.hpp"
#include "common/systems/matrix_source.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/scheme/search.hpp"

namespace sptrsv_benchmarks::schemes {

namespace common = sptrsv_common;

namespace {

using index = std::int32_t;
using clock = std::chrono::steady_clock;
using host_system = common::triangular_system<double, index>;

struct program_options {
  common::matrix_selection matrices{"", "all"};
  std::vector<std::string> renumbered;  ///< kinds of renumberings
  bool plain = false;
  double seconds = 2;
  double time_limit = std::numeric_limits<double>::infinity();  ///< seconds
  bool check = false;
  std::string json;  ///< path; empty: no file
};

void add_options(common::command_line& to, program_options& target) {
  add_matrix_options(to, target.matrices, "the lower triangle", "all");
  const auto kinds = common::words(common::renumberings());
  to.add_value("--renumbered", common::joined_words(kinds, "|", "|") + ",...|all",
               "Take each of these matrices in other orders instead: last row first, the leading half of the "
               "rows, all rows or blocks of rows in random order, reverse Cuthill-McKee, or by colours.",
               [&target, kinds](const std::string& text) {
                 target.renumbered =
                     text == "all" ? common::renumberings() : common::parse_choices(text, kinds);
               });

  to.begin_group("Measurement");
  to.add_choice(
      "--schemes", target.plain, {{"all", false}, {"plain", true}},
      "Schemes to measure. plain leaves out the schemes that hardly ever win: fenced flags, buffered "
      "values, lists by load or locality. Default: all.");
  to.add_integer("-s,--seconds", target.seconds, 1, 100000, "S",
                 "Time of the search on a system. Default: 2.");
  to.add_integer("--time-limit", target.time_limit, 1, 1000000, "S",
                 "Start no further system after S seconds. The order of the systems is random.");
  to.add_flag("--check", target.check, "Only check that all schemes solve right; measure nothing.");

  to.begin_group("Output");
  to.add_text("-o,--json", target.json, "FILE", "Write the results to this file, after each system.");
  to.add_footer(
      "Exit status: 0 for success, 1 if a solution is wrong or an error occurs, 2 for an error in the "
      "command line, 77 "
      "without a GPU.");
}

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// A matrix in its own order or in another one.
struct system_source {
  common::matrix_source matrix;
  std::string renumbering;  ///< empty: its own order

  [[nodiscard]] std::string name() const {
    return renumbering.empty() ? matrix.name : matrix.name + "/" + renumbering;
  }
};

/// Returns the matrices of the options, in their own order or in each of the other orders.
std::vector<system_source> choose_systems(const program_options& options,
                                          const common::generator_registry& registry) {
  std::vector<system_source> made;
  for (const common::matrix_source& source : common::choose_sources(options.matrices, registry)) {
    if (options.renumbered.empty()) {
      made.push_back({source, ""});
    }
    for (const std::string& kind : options.renumbered) {
      made.push_back({source, kind});
    }
  }
  return made;
}

/// Reads or generates a system. A renumbered system has seeded values.
host_system make_system(const system_source& source) {
  host_system own = common::make_triangle<double>(source.matrix, sptrsv::uplo::lower);
  if (source.renumbering.empty()) {
    return own;
  }
  common::pattern p =
      common::renumbered({own.matrix.row_offsets, own.matrix.column_indices, {}}, source.renumbering);
  host_system made;
  made.matrix.rows = made.matrix.columns = p.rows();
  made.matrix.row_offsets = std::move(p.row_offsets);
  made.matrix.column_indices = std::move(p.columns);
  made.matrix.values.resize(made.matrix.column_indices.size());
  common::seed_values(made);
  return made;
}

/// Returns whether a scheme is plain: the other schemes hardly ever win.
bool is_plain(const sptrsv::scheme& s) {
  return s.signal == sptrsv::hand_off::value && !s.buffered &&
         (s.warps == sptrsv::warp_scheduling::hardware || s.warps == sptrsv::warp_scheduling::round_robin);
}

/// Returns the family of a matrix. A model is tested on families that its training does not contain.
std::string family_of(const common::matrix_source& source) {
  return source.generated != nullptr
             ? source.generated->kind
             : "file " + source.name.substr(0, source.name.find_first_of("0123456789_-"));
}

/// Systems that other threads prepare ahead, a few at a time.
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

/// Solves a system with all schemes of the reduced space and prints the wrong solutions. Returns whether
/// there are none; schemes may refuse the system.
bool check(const std::string& name, const host_system& host) {
  const auto a = sptrsv::to_device(host.matrix, cudaStream_t{});
  const auto b = common::seeded_vector<double>(host.matrix.rows, 3);
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
      for (int i = 0; i < 2; ++i) {  // the second solve finds the state that the first one leaves
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
  std::printf("%-26s %4d right, %3d refused, %3d wrong; largest error over its bound %.2g\n", name.c_str(),
              right, refused, wrong, worst);
  std::fflush(stdout);
  return wrong == 0;
}

/// The scheme that the model chooses, with the milliseconds of its analysis and of a solve.
struct model_choice {
  std::string scheme;
  double analysis_ms = 0;
  double ms = 0;
};

/// Measures the scheme that the model chooses.
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

/// Measures one system. `seconds`: of the search. `plain`: only plain schemes.
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

/// Writes the results to a file, if there is a path.
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

int run(const program_options& options) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_schemes: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  const auto start = clock::now();
  const common::generator_registry registry;
  std::vector<system_source> sources = choose_systems(options, registry);
  std::shuffle(sources.begin(), sources.end(), std::mt19937(1));
  sptrsv_common::keep_pool_memory();
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
  sptrsv_common::command_line arguments(
      "sptrsv_schemes",
      "Measures the time of each scheme on each system, the choice of the model and the result of a search.");
  sptrsv_benchmarks::schemes::program_options options;
  add_options(arguments, options);
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::schemes::run(options); });
}
