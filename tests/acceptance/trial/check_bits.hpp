// Repeats the solves of a prepared case in all the ways in which its bits must not change.
#pragma once

#include <string>

#include "prepared_case.hpp"

namespace sptrsv_trial {

/// Solves each task with both sets of values `repeats` times: on the solver's own workspace and on another
/// one, in place and out of place. Then analyses the system again, and solves each task with that solver.
/// `during`: what else the device does, in words.
template <class Types>
void check_bits(prepared_case<Types>& prepared, int repeats, const std::string& during, mode_log& log) {
  using value = typename Types::value;
  auto& where = prepared.where();
  const auto stream = where.stream();
  auto& solver = prepared.solver();
  auto further = solver.make_workspace(stream);
  for (const std::size_t set : {1U, 0U}) {
    solver.update_values(prepared.values(set), stream);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t task = 0; task < prepared.tasks; ++task) {
        const bool in_place = (repeat + static_cast<int>(task)) % 3 == 1;
        const bool elsewhere = (repeat + static_cast<int>(task)) % 2 == 1;
        auto to = where.upload(in_place ? prepared.host_b(task) : prepared.poison(task));
        const auto x = prepared.shape(task).view(to.data());
        const sptrsv::dense_view<const value> b = in_place ? x : prepared.b(task);
        if (elsewhere) {
          solver.solve(b, x, value(1), further, stream);
        } else {
          solver.solve(b, x, stream);
        }
        const std::string what = std::string(in_place ? "in place" : "out of place") +
                                 (elsewhere ? " on a further workspace, " : ", ") + during;
        prepared.check(log, set, task, where.download(to), what);
        prepared.check_status(log, set, elsewhere ? solver.status(further, stream) : solver.status(stream),
                              what);
      }
    }
  }
  auto again = prepared.analyze(stream);
  for (std::size_t task = 0; task < prepared.tasks; ++task) {
    auto to = where.upload(prepared.poison(task));
    again.solve(prepared.b(task), prepared.shape(task).view(to.data()), stream);
    prepared.check(log, 0, task, where.download(to), "analysed again, " + during);
  }
}

}  // namespace sptrsv_trial
