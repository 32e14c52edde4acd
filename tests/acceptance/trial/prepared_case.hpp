// A drawn system, its solver, and the solutions that the solver finds while the device does nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drawn_systems.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "support/any_solver.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"
#include "trial.hpp"

namespace sptrsv_trial {

/// The system has two sets of values and three right-hand sides (tasks), so that values of an earlier solve
/// do not pass for a solution. The constructor synchronises: all arrays may be used on any stream afterwards.
/// The arrays are given back on the case's own stream, so work of other streams must be complete before the
/// case is destroyed.
template <class Types>
class prepared_case {
 public:
  using target = typename Types::target;
  using stream_type = typename target::stream_type;
  using value = typename Types::value;
  using solver_type = support::any_solver<Types>;
  using policy_type = support::tested_policy<Types>;
  using array = typename target::template array<value>;
  static constexpr std::size_t value_sets = 2;
  static constexpr std::size_t tasks = 3;

  /// Draws the system, analyses it, and solves all tasks with both sets of values. Solutions that are wrong
  /// are failures. Throws what `analyze` throws.
  prepared_case(const policy_type& policy, std::uint64_t seed, system_size size, mode_log& log)
      : prepared_case(policy, seed, source_of_case(seed, policy.case_name), size, log) {}

  [[nodiscard]] const case_id& id() const { return id_; }
  [[nodiscard]] const policy_type& policy() const { return policy_; }
  [[nodiscard]] solver_type& solver() { return *solver_; }
  [[nodiscard]] const solver_type& solver() const { return *solver_; }
  [[nodiscard]] target& where() { return where_; }
  /// Returns whether solves must agree in every bit.
  [[nodiscard]] bool by_bits() const { return by_bits_; }
  /// Returns a set of values of the stored matrix.
  [[nodiscard]] const array& values(std::size_t set) const { return values_[set]; }

  /// Analyses the system with the first set of values once more.
  [[nodiscard]] solver_type analyze(stream_type stream, sptrsv::memory_resource* resource = nullptr) const {
    return host_.is_csc ? policy_.analyze(by_columns_, form_.options(max_rhs_), stream, resource)
                        : policy_.analyze(by_rows_, form_.options(max_rhs_), stream, resource);
  }

  [[nodiscard]] sptrsv::dense_view<const value> b(std::size_t task) const {
    return shape(task).view(static_cast<const value*>(b_[task].data()));
  }
  [[nodiscard]] const std::vector<value>& host_b(std::size_t task) const { return host_b_[task]; }
  [[nodiscard]] support::layout shape(std::size_t task) const {
    return support::column_major(host_.size(), columns_[task]);
  }
  /// Returns the content of x before a solve.
  [[nodiscard]] std::vector<value> poison(std::size_t task) const {
    return support::poisoned<value>(shape(task).extent);
  }

  /// Compares a solution with the one that was found on the quiet device, and counts the solve.
  void check(mode_log& log, std::size_t set, std::size_t task, const std::vector<value>& x,
             const std::string& what) const {
    log.count_solve(x.size());
    const bool right =
        by_bits_ ? support::same_bits(x, expected_[set][task]) : grown_[set] || is_solution(set, task, x);
    log.expect(right, id_, what + (by_bits_ ? ": other bits than on the quiet device" : ": wrong"));
  }
  /// Checks the status of a solve.
  void check_status(mode_log& log, std::size_t set, const sptrsv::solve_status& status,
                    const std::string& what) const {
    using kind = sptrsv::solve_status::kind;
    log.expect(status.code == (grown_[set] ? kind::growth : kind::ok), id_,
               what + ": status " + std::to_string(static_cast<int>(status.code)) + " of row " +
                   std::to_string(status.row.value_or(-1)));
  }

 private:
  using host_matrix = support::stored_matrix<value, typename Types::index, typename Types::offset>;
  template <class Matrix>
  using uploaded = decltype(std::declval<target&>().upload(std::declval<const Matrix&>()));

