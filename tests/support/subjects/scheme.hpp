// The policy scheme under test.
#pragma once

#include <cstddef>

#include "sptrsv/policy/scheme.hpp"
#include "support/subjects/subject.hpp"

namespace sptrsv::testing {

/// Blocks of two warps, so that small matrices have many blocks; several batches for short rows, several
/// sweeps even for three right-hand sides; a block soon stops waiting for the others.
struct small_schemes : experimental::scheme_tuning {
  static constexpr int block_threads = 64;
  static constexpr int entries_at_once = 2;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int min_buffered = 2;
  static constexpr int patience = 8;
};
struct scheme_chosen : subject<policy::basic_scheme<small_schemes>> {
  static constexpr const char* name = "scheme_chosen";
};
template <class Named>
struct scheme_subject : subject<policy::basic_scheme<small_schemes>> {
  static policy_type make() { return {parse_scheme(Named::text)}; }
};
/// Warps take groups round-robin; rows of a node may need each other; in the order of substitution.
struct scheme_dealt : scheme_subject<scheme_dealt> {
  static constexpr const char* name = "scheme_dealt";
  static constexpr const char* text = "nw=2 ng=4 trans=merge_fixed(4) warps=ws_rr";
};
/// Fenced flags, entries in shared memory, groups assigned to warps by locality.
struct scheme_fenced : scheme_subject<scheme_fenced> {
  static constexpr const char* name = "scheme_fenced";
  static constexpr const char* text =
      "nw=2 ng=2 sw_rnnz=2 trans=reorder+merge_avg(8,4) group=rg_balance warps=ws_locality signal=fenced "
      "buffered=yes";
};
/// One launch per level; launches that do not wait have no flags; divisions at the end.
struct scheme_launched : scheme_subject<scheme_launched> {
  static constexpr const char* name = "scheme_launched";
  static constexpr const char* text =
      "nw=4 ng=8 sw_rnnz=inf trans=reorder+merge_thresh(4,4) warps=ws_balance alpha_level=0 signal=fenced "
      "early_division=no";
};
/// Wide levels in launches of their own, values that are their own flags, one lane per row.
struct scheme_lanes : scheme_subject<scheme_lanes> {
  static constexpr const char* name = "scheme_lanes";
  static constexpr const char* text = "nw=2 ng=32 sw_rnnz=0 trans=reorder alpha_level=0 buffered=yes";
};

struct scheme_family {
  static constexpr std::size_t turn = 3;
  using policies =
      policy_groups<same_policy<scheme_chosen, scheme_dealt, scheme_fenced, scheme_launched, scheme_lanes>>;
};

}  // namespace sptrsv::testing
