// Solves with the factor of a grid on several PEs: checks the solution and takes the time. No PE makes rows
// of the factor but its own.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/cuda_handles.cuh"
#include "common/measurement/statistics.hpp"
#include "common/systems/grid_factor.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/distributed.hpp"
#include "sptrsv/distributed/thread_team.cuh"

namespace sptrsv_common {

/// How distributed solves are measured.
struct distributed_run {
  sptrsv::policy::distributed policy;
  bool backward = false;  ///< solve with L^T, otherwise with L
  std::int64_t rhs = 1;
  int rounds = 5;   ///< the time is the median of so many
  int solves = 20;  ///< back to back in each round
};

/// What distributed solves took, over all PEs.
struct distributed_result {
  sptrsv::distributed_facts
      facts;                 ///< messages and bytes of all PEs together; memory of the PE with the most
  double milliseconds = 0;   ///< of a solve on the PE that took longest
  double setup_seconds = 0;  ///< of analyze() on the PE that took longest, without the generation of its rows
  double error = 0;          ///< componentwise backward error
  double bound = 0;          ///< of substitution, times the growth that the policy allows
  std::string plan;
};

/// Returns component i of right-hand side `rhs`.
inline double distributed_b(std::int64_t i, std::int64_t rhs) {
  return 1 + uniform(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(rhs) + 3);
}

/// Returns the elements of all PEs, one after the other. Collective.
template <class T, class Team>
std::vector<T> gather_all(Team& pe, const std::vector<T>& mine) {
  std::vector<T> all;
  for (const auto& of_pe : sptrsv::detail::distributed::gather(pe, mine)) {
    all.insert(all.end(), of_pe.begin(), of_pe.end());
  }
  return all;
}

/// Puts the backward error of one right-hand side into `result`. `x`: the own rows. Collective.
template <class Team>
void check_distributed(Team& pe, const sptrsv::csr_matrix<double>& rows, vertex first, bool backward,
                       std::int64_t rhs, const std::vector<double>& x, distributed_result& result) {
  struct row_sum {
    double residual = 0;
    double size = 0;
    std::int64_t entries = 0;
  };
  const std::vector<double> all = gather_all(pe, x);
  std::vector<row_sum> sums(static_cast<std::size_t>(rows.columns));
  for (vertex k = 0; k < rows.rows; ++k) {
    for (auto e = rows.row_offsets[static_cast<std::size_t>(k)];
         e < rows.row_offsets[static_cast<std::size_t>(k) + 1]; ++e) {
      auto row = static_cast<std::size_t>(first + k);
      auto column = static_cast<std::size_t>(rows.column_indices[static_cast<std::size_t>(e)]);
      if (backward) {
        std::swap(row, column);
      }
      const double product = rows.values[static_cast<std::size_t>(e)] * all[column];
      sums[row].residual -= product;
      sums[row].size += std::fabs(product);
      ++sums[row].entries;
    }
  }
  // Each PE adds up what all have for its rows.
  const auto counts = gather_all(pe, std::vector<std::int64_t>{rows.rows});
  std::vector<std::vector<row_sum>> to;
  auto at = sums.begin();
  for (const std::int64_t count : counts) {
    to.emplace_back(at, at + count);
    at += count;
  }
  std::vector<row_sum> mine(static_cast<std::size_t>(rows.rows));
  for (const auto& of_pe : sptrsv::detail::distributed::exchange_all(pe, to)) {
    for (std::size_t k = 0; k < mine.size(); ++k) {
      mine[k].residual += of_pe[k].residual;
      mine[k].size += of_pe[k].size;
      mine[k].entries += of_pe[k].entries;
    }
  }
  double worst = 0;
  double longest = 0;
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const double b = distributed_b(first + static_cast<std::int64_t>(k), rhs);
    const double error = std::fabs(b + mine[k].residual) / (b + mine[k].size);
    worst = error <= worst ? worst : error;  // also a NaN
    longest = std::max(longest, static_cast<double>(mine[k].entries));
  }
  for (const double of_pe : gather_all(pe, std::vector<double>{worst})) {
    result.error = of_pe <= result.error ? result.error : of_pe;
  }
  for (const double of_pe : gather_all(pe, std::vector<double>{longest})) {
    result.bound = std::max(result.bound, 4 * (of_pe + 1) * std::numeric_limits<double>::epsilon());
  }
}

