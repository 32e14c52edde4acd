// Distributed solves on PEs that are processes: with memory that CUDA maps into all of them, or with NVSHMEM,
// if SPTRSV_WITH_NVSHMEM is defined.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "common/measurement/distributed_solves.cuh"
#include "common/processes/processes.hpp"
#include "sptrsv/distributed/process_team.cuh"
#ifdef SPTRSV_WITH_NVSHMEM
#include "plugins/nvshmem/nvshmem_puts.cuh"
#endif

namespace sptrsv_common {

/// What PEs are.
enum class team_kind {
  threads,      ///< of one process
  processes,    ///< with CUDA's interprocess memory
  nvshmem,      ///< processes with direct stores to memory of NVSHMEM
  nvshmem_puts  ///< processes with all values sent by puts of NVSHMEM
};

/// Returns the number of GPUs of this machine; 0 if there is none. A process of its own counts them, so that
/// this one can fork.
inline int count_gpus() {
  const processes_result counted = run_processes(1, 60, [](sptrsv::process_group&) {
    int count = 0;
    return std::to_string(cudaGetDeviceCount(&count) == cudaSuccess ? count : 0);
  });
  return counted.failure.empty() ? std::stoi(counted.result) : 0;
}

/// A distributed_result as bytes: the plan comes last.
inline std::string to_bytes(const distributed_result& r) {
  std::string bytes(sizeof(r.facts) + 4 * sizeof(double), '\0');
  const double numbers[] = {r.milliseconds, r.setup_seconds, r.error, r.bound};
  std::memcpy(bytes.data(), &r.facts, sizeof(r.facts));
  std::memcpy(bytes.data() + sizeof(r.facts), numbers, sizeof(numbers));
  return bytes + r.plan;
}
inline distributed_result from_bytes(const std::string& bytes) {
  distributed_result r;
  double numbers[4];
  std::memcpy(&r.facts, bytes.data(), sizeof(r.facts));
  std::memcpy(numbers, bytes.data() + sizeof(r.facts), sizeof(numbers));
  r.milliseconds = numbers[0];
  r.setup_seconds = numbers[1];
  r.error = numbers[2];
  r.bound = numbers[3];
  r.plan = bytes.substr(sizeof(r.facts) + sizeof(numbers));
  return r;
}

/// Solves with a factor on the processes of a group, as measure_distributed. Collective.
///
/// @param device the number of the GPU of this process.
inline distributed_result measure_as_process(sptrsv::process_group& group, int device, team_kind kind,
                                             const grid_factor& factor, const distributed_run& run) {
#ifdef SPTRSV_WITH_NVSHMEM
  if (kind == team_kind::nvshmem) {
    sptrsv::nvshmem_team team(group, device);
    return measure_on(team, factor, run);
  }
  if (kind == team_kind::nvshmem_puts) {
    distributed_run by_puts = run;
    by_puts.policy.transport = sptrsv::pe_transport::puts;
    sptrsv::nvshmem_put_team team(group, device);
    return measure_on(team, factor, by_puts);
  }
#endif
  static_cast<void>(kind);
  sptrsv::process_team team(group, device);
  return measure_on(team, factor, run);
}

/// Starts `pes` processes, which are dealt to the first `gpus` GPUs, and solves with a factor on them.
///
/// @param limit_s seconds that all processes have together.
/// @param failure the text that names the PE that has failed; empty if none has.
inline distributed_result measure_in_processes(const grid_factor& factor, int pes, int gpus, team_kind kind,
                                               const distributed_run& run, double limit_s,
                                               std::string& failure) {
  const processes_result done = run_processes(pes, limit_s, [&](sptrsv::process_group& group) {
    return to_bytes(measure_as_process(group, group.rank() % gpus, kind, factor, run));
  });
  failure = done.failure;
  return failure.empty() ? from_bytes(done.result) : distributed_result{};
}

/// The place of this process among those that srun or mpirun has started. `size` is 0 if it is alone.
struct job_place {
  int rank = 0;
  int size = 0;
  int rank_on_host = 0;
};

/// Reads the place from the environment variables of Slurm, Open MPI, or of launchers with PMI.
inline job_place find_job_place() {
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::atoi(text) : -1;
  };
  const char* const names[][3] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}};
  for (const auto& [rank, size, rank_on_host] : names) {
    if (number(rank) >= 0 && number(size) > 0) {
      return {number(rank), number(size), number(rank_on_host) >= 0 ? number(rank_on_host) : number(rank)};
    }
  }
  return {};
}

}  // namespace sptrsv_common
