// Acceptance test: solves real matrices with every policy in several value types and with both triangles,
// then repeats solves and checks that every bit is the same or, if the policy does not guarantee that, that
// the backward error stays within its bound. `--help` lists the options. The last line of the output is "N
// passed, N failed".
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "background_load.hpp"
#include "common/command_line/command_line.hpp"
#include "common/command_line/option_types.hpp"
#include "common/measurement/placement.hpp"
#include "common/policies/policy_forms.hpp"
#include "common/systems/matrix_source.hpp"
#include "common/systems/seeded_values.hpp"
#include "common/systems/triangular_system.hpp"
#include "options.hpp"
#include "repeat_solves.hpp"
#include "sptrsv/sptrsv.hpp"
#ifdef __CUDACC__
#include "busy_streams.cuh"
#endif

namespace sptrsv_acceptance {
namespace {

struct totals {
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t refused = 0;  ///< by forms that may refuse systems
  void count(bool ok) { ++(ok ? passed : failed); }
};

/// The results of one policy on one matrix over all value types and triangles.
struct outcome {
  double worst_ratio = 0;   ///< backward error over its bound
  double milliseconds = 0;  ///< of the lower system in double
  std::int64_t refused = 0;
  std::vector<std::string> failures;
};

/// Returns whether a form refused a system that it may refuse.
template <class Form>
bool is_refusal(const Form& form, const std::exception& thrown) {
  const auto* const error = dynamic_cast<const sptrsv::error*>(&thrown);
  return form.may_refuse && error != nullptr && error->code() == sptrsv::errc::unsupported;
}

/// Solves a system with a form. Returns the backward error over its bound, and the time of a solve in
/// milliseconds if `timed`, otherwise 0.
template <class Policy, class Value>
std::pair<double, double> run_case(const common::policy_form<Policy>& form,
                                   const common::triangular_system<Value>& system, bool timed) {
  using placement = common::placement_of<Policy>;
  const auto b = common::seeded_vector<Value>(system.matrix.rows, 3);
  auto solver = sptrsv::analyze(form.policy, placement::put_matrix(system.matrix), system.options());
  const auto device_b = placement::put(b);
  auto device_x = placement::put(std::vector<Value>(b.size(), Value(7)));
  solver.solve(device_b, device_x);
  const std::vector<Value> x = placement::get(device_x);
  const auto quality = sptrsv::backward_error(system.matrix, system.options(), b, x);
  const double time =
      timed ? common::median_time<placement>(5, [&] { solver.solve(device_b, device_x); }) : 0;
  return {quality.error / (form.growth * quality.bound), time};
}

/// Converts the system of a file to a value type and a triangle. The values are seeded if substitution with
/// the values of the file does not stay finite, and if only one of the types is complex: real values would
/// leave half of complex arithmetic untested.
template <class Value, class FileValue>
common::triangular_system<Value> system_in(const common::triangular_system<FileValue>& lower,
                                           sptrsv::uplo part) {
  auto system = common::with_values_as<Value>(lower);
  if (part == sptrsv::uplo::upper) {
    system = common::transposed(system);
  }
  if (lower.seeded || std::is_floating_point_v<Value> != std::is_floating_point_v<FileValue> ||
      !common::has_finite_solution(system)) {
    common::seed_values(system);
  }
  return system;
}

/// Calls `use` with the lower system of a file, in double or in complex<double> as the file.
template <class Use>
void with_lower_system(const std::string& path, Use use) {
  sptrsv_common::matrix_market_header header = sptrsv_common::read_matrix_market_header(path);
  const auto read = [&](auto type) {
    using value = decltype(type);
    const auto file = sptrsv_common::read_matrix_market<value>(path, &header);
    use(common::make_triangular_system(file, header, sptrsv::uplo::lower));
  };
  header.field == sptrsv_common::mm_field::complex ? read(std::complex<double>{}) : read(double{});
}

/// The test.
class acceptance {
 public:
  explicit acceptance(options chosen) : options_(std::move(chosen)) {}