/// The part of measure_distributed that PE `pe` does. Collective.
template <class Team>
distributed_result measure_on(Team& pe, const grid_factor& factor, const distributed_run& run) {
  const vertex first = factor.first_row(pe.rank(), pe.size());
  const auto rows = factor.make_rows(first, factor.first_row(pe.rank() + 1, pe.size()));
  const cuda_stream stream;
  sptrsv::system_options options;
  options.operation = run.backward ? sptrsv::op::transpose : sptrsv::op::none;
  options.max_rhs = run.rhs;
  pe.meet();
  const auto before = std::chrono::steady_clock::now();
  auto solver =
      sptrsv::analyze(run.policy,
                      sptrsv::row_part<double>{first, rows.rows, rows.columns, rows.row_offsets.data(),
                                               rows.column_indices.data(), rows.values.data()},
                      options, pe, stream.get());
  const std::chrono::duration<double> setup = std::chrono::steady_clock::now() - before;
  std::vector<double> b;
  for (std::int64_t c = 0; c < run.rhs; ++c) {
    for (vertex i = first; i < first + rows.rows; ++i) {
      b.push_back(distributed_b(i, c));
    }
  }
  const auto device_b = sptrsv::to_device(b, stream.get());
  const auto device_x = sptrsv::to_device(std::vector<double>(b.size()), stream.get());
  const auto solve = [&] {
    solver.solve({device_b.data(), rows.rows, run.rhs, 1, rows.rows},
                 {device_x.data(), rows.rows, run.rhs, 1, rows.rows}, 1.0, stream.get());
  };
  cuda_event start;
  cuda_event stop;
  std::vector<double> times;
  for (int round = -1; round < run.rounds; ++round) {  // the first one loads the kernel
    pe.meet();
    start.record(stream.get());
    for (int k = 0; k < run.solves; ++k) {
      solve();
    }
    stop.record(stream.get());
    pe.meet();  // all have enqueued their solves before one waits for its GPU
    const auto of_pe = gather_all(pe, std::vector<double>{stop.milliseconds_since(start) / run.solves});
    if (round >= 0) {
      times.push_back(*std::max_element(of_pe.begin(), of_pe.end()));
    }
  }
  distributed_result result;
  result.plan = solver.plan();
  for (const double of_pe : gather_all(pe, std::vector<double>{setup.count()})) {
    result.setup_seconds = std::max(result.setup_seconds, of_pe);
  }
  result.milliseconds = median(times);
  const std::vector<double> x = sptrsv::to_host(device_x, stream.get());
  for (std::int64_t c = 0; c < run.rhs; ++c) {
    const auto at = x.begin() + c * rows.rows;
    check_distributed(pe, rows, first, run.backward, c, std::vector<double>(at, at + rows.rows), result);
  }
  result.bound *= run.policy.max_growth;
  result.facts = solver.facts();
  const auto facts = gather_all(pe, std::vector<sptrsv::distributed_facts>{result.facts});
  result.facts.messages = 0;
  result.facts.sent_bytes = 0;
  result.facts.puts = 0;
  for (const sptrsv::distributed_facts& f : facts) {
    result.facts.messages += f.messages;
    result.facts.sent_bytes += f.sent_bytes;
    result.facts.puts += f.puts;
    result.facts.device_bytes = std::max(result.facts.device_bytes, f.device_bytes);
  }
  return result;
}

/// Solves with a factor on a PE for each element of `devices`, the number of its GPU. An error of a PE ends
/// the process, with a message that names the PE: kernels of other PEs may wait for it.
inline distributed_result measure_distributed(const grid_factor& factor, const std::vector<int>& devices,
                                              const distributed_run& run) {
  distributed_result result;
  sptrsv::thread_team(devices).run([&](sptrsv::thread_team::member& pe) {
    try {
      const distributed_result mine = measure_on(pe, factor, run);
      if (pe.rank() == 0) {
        result = mine;
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "PE %d: %s\n", pe.rank(), e.what());
      std::_Exit(1);
    }
  });
  return result;
}

/// Returns the GPUs of `pes` PEs that are dealt to the first `gpus` GPUs.
inline std::vector<int> deal_to_gpus(int pes, int gpus) {
  std::vector<int> devices;
  for (int pe = 0; pe < pes; ++pe) {
    devices.push_back(pe % gpus);
  }
  return devices;
}

}  // namespace sptrsv_common