  prepared_case(const policy_type& policy, std::uint64_t seed, support::random_source source,
                system_size size, mode_log& log)
      : policy_(policy) {
    constexpr std::int64_t most_rhs[] = {1, 1, 2, 3, 5};
    const support::pattern p = draw_pattern_of(size, source);
    form_ = support::draw_form(source);
    max_rhs_ = most_rhs[source.below(5)];
    id_ = {seed, policy.case_name, p.name + ", " + form_.name() + ", max_rhs " + std::to_string(max_rhs_)};
    host_ =
        support::make_matrix<value, typename Types::index, typename Types::offset>(p, form_, source.bits());
    host_values_[0] = host_.values();
    host_values_[1] = host_values_[0];
    for (value& v : host_values_[1]) {
      v *= support::make_value<value>((source.coin() ? 1 : -1) * source.between(0.75, 1));
    }
    for (std::size_t set = 0; set < value_sets; ++set) {
      values_.push_back(where_.upload(host_values_[set]));
    }
    by_rows_ = where_.upload(host_.by_rows);
    by_columns_ = where_.upload(host_.by_columns);
    for (std::size_t task = 0; task < tasks; ++task) {
      columns_[task] = task == 0 ? max_rhs_ : 1 + source.below(max_rhs_);
      host_b_[task] = support::random_vector<value>(p.size * columns_[task], source.bits());
      b_.push_back(where_.upload(host_b_[task]));
    }
    solver_.emplace(analyze(where_.stream()));
    by_bits_ = solver_->info().bit_reproducible;
    solve_quietly(log);  // reads the status last, so all work is complete
  }

  /// Finds the expected solutions; the solver has the first set of values afterwards.
  void solve_quietly(mode_log& log) {
    const auto stream = where_.stream();
    for (const std::size_t set : {1U, 0U}) {
      solver_->update_values(values_[set], stream);
      for (std::size_t task = 0; task < tasks; ++task) {
        auto to = where_.upload(poison(task));
        solver_->solve(b(task), shape(task).view(to.data()), stream);
        expected_[set][task] = where_.download(to);
        grown_[set] = solver_->status(stream).code == sptrsv::solve_status::kind::growth;
        log.count_solve(expected_[set][task].size());
        log.expect(
            grown_[set] ? set == 1 && policy_.growth > 1 : is_solution(set, task, expected_[set][task]), id_,
            "wrong on the quiet device");
      }
    }
  }

  [[nodiscard]] bool is_solution(std::size_t set, std::size_t task, const std::vector<value>& x) const {
    host_matrix a = host_;
    a.values() = host_values_[set];
    const auto result = a.visit([&](const auto& stored) {
      return sptrsv::backward_error(stored, form_.options(), shape(task).view(host_b_[task].data()),
                                    shape(task).view(x.data()));
    });
    return result.error <= policy_.growth * result.bound;
  }

  const policy_type& policy_;
  case_id id_;
  support::form form_;
  std::int64_t max_rhs_ = 1;
  std::int64_t columns_[tasks] = {};
  host_matrix host_;
  std::vector<value> host_values_[value_sets];
  std::vector<value> host_b_[tasks];
  std::vector<value> expected_[value_sets][tasks];
  bool grown_[value_sets] = {};  ///< whether the values do not suit the plan (solve_status::kind::growth)
  bool by_bits_ = true;

  target where_;  // declared before what gives memory back on its stream
  uploaded<sptrsv::csr_matrix<value, typename Types::index, typename Types::offset>> by_rows_;
  uploaded<sptrsv::csc_matrix<value, typename Types::index, typename Types::offset>> by_columns_;
  std::vector<array> values_;
  std::vector<array> b_;
  std::optional<solver_type> solver_;
};

/// Prepares a case. Returns nothing if the policy refuses the system and may do so; any other exception is a
/// failure.
template <class Types>
std::unique_ptr<prepared_case<Types>> prepare(const support::tested_policy<Types>& policy, std::uint64_t seed,
                                              system_size size, mode_log& log) {
  try {
    log.count_case();
    return std::make_unique<prepared_case<Types>>(policy, seed, size, log);
  } catch (const sptrsv::error& e) {
    if (!policy.may_refuse || e.code() != sptrsv::errc::unsupported) {
      log.fail(case_id{seed, policy.case_name, "analyze and solve"}, e.what());
    }
  } catch (const std::exception& e) {
    log.fail(case_id{seed, policy.case_name, "analyze and solve"}, e.what());
  }
  return nullptr;
}

}  // namespace sptrsv_trial