  int run() {
    std::vector<std::string> files;
    for (const std::string& path : matrix_files(options_.directory)) {
      guarded(path, [&] {
        if (sptrsv_common::read_matrix_market_header(path).rows < options_.below_rows) {
          files.push_back(path);
        }
      });
    }
    if (!options_.only_repeats) {
      std::printf(
          "%zu matrices, each in 3 types of values and as a lower and an upper system. \"own values\": how "
          "many\n"
          "of these 6 systems have the values of the file. err/bound: largest backward error over its "
          "bound.\n"
          "ms: time of a solve of the lower system in double.\n\n",
          files.size());
      print_heading();
      for (const std::string& path : files) {
        guarded(path, [&] { check_file(path); });
      }
    }
    repeat_solves(spread(files, options_.repeat_on));
    std::printf("\n%lld passed, %lld failed", static_cast<long long>(totals_.passed),
                static_cast<long long>(totals_.failed));
    if (totals_.refused > 0) {
      std::printf(", %lld refused", static_cast<long long>(totals_.refused));
    }
    std::printf("\n");
    return totals_.failed == 0 && totals_.passed > 0 ? 0 : 1;
  }

 private:
  /// Calls `visit(form, index)` for each chosen form that is compiled for the type. `index`: of its name in
  /// options_.forms.
  template <class Value, class Visit>
  void for_each_chosen(Visit visit) const {
    common::for_each_form<Value, std::int32_t>([&](const auto& form) {
      const auto at = std::find(options_.forms.begin(), options_.forms.end(), form.name);
      if (at != options_.forms.end()) {
        visit(form, static_cast<std::size_t>(at - options_.forms.begin()));
      }
    });
  }

  /// Runs a check. An exception counts as one failure.
  template <class Check>
  void guarded(const std::string& path, Check check) {
    try {
      check();
    } catch (const std::exception& e) {
      std::printf("%-34s FAILED: %s\n", name_of(path).c_str(), e.what());
      totals_.count(false);
    }
    std::fflush(stdout);
  }

  static std::string name_of(const std::string& path) { return common::matrix_name(path); }

  void print_heading() const {
    std::printf("%-34s %8s %9s %7s", "", "", "", "own");
    for (const std::string& name : options_.forms) {
      std::printf(" | %-20s", name.c_str());
    }
    std::printf("\n%-34s %8s %9s %7s", "matrix", "rows", "entries", "values");
    for (std::size_t k = 0; k < options_.forms.size(); ++k) {
      std::printf(" | %-9s %10s", "err/bound", "ms");
    }
    std::printf("\n");
  }

  void check_file(const std::string& path) {
    with_lower_system(path, [&](const auto& lower) {
      std::vector<outcome> outcomes(options_.forms.size());
      const int with_own_values = check_type<float>(lower, outcomes) + check_type<double>(lower, outcomes) +
                                  check_type<std::complex<double>>(lower, outcomes);
      std::printf("%-34s %8lld %9zu %7d", name_of(path).c_str(), static_cast<long long>(lower.matrix.rows),
                  lower.matrix.values.size(), with_own_values);
      print(outcomes);
    });
  }

  /// Returns the number of systems, of the two, that have the values of the file.
  template <class Value, class FileValue>
  int check_type(const common::triangular_system<FileValue>& lower, std::vector<outcome>& outcomes) {
    int with_own_values = 0;
    for (const auto part : {sptrsv::uplo::lower, sptrsv::uplo::upper}) {
      const auto system = system_in<Value>(lower, part);
      with_own_values += system.seeded ? 0 : 1;
      for_each_chosen<Value>(
          [&](const auto& form, std::size_t index) { check_case(form, system, outcomes[index]); });
    }
    return with_own_values;
  }

