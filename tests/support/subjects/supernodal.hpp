// The policy supernodal under test.
#pragma once

#include <cstddef>

#include "sptrsv/policy/supernodal.hpp"
#include "support/subjects/subject.hpp"

namespace sptrsv::testing {

/// A bound of 8 on the growth, so that supernodes are cut where the values of a test need it.
template <class Tuning>
struct supernodal_subject : subject<policy::basic_supernodal<Tuning>> {
  static constexpr double growth = 8;
  static constexpr bool holds_indices = false;
  static policy::basic_supernodal<Tuning> make() { return {growth}; }
};
struct supernodal : supernodal_subject<experimental::supernodal_tuning> {
  static constexpr const char* name = "supernodal";
};
/// Warps solve panels of up to 28 entries in double, blocks those of up to 60, and larger ones are shared by
/// several blocks; products take several tiles, which blocks share if there are few. Blocks share the packs
/// of a solve. Merged panels may be half zeros. Supernodes are cut on the device.
struct small_panels : experimental::supernodal_tuning {
  static constexpr int block_threads = 64;
  static constexpr int max_width = 24;
  static constexpr double max_padding = 0.5;
  static constexpr double max_narrow_padding = 0.6;
  static constexpr int tile_bytes = 512;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int pack_tile_bytes = 448;
  static constexpr int pack_block_threads = 64;
  static constexpr int pack_sharing = 64;
  static constexpr int product_rows = 8;
  static constexpr int product_columns = 8;
  static constexpr int shared_products = 24;
  static constexpr int supernodes_on_host = 0;
};
struct supernodal_small : supernodal_subject<small_panels> {
  static constexpr const char* name = "supernodal_small";
};

/// As small_panels, but each block takes all packs of its task, and no panel is padded.
struct unshared_packs : small_panels {
  static constexpr double max_padding = 0;
  static constexpr double max_narrow_padding = 0;
  static constexpr int pack_sharing = 0;
};
struct supernodal_unshared : supernodal_subject<unshared_packs> {
  static constexpr const char* name = "supernodal_unshared";
};

/// Forests of several levels, and above them panels that blocks share.
struct small_forests : small_panels {
  static constexpr int tile_bytes = 2560;
};
struct supernodal_forests : supernodal_subject<small_forests> {
  static constexpr const char* name = "supernodal_forests";
};

struct supernodal_family {
  static constexpr std::size_t turn = 5;
  using policies = policy_groups<same_policy<supernodal>, same_policy<supernodal_small>>;
};

}  // namespace sptrsv::testing
