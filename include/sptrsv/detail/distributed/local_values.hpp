// SPDX-License-Identifier: Apache-2.0
// The panels, and shares of panels, of a PE, and how values come to them from the PEs that have handed them
// in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/messages.hpp"
#include "sptrsv/detail/supernodal/values/supernodal_values.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Returns the supernodes of a PE in device memory. Synchronises.
template <class Index, class Executor>
supernodal::device_tree<Index> upload_supernodes(const local_structure<Index>& of, const Executor& on,
                                                 memory_resource& resource) {
  auto made = supernodal::upload_tree(of.tree, on, resource);
  made.of.rows = made.add(of.rows, on, resource);
  made.of.first_descendant = made.add(of.first_descendant, on, resource);
  return made;
}

/// Finds where the entries of panels are stored. Those of a row and a panel come one after the other.
template <class Index, class Offset>
class place_finder {
 public:
  /// `first`: by column, where its first strictly lower entry is stored. `pivots`: gets, for each diagonal
  /// entry, where it is stored, and its substitution index.
  place_finder(const structure<Index>& of, const local_structure<Index>& local,
               const std::vector<Offset>& first, std::vector<std::pair<std::int64_t, std::int64_t>>& pivots)
      : of_(of), local_(local), first_(first), pivots_(pivots), in_list_(at(local.tree.count()), 0) {}

  /// Returns where an entry is stored.
  Offset find(Index row, Index column) {
    const std::int64_t s = of_.supernode_at(column);
    if (s != supernode_ || row != row_) {
      supernode_ = s;
      row_ = row;
      in_panel_ = row - of_.first(s);
      if (row >= of_.first(s + 1)) {
        std::int64_t& in_list = in_list_[at(local_.here[at(s)])];
        in_list = local_.find_row_near(local_.here[at(s)], local_.local[at(row)], in_list);
        in_panel_ = of_.tree.columns(s) + in_list;
      }
    }
    const std::int64_t place = std::int64_t{first_[at(local_.column_here(of_, s, column))]} + in_panel_ -
                               (column - of_.first(s)) - 1;
    if (row == column) {
      pivots_.emplace_back(place, of_.substitution_index(column));
    }
    return static_cast<Offset>(place);
  }

 private:
  const structure<Index>& of_;
  const local_structure<Index>& local_;
  const std::vector<Offset>& first_;
  std::vector<std::pair<std::int64_t, std::int64_t>>& pivots_;
  std::vector<std::int64_t> in_list_;  ///< by supernode here: where its last row stood in its list
  std::int64_t supernode_ = -1;        ///< of the last entry, as the following
  Index row_ = -1;
  std::int64_t in_panel_ = 0;
};