  template <class Form, class Value>
  void check_case(const Form& form, const common::triangular_system<Value>& system, outcome& result) {
    const bool timed = std::is_same_v<Value, double> && system.part == sptrsv::uplo::lower;
    const std::string what =
        form.name + ", " + common::value_name<Value>() + ", " + common::name_of(system.part);
    bool ok = false;
    try {
      const auto [ratio, time] = run_case(form, system, timed);
      ok = ratio <= 1;
      result.worst_ratio = std::max(result.worst_ratio, ratio);
      result.milliseconds = timed ? time : result.milliseconds;
      if (!ok) {
        result.failures.push_back(what + ": backward error is " + std::to_string(ratio) + " times its bound");
      }
    } catch (const std::exception& e) {
      if (is_refusal(form, e)) {
        ++result.refused;
        ++totals_.refused;
        return;
      }
      result.failures.push_back(what + ": " + e.what());
    }
    totals_.count(ok);
  }

  static void print(const std::vector<outcome>& outcomes) {
    for (const outcome& o : outcomes) {
      if (o.refused > 0) {
        std::printf(" | %lld refused %10.4f", static_cast<long long>(o.refused), o.milliseconds);
      } else {
        std::printf(" | %9.3f %10.4f", o.worst_ratio, o.milliseconds);
      }
    }
    std::printf("\n");
    for (const outcome& o : outcomes) {
      for (const std::string& failure : o.failures) {
        std::printf("    FAILED: %s\n", failure.c_str());
      }
    }
  }

  void repeat_solves(const std::vector<std::string>& files) {
    std::printf("\n%lld repeated solves of %zu matrices in double, with %lld other streams busy\n",
                static_cast<long long>(options_.repeat_bits), files.size(),
                static_cast<long long>(options_.busy_streams));
#ifdef __CUDACC__
    std::optional<busy_streams> others;
    if (options_.busy_streams > 0) {
      others.emplace(options_.busy_streams);
    }
#endif
    for (const std::string& path : files) {
      guarded(path, [&] { repeat_file(path); });
    }
#ifdef __CUDACC__
    if (others) {
      guarded("the other streams", [&] {
        const bool right = others->finish();
        totals_.count(right);
        std::printf("the other streams: %llu rounds of solves and copies each, %s\n",
                    static_cast<unsigned long long>(others->rounds()), right ? "right" : "FAILED: wrong");
      });
    }
#endif
  }

  /// Prints the name before the solves, so that the output shows which solve does not end.
  void repeat_file(const std::string& path) {
    with_lower_system(path, [&](const auto& lower) {
      const auto system = system_in<double>(lower, sptrsv::uplo::lower);
      for_each_chosen<double>([&](const auto& form, std::size_t) {
        std::printf("%-34s %-34s ", name_of(path).c_str(), form.name.c_str());
        std::fflush(stdout);
        const auto start = std::chrono::steady_clock::now();
        try {
          const repeat_result result = count_wrong_solves(form, system, options_.repeat_bits);
          const char* const good = result.by_bits ? "identical" : "within the bound";
          const char* const bad = result.by_bits ? " differ" : " beyond the bound";
          std::printf("%-20s",
                      result.wrong == 0 ? good : ("FAILED: " + std::to_string(result.wrong) + bad).c_str());
          totals_.count(result.wrong == 0);
        } catch (const std::exception& e) {
          const bool refused = is_refusal(form, e);
          std::printf("%s: %s", refused ? "refused" : "FAILED", e.what());
          refused ? ++totals_.refused : ++totals_.failed;
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        std::printf(" %8.2f s\n", seconds.count());
        std::fflush(stdout);
      });
    });
  }

  options options_;
  totals totals_;
};

}  // namespace
}  // namespace sptrsv_acceptance

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_acceptance",
      "Solves the lower triangle, and its transpose as an upper triangle, of every Matrix Market file in "
      "DIRECTORY, in float, double and complex<double>, with each policy, and checks the backward errors. "
      "Then "
      "solves some of them many times and checks that every bit is the same or, with policies that do not "
      "guarantee this, that the backward error stays within its bound.");
  sptrsv_acceptance::options options;
  add_options(arguments, options);
  return arguments.run(argc, argv, [&] {
    complete(options);
    if (options.busy_processes >= 0) {
      return sptrsv_acceptance::background_load_trial(options.busy_processes).run() ? 0 : 1;
    }
    return sptrsv_acceptance::acceptance(options).run();
  });
}
