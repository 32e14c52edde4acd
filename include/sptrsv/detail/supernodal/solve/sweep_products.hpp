// SPDX-License-Identifier: Apache-2.0
// One sweep: products of rows of a panel with g, forward, and of columns of a panel with z, backward.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/rhs_pack.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// How the lanes of a warp share some rows of a panel. Groups of `lanes` lanes share the entries of a row,
/// and take equal numbers of consecutive rows. A group multiplies `rows_at_once` rows with all right-hand
/// sides of the sweep: four sums. Lane l of a group finishes sum number l / (lanes / 4) of the rows that
/// come l % (lanes / 4)-th.
template <class Tuning, int Columns>
struct lane_share {
  static constexpr int sums = 4;
  static constexpr int rows_at_once = sums / Columns;
  static constexpr int max_rows = 32 / Columns;  ///< of a warp
  /// Entries of a row for each lane.
  static constexpr int entries = (Tuning::max_width + 31) / 32 > 4 ? (Tuning::max_width + 31) / 32 : 4;

  int log;    ///< of lanes: shifts are faster than divisions
  int lanes;  ///< of a group
  int lane;   ///< in its group
  int group;

  SPTRSV_DEVICE lane_share(std::int64_t columns, int rank) {
    log = columns <= 8 * entries ? 3 : columns <= 16 * entries ? 4 : 5;
    lanes = 1 << log;
    lane = rank & (lanes - 1);
    group = rank >> log;
  }
  /// Returns how many rows each group takes of `rows`.
  [[nodiscard]] SPTRSV_DEVICE int rows_of_group(int rows) const { return (rows * lanes + 31) >> 5; }
  /// Returns which of `rows` rows this lane finishes; -1: none.
  [[nodiscard]] SPTRSV_DEVICE int finished_row(int rows) const {
    const int count = rows_of_group(rows);
    const int in_group = (lane & (lanes / sums - 1)) * rows_at_once + quarter() / Columns;
    const int row = group * count + in_group;
    return in_group < count && row < rows ? row : -1;
  }
  /// Returns the right-hand side that this lane finishes.
  [[nodiscard]] SPTRSV_DEVICE int rhs() const { return quarter() % Columns; }
  /// Returns the quarter of its group in which the lane is.
  [[nodiscard]] SPTRSV_DEVICE int quarter() const { return lane >> (log - 2); }
};

/// Products of rows of a panel with g: `Columns` right-hand sides.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct forward_product {
  using params = solve_params<Scalar, Index, Offset>;
  using lane_share = supernodal::lane_share<Tuning, Columns>;

  /// Returns the sum that this lane finishes of rows times g. `entries`: where row 0 would begin.
  template <int Capacity, class Context, class Warp>
  SPTRSV_DEVICE static Scalar multiply(Context& ctx, const Warp& warp, const params& p, const supernode& node,
                                       const lane_share& lanes, std::int64_t row, int rows,
                                       const Scalar* entries, const Scalar* g) {
    const auto multiplied = [&](int width, auto checks) {
      return multiply_rows<Capacity, decltype(checks)::value>(ctx, warp, p, node, lanes, width, row, rows,
                                                              entries, g);
    };
    // With a width that the compiler knows it unrolls the loops.
    const Scalar sum = lanes.lanes == 8    ? multiplied(8, std::false_type{})
                       : lanes.lanes == 16 ? multiplied(16, std::false_type{})
                                           : multiplied(32, std::false_type{});
    // Where g is not finite, the zeros by structure must be left out.
    return warp.any(!is_finite(sum)) ? multiplied(lanes.lanes, std::true_type{}) : sum;
  }

 private:
  /// Does multiply(). `width`: lanes.lanes. `Checks`: leave out what is zero by structure.
  template <int Capacity, bool Checks, class Context, class Warp>
  SPTRSV_DEVICE static Scalar multiply_rows(Context& ctx, const Warp& warp, const params& p,
                                            const supernode& node, const lane_share& lanes, int width,
                                            std::int64_t row, int rows, const Scalar* entries,
                                            const Scalar* g) {
    constexpr int at_once = lane_share::rows_at_once;
    constexpr int columns_at_once = 4;
    const int k = static_cast<int>(node.columns);
    const int count = lanes.rows_of_group(rows);
    const int begin = lanes.group * count;
    const int end = begin + count < rows ? begin + count : rows;
    Scalar mine{};
    for (int t = 0; t < count; t += at_once) {
      array_of<const Scalar*, at_once> row_entries;
      array_of<int, at_once> row_counts;
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        const std::int64_t i = row + begin + t + r;
        row_entries[r] = entries + panel_row(i, k);
        row_counts[r] = begin + t + r < end ? static_cast<int>(panel_row_entries(i, k)) : 0;
      }
      Scalar sums[lane_share::sums] = {};
      for (int first = lanes.lane; first < k; first += columns_at_once * width) {
        SPTRSV_UNROLL
        for (int e = 0; e < columns_at_once; ++e) {
          const int j = first + e * width;
          array_of<Scalar, Columns> of_g;
          SPTRSV_UNROLL
          for (int c = 0; c < Columns; ++c) {
            of_g[c] = j < k ? g[c * Capacity + j] : Scalar{};
          }
          SPTRSV_UNROLL
          for (int r = 0; r < at_once; ++r) {
            const bool has_entry = j < row_counts[r];
            const Scalar entry = has_entry ? row_entries[r][j] : Scalar{};
            if (!Checks || (has_entry && p.of.depends(ctx, node, row + begin + t + r, j))) {
              SPTRSV_UNROLL
              for (int c = 0; c < Columns; ++c) {
                sums[r * Columns + c] = sums[r * Columns + c] + entry * of_g[c];
              }
            }
          }
        }
      }
      const Scalar sum = reduce_four(warp, sums, lanes.lane, width);
      mine = lanes.lane % (width / lane_share::sums) == t / at_once ? sum : mine;
    }
    return mine;
  }

  /// Returns the sum of values[q] over a group of `width` lanes; q: the quarter in which the lane is.
  template <class Warp>
  SPTRSV_DEVICE static Scalar reduce_four(const Warp& warp, const Scalar (&values)[4], int lane, int width) {
    const bool is_upper = (lane & (width / 2)) != 0;
    const bool is_odd = (lane & (width / 4)) != 0;
    const Scalar kept[2] = {is_upper ? values[2] : values[0], is_upper ? values[3] : values[1]};
    const Scalar sent[2] = {is_upper ? values[0] : values[2], is_upper ? values[1] : values[3]};
    const Scalar halves[2] = {kept[0] + warp.shuffle_xor(sent[0], width / 2),
                              kept[1] + warp.shuffle_xor(sent[1], width / 2)};
    const Scalar of_quarter =
        (is_odd ? halves[1] : halves[0]) + warp.shuffle_xor(is_odd ? halves[0] : halves[1], width / 4);
    return simt::reduce(warp, of_quarter, width / 4, simt::plus{});
  }
};

