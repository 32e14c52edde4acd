// Types that the compiler must refuse with a sentence, one for each macro; without a macro the file compiles.
#include <cstdint>
#include <vector>

#include "sptrsv/conversions.hpp"
#include "sptrsv/policy.hpp"
#include "sptrsv/policy/host_serial.hpp"

#if defined(UNSIGNED_INDEX)
using index_type = std::uint32_t;
using offset_type = std::int32_t;
#elif defined(UNSIGNED_OFFSET)
using index_type = std::int32_t;
using offset_type = std::uint64_t;
#else
using index_type = std::int32_t;
using offset_type = std::int64_t;
#endif

/// A tuning whose right-hand sides of one sweep are not those of the policy.
template <class Tuning, int RhsPerSweep>
struct with_rhs : Tuning {
  static constexpr int rhs_per_sweep = RhsPerSweep;
};
/// A tuning of dataflow with another limit of threads that share a row.
struct with_three_lanes : sptrsv::experimental::dataflow_tuning {
  static constexpr int max_rhs_lanes = 3;
};

int main() {
  const std::vector<index_type> indices{0, 1};
  const std::vector<double> values{2, 4};
  const auto a = sptrsv::make_csr<offset_type>(2, 2, indices, indices, values);
  auto solver = sptrsv::analyze(sptrsv::policy::host_serial{}, a);
  std::vector<double> x{1, 1};
  solver.solve(x, x);

  using namespace sptrsv;
#if defined(RHS_OF_DATAFLOW)
  static_cast<void>(policy::basic_dataflow<with_rhs<experimental::dataflow_tuning, 3>>{});
#elif defined(LANES_OF_DATAFLOW)
  static_cast<void>(policy::basic_dataflow<with_three_lanes>{});
#elif defined(RHS_OF_LEVEL_SET)
  static_cast<void>(policy::basic_level_set<with_rhs<experimental::level_set_tuning, 0>>{});
#elif defined(RHS_OF_SYNC_FREE_WARP)
  static_cast<void>(policy::basic_sync_free_warp<with_rhs<experimental::sync_free_warp_tuning, 33>>{});
#elif defined(RHS_OF_SELF_SCHEDULED)
  static_cast<void>(policy::basic_self_scheduled<with_rhs<experimental::self_scheduled_tuning, 9>>{});
#elif defined(CANDIDATES_OF_AUTOMATIC)
  static_cast<void>(policy::automatic<policy::dataflow, policy::level_set>{});
#else
  static_cast<void>(policy::basic_dataflow<with_rhs<experimental::dataflow_tuning, 1>>{});
#endif
  return 0;
}