/// Owns the panels of a PE. The host has their entries column by column, each with its diagonal entry, as a
/// stored matrix whose columns have all rows of their panel.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class local_values {
  using panel_values = supernodal::panel_values<Tuning, Scalar, Index, Offset, Executor>;

 public:
  /// Tells the PE that has the row of the panel of each entry where the entry stands. PEs that share a panel
  /// all have its diagonal block. `for_entries(use)` calls use(row, column, e) for the entries of this PE, e
  /// being an index among its values. `nodes`: the supernodes of `local` in device memory. Collective.
  template <class Team, class ForEntries>
  local_values(Team& team, const structure<Index>& of, const panel_owners& owners,
               const local_structure<Index>& local, const supernodal::supernodes<Index>& nodes,
               const ForEntries& for_entries, bool unit, double max_growth, const Executor& on,
               memory_resource& resource)
      : unit_(unit),
        rank_(static_cast<std::size_t>(team.rank())),
        panels_(supernodal::list_parts(&local.tree, nodes, panel_values::parts, on, resource), nodes.count,
                local.tree.first.back(), local.tree.panel_begin.back(), unit ? 0 : count_of(local.columns),
                max_growth, on, resource) {
    const std::vector<Offset> first = number_columns(local);
    check_together(team, [&] {
      SPTRSV_EXPECTS(count_ <= max_count<Offset>, errc::unsupported, "the panels of a PE have ", count_,
                     " entries, too many for the offset type of the matrix");
    });
    place_finder places(of, local, first, pivots_);
    const auto for_pes = [&](Index row, Index column, const auto& use) {
      const std::int64_t s = of.supernode_at(column);
      if (!owners.is_divided(s)) {
        use(at(owners.solver[at(s)]));
      } else if (row < of.first(s + 1)) {
        for (const int pe : owners.sharers_of(s)) {
          use(at(pe));
        }
      } else {
        use(at(owners.of_rows(s, of.supernode_at(row))));
      }
    };
    std::vector<std::int64_t> counts(at(team.size()), 0);
    for_entries([&](Index row, Index column, Offset) {
      for_pes(row, column, [&](std::size_t pe) { ++counts[pe]; });
    });
    std::vector<std::vector<entry_run<Index>>> to(counts.size());
    sources_.resize(to.size());
    places_.resize(to.size());
    for (std::size_t pe = 0; pe < to.size(); ++pe) {
      sources_[pe].reserve(at(counts[pe]));
    }
    for_entries([&](Index row, Index column, Offset e) {
      for_pes(row, column, [&](std::size_t pe) {
        sources_[pe].push_back(e);
        append_entry(to[pe], row, column);
      });
    });
    const auto received = exchange_all(team, std::move(to));
    for (std::size_t pe = 0; pe < received.size(); ++pe) {
      std::size_t count = 0;
      for_entries_of(received[pe], [&](Index, Index) { ++count; });
      places_[pe].reserve(count);
      for_entries_of(received[pe],
                     [&](Index row, Index column) { places_[pe].push_back(places.find(row, column)); });
    }
    first_ = arrays_.add(first, on, resource);
    make_masks(local, nodes, on, resource);
  }

  /// Takes the values that the PEs have handed in. `values`: of this PE. Collective. Synchronises.
  template <class Team>
  void update(Team& team, const Scalar* values, bool conjugated, const supernodal::supernodes<Index>& of,
              const Executor& on, memory_resource& resource) {
    const auto load = [&](Offset source) {
      const Scalar v = load_scalar(values + source);
      return conjugated ? conjugate(v) : v;
    };
    std::vector<std::vector<Scalar>> to(sources_.size());
    for (std::size_t pe = 0; pe < sources_.size(); ++pe) {
      to[pe].reserve(pe == rank_ ? 0 : sources_[pe].size());
      for (std::size_t e = 0; pe != rank_ && e < sources_[pe].size(); ++e) {
        to[pe].push_back(load(sources_[pe][e]));
      }
    }
    const auto received = exchange_all(team, std::move(to));
    std::vector<Scalar> stored(static_cast<std::size_t>(count_), Scalar{});
    for (std::size_t pe = 0; pe < received.size(); ++pe) {
      for (std::size_t e = 0; e < received[pe].size(); ++e) {
        stored[at(places_[pe][e])] = received[pe][e];
      }
    }
    for (std::size_t e = 0; e < places_[rank_].size(); ++e) {
      stored[at(places_[rank_][e])] = load(sources_[rank_][e]);
    }
    for (const std::int64_t ghost : ghosts_) {
      stored[at(ghost)] = pivot_divisor<Scalar>::one();
    }
    zero_pivots_.clear();
    for (const auto& [place, index] : pivots_) {
      if (stored[at(place)] == Scalar{}) {
        zero_pivots_.push_back(index);
      }
    }
    if (of.count == 0) {
      return;
    }
    const auto device = upload(stored, on, resource);
    panels_.update({device.data(), false, first_, nullptr, nullptr, 1}, of, masks_, -1, on);
    on.synchronize();
  }

  /// Returns the columns before which the supernodes whose growth is too large are to be cut, and the
  /// smallest substitution index of such a supernode, all_finite if there is none. Synchronises.
  std::pair<std::vector<std::int64_t>, std::int64_t> find_grown(const structure<Index>& of,
                                                                const local_structure<Index>& local,
                                                                const Executor& on) const {
    std::vector<std::int64_t> cuts;
    std::int64_t first = all_finite;
    if (local.tree.count() == 0) {
      return {cuts, first};
    }
    for (const std::int64_t s : panels_.grown(on)) {
      const std::int64_t whole = local.whole[at(s)];
      if (whole < 0) {
        continue;
      }
      first = std::min(first, of.substitution_index(of.backward ? of.first(whole + 1) - 1 : of.first(whole)));
      if (of.tree.columns(whole) > 1) {
        cuts.push_back(of.first(whole) + of.tree.columns(whole) / 2);
      }
    }
    return {cuts, first};
  }

  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index) const {
    return std::find(zero_pivots_.begin(), zero_pivots_.end(), substitution_index) != zero_pivots_.end();
  }
  [[nodiscard]] const Scalar* panels() const { return panels_.panels(); }
  /// Returns null if the diagonal is unit.
  [[nodiscard]] const Scalar* diagonal() const { return unit_ ? nullptr : panels_.diagonal().diagonal(); }
  [[nodiscard]] std::size_t bytes() const { return panels_.bytes() + arrays_.bytes(); }

 private:
  /// Numbers the stored values, column by column. Returns where the first strictly lower entry of each column
  /// stands.
  std::vector<Offset> number_columns(const local_structure<Index>& local) {
    std::vector<Offset> first;
    for (std::int64_t s = 0; s < local.tree.count(); ++s) {
      const std::int64_t k = local.tree.columns(s);
      for (std::int64_t c = 0; c < k; ++c) {
        first.push_back(static_cast<Offset>(count_ + 1));
        count_ += k - c + local.tree.rows(s);
      }
      if (local.is_ghost(s)) {
        ghosts_.push_back(count_ - 1);
      }
    }
    return first;
  }

  /// Makes masks that say that a panel has all its rows; see supernodal::row_masks. Each supernode counts as
  /// a fundamental one.
  void make_masks(const local_structure<Index>& local, const supernodal::supernodes<Index>& nodes,
                  const Executor& on, memory_resource& resource) {
    std::vector<std::uint32_t> words;
    std::vector<std::int64_t> begin{0};
    std::vector<Index> fundamental;
    for (std::int64_t s = 0; s < local.tree.count(); ++s) {
      const std::int64_t height = local.tree.columns(s) + local.tree.rows(s);
      words.resize(words.size() + at(supernodal::mask_words(height)), ~std::uint32_t{0});
      for (std::int64_t w = 8; w * 32 < height; w += 8) {
        words[at(masks_.word_index(begin.back(), w) - 1)] = static_cast<std::uint32_t>(w * 32);
      }
      words.back() >>= (32 - height % 32) % 32;
      begin.push_back(count_of(words));
      fundamental.push_back(static_cast<Index>(s));
    }
    const auto add = [&](const auto& from) { return arrays_.add(from, on, resource); };
    masks_ = {add(words), add(begin), add(fundamental), nodes.first, nodes.count};
  }

  bool unit_;
  std::size_t rank_;
  panel_values panels_;
  std::int64_t count_ = 0;                    ///< stored values
  std::vector<std::vector<Offset>> sources_;  ///< by PE: own values that it needs
  std::vector<std::vector<Offset>> places_;   ///< by PE: where its values are stored
  std::vector<std::int64_t> ghosts_;          ///< where the pivots of ghosts are stored
  std::vector<std::pair<std::int64_t, std::int64_t>>
      pivots_;                             ///< where a pivot is stored, substitution index
  std::vector<std::int64_t> zero_pivots_;  ///< substitution indices
  device_arrays arrays_;                   ///< those that follow
  const Offset* first_ = nullptr;          ///< by column; see supernodal::stored_values
  supernodal::row_masks<Index> masks_{};
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