/// Products of columns of a panel with z: `Columns` right-hand sides.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct backward_product {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps = block_threads / 32;
  using params = solve_params<Scalar, Index, Offset>;
  using unknown = unknown_t<Scalar, Columns>;

  /// Adds the products of `count` entries of a column with z: every warps-th row from row `i` on.
  template <class Context>
  SPTRSV_DEVICE static void add_strip(Context& ctx, const params& p, const supernode& node, std::int64_t i,
                                      int count, int column, const Scalar* entries, const Scalar* z,
                                      unknown& sum) {
    const auto add = [&](int t, unknown& to) {
      to = to + entries[t * warps * strip_columns] * row_of<block_threads>(z, t);
    };
    const auto add_all = [&](unknown& to) {
      if (count == 32) {
        SPTRSV_UNROLL
        for (int t = 0; t < 32; ++t) {
          add(t, to);
        }
      } else {
        for (int t = 0; t < count; ++t) {
          add(t, to);
        }
      }
    };
    add_finite(sum, add_all, [&](unknown& to) {
      for (int t = 0; t < count; ++t) {
        if (p.of.depends(ctx, node, i + t * warps, column)) {
          add(t, to);
        }
      }
    });
  }

  /// Adds this thread's share of a column times z: every `groups`-th row from `group` on. `entries`: where
  /// row 0 of the panel would have the column in shared memory.
  template <int Capacity, class Context>
  SPTRSV_DEVICE static void add_products(Context& ctx, const params& p, const supernode& node,
                                         std::int64_t base, std::int64_t end, int column, int group,
                                         int groups, const Scalar* entries, const Scalar* z, unknown& sum) {
    const int k = static_cast<int>(node.columns);
    const int count = static_cast<int>(end - base < Capacity ? end - base : Capacity);
    const auto add = [&](Scalar factor, int t, unknown& to) { to = to + factor * row_of<Capacity>(z, t); };
    // The diagonal of V is one and not stored; above it V is zero.
    const auto factor = [&](int t) {
      const int i = static_cast<int>(base) + t;
      return i > column ? entries[panel_row(i, k)] : i == column ? pivot_divisor<Scalar>::one() : Scalar{};
    };
    const auto add_all = [&](unknown& to) {
      constexpr int at_once = 8;
      const int below = base < k ? static_cast<int>(k - base) : 0;  // the first row below the diagonal block
      const int diagonal = count < below ? count : below;
      const Scalar* const first_below = entries + panel_row(base + below, k);
      int t = group;
      // Adds the rows before `last`.
      const auto add_until = [&](int last, const auto& factor_of) {
        for (; t + (at_once - 1) * groups < last; t += at_once * groups) {
          Scalar factors[at_once];
          SPTRSV_UNROLL
          for (int r = 0; r < at_once; ++r) {
            factors[r] = factor_of(t + r * groups);
          }
          SPTRSV_UNROLL
          for (int r = 0; r < at_once; ++r) {
            add(factors[r], t + r * groups, to);
          }
        }
        for (; t < last; t += groups) {
          add(factor_of(t), t, to);
        }
      };
      add_until(diagonal, factor);
      add_until(count, [&](int row) { return first_below[(row - below) * k]; });
    };
    add_finite(sum, add_all, [&](unknown& to) {
      for (int t = group; t < count; t += groups) {
        if (base + t >= column && p.of.depends(ctx, node, base + t, column)) {
          add(factor(t), t, to);
        }
      }
    });
  }

 private:
  /// Returns z of a row, whose right-hand sides are `Stride` elements apart.
  template <int Stride>
  SPTRSV_DEVICE static unknown row_of(const Scalar* z, int t) {
    unknown v{};
    for (int c = 0; c < Columns; ++c) {
      rhs_value(v, c) = z[c * Stride + t];
    }
    return v;
  }

  /// Adds to `sum` what add_all adds to zeros. Where z is not finite, the zeros by structure must be left
  /// out: then what add_by_structure adds to zeros.
  template <class AddAll, class AddByStructure>
  SPTRSV_DEVICE static void add_finite(unknown& sum, const AddAll& add_all,
                                       const AddByStructure& add_by_structure) {
    unknown added{};
    add_all(added);
    if (!is_finite(added)) {
      added = {};
      add_by_structure(added);
    }
    sum = sum + added;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
