// SPDX-License-Identifier: Apache-2.0
// Triangular solves over several GPUs: each processing element (PE) has some rows of the matrix, of b and of
// x. The PEs store solved components and sums into each other's memory, without synchronising in between
// (Ding, Liu, Williams and Li 2021). sptrsv.hpp does not include this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "sptrsv/detail/base/check_space.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/distributed/distributed_engine.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/policy/distributed.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// The plan and the costs of the solves of a distributed_solver on one PE.
using detail::distributed::distributed_facts;

/// A distributed system op(T) x = alpha b on one PE; the result of `analyze` with policy::distributed.
///
/// Team is the type of the team of PEs. It says how they exchange data on the host and allocate memory that
/// the kernels of all can store to; sptrsv/detail/distributed/distributed_team.hpp lists its functions. Each
/// PE needs a GPU of its own, or a share of one that leaves room for the kernels of the others.
///
/// **Collective functions** are called by all PEs in the same order: `analyze`, `update_values`, `solve`,
/// `status` and the destructor. All wait on the host until each PE has called them; `solve` then only
/// enqueues, and the PEs wait for each other on the GPU.
template <class Value, class Index, class Offset, class Team, class Stream>
class distributed_solver {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using engine =
      detail::distributed::engine<experimental::supernodal_tuning, scalar, Index, Offset, Team, executor>;

 public:
  /// Replaces the values of the rows that this PE has handed in. Collective. Synchronises.
  ///
  /// @param values the values of all entries of the part, in host memory.
  /// @param stream the stream of earlier and later solves.
  /// @throws error errc::size_mismatch, errc::invalid_argument for a null pointer, errc::wrong_memory_space,
  ///   on all PEs.
  void update_values(span<const Value> values, Stream stream = {}) {
    detail::distributed::check_together(*team_, [&] {
      SPTRSV_EXPECTS(static_cast<std::int64_t>(values.size()) == entries_, errc::size_mismatch,
                     "update_values got ", values.size(), " values for a part of ", entries_, " entries");
      detail::check_space<detail::host_executor>(values.data(), static_cast<std::int64_t>(values.size()),
                                                 "the array of values", "update_values");
    });
    detail::distributed::fail_together(
        *team_, [&] { engine_->update_values(detail::as_scalar(values.data()), executor(stream)); });
  }

  /// Enqueues a solve of op(T) x = alpha b. Collective, with the same number of columns and the same alpha on
  /// all PEs. The solves of a solver follow each other on one stream; they may not be captured.
  ///
  /// @param b the rows of the right-hand sides of this PE, in device memory.
  /// @param x the rows of the solutions of this PE; it may be b, element for element.
  /// @param alpha factor of b.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error on all PEs what one of them finds, with a text that names the PE, before anything is
  ///   enqueued: errc::size_mismatch, errc::too_many_rhs, errc::wrong_memory_space; errc::invalid_argument
  ///   for a null pointer, or for strides with which elements overlap or exceed the address space.
  ///   errc::cuda_error on one PE, after which all collective functions throw errc::peer_failed.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha = Value(1), Stream stream = {}) {
    const auto columns = detail::distributed::check_together(*team_, [&] {
      static_cast<void>(detail::check_operands<executor>(b, x, rows_, max_rhs_, policy::distributed::name));
      return x.columns;
    });
    for (std::size_t r = 1; r < columns.size(); ++r) {
      SPTRSV_EXPECTS(columns[r] == columns[0], errc::size_mismatch, "PE ", r, " has ", columns[r],
                     " right-hand sides and PE 0 has ", columns[0]);
    }
    detail::distributed::fail_together(*team_, [&] {
      engine_->solve(detail::load_scalar(detail::as_scalar(&alpha)), detail::as_scalars(b),
                     detail::as_scalars(x), executor(stream));
    });
  }

  /// Returns what the last solve met, the same on all PEs: the first row of the whole matrix, in the order of
  /// substitution, whose component is not finite. Collective. Synchronises.
  [[nodiscard]] solve_status status(Stream stream = {}) const {
    return detail::distributed::fail_together(*team_, [&] { return engine_->status(executor(stream)); });
  }

  /// Returns what solves cost: messages, memory of this PE, and the time that the model predicts.
  [[nodiscard]] distributed_facts facts() const { return engine_->facts(); }

  /// Returns the plan in words, with the time that the model predicts.
  [[nodiscard]] std::string plan() const { return engine_->describe(); }

 private:
  template <class V, class I, class O, class T, class S>
  friend auto analyze(const policy::distributed&, const row_part<V, I, O>&, const system_options&, T&, S,
                      memory_resource*);

  distributed_solver(const policy::distributed& policy, const row_part<Value, Index, Offset>& part,
                     const system_options& options, Team& team, const executor& on, memory_resource& resource)
      : team_(&team),
        rows_(part.rows),
        max_rhs_(options.max_rhs),
        engine_(detail::distributed::fail_together(
            team,
            [&] {
              return std::make_unique<engine>(
                  typename engine::part_type{part.first_row, part.rows, part.size, part.row_offsets,
                                             part.column_indices, detail::as_scalar(part.values)},
                  options, policy,
                  detail::distributed::machine_costs{policy.remote_hop_ns, policy.put_hop_ns}, team, on,
                  resource);
            })),
        entries_(part.rows > 0 ? static_cast<std::int64_t>(part.row_offsets[part.rows]) : 0) {}

  Team* team_;
  std::int64_t rows_;
  std::int64_t max_rhs_;
  std::unique_ptr<engine> engine_;
  std::int64_t entries_;
};

/// Analyses a distributed matrix, takes its values, and returns the solver of this PE. Collective. No PE
/// holds the entries of the whole matrix; all learn the supernodes and the rows below them.
///
/// @param policy the policy with its members, the same on all PEs.
/// @param part the rows of this PE.
/// @param options the triangle, the operation, and the largest number of right-hand sides; the same on all
/// PEs.
/// @param team the team of PEs. It must outlive the solver.
/// @param stream the stream of the analysis.
/// @param resource source of memory of this PE alone; null: the default of the stream.
/// @return a `distributed_solver<Value, Index, Offset, Team, Stream>`.
/// @throws error on all PEs what one of them finds, with a text that names the PE: errc::size_mismatch if the
///   rows of the PEs do not follow each other; errc::offsets_not_monotone, errc::index_out_of_range,
///   errc::duplicate_entry, errc::missing_diagonal, with the row; errc::invalid_argument.
template <class Value, class Index, class Offset, class Team, class Stream>
auto analyze(const policy::distributed& policy, const row_part<Value, Index, Offset>& part,
             const system_options& options, Team& team, Stream stream, memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  return distributed_solver<Value, Index, Offset, Team, Stream>(policy, part, options, team, on,
                                                                detail::resource_or_default(resource, on));
}

}  // namespace sptrsv::SPTRSV_ABI
