// Refuses each allocation of a solver in turn: the error must be clear, nothing may be leaked, and a solver
// that exists must still solve.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "prepared_case.hpp"
#include "support/counting_resource.hpp"
#include "support/failing_resource.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv_trial {

/// Calls `make(resource)` with resources that refuse the first, second, ... allocation, until it succeeds.
/// Returns the number of refusals.
template <class Target, class Make>
std::int64_t refuse_in_turn(Target& where, const case_id& id, mode_log& log, Make make) {
  constexpr std::size_t most = 10000;
  for (std::size_t number = 1; number < most; ++number) {
    support::failing_resource failing(where.resource(), number);
    support::counting_resource counted(failing);
    const auto failure = support::failure::of([&] { make(counted); });
    const std::string allocation = "allocation " + std::to_string(number);
    log.expect(counted.live_bytes() == 0, id, allocation + ": memory is leaked");
    log.expect(counted.mistakes() == 0, id, allocation + ": memory is given back wrongly");
    log.expect(failure.has_value() == failing.has_refused(), id, allocation + ": the error is lost");
    log.expect(!failure || failure->code == sptrsv::errc::out_of_memory, id,
               allocation + ": " + (failure ? failure->message : ""));
    if (!failing.has_refused()) {
      return static_cast<std::int64_t>(number) - 1;
    }
  }
  log.fail(id, "no end of allocations");
  return 0;
}

/// Refuses the allocations of `analyze` and `make_workspace`, and solves afterwards.
template <class Types>
void check_refused_allocations(prepared_case<Types>& prepared, mode_log& log) {
  using value = typename Types::value;
  auto& where = prepared.where();
  const auto stream = where.stream();
  const auto solve = [&](auto& solver, auto& workspace, const std::string& what) {
    auto to = where.upload(prepared.poison(0));
    solver.solve(prepared.b(0), prepared.shape(0).view(to.data()), value(1), workspace, stream);
    prepared.check(log, 0, 0, where.download(to), what);
  };
  refuse_in_turn(where, prepared.id(), log, [&](sptrsv::memory_resource& resource) {
    auto solver = prepared.analyze(stream, &resource);
    auto workspace = solver.make_workspace(stream);
    solve(solver, workspace, "after refused allocations");
  });
  refuse_in_turn(where, prepared.id(), log, [&](sptrsv::memory_resource& resource) {
    auto workspace = prepared.solver().make_workspace(stream, &resource);
    solve(prepared.solver(), workspace, "on a workspace after refused allocations");
  });
  auto workspace = prepared.solver().make_workspace(stream);
  solve(prepared.solver(), workspace, "a solver that was there before refused allocations");
  const std::string left = where.error();
  log.expect(left.empty(), prepared.id(), "CUDA holds the error " + left);
}

}  // namespace sptrsv_trial
