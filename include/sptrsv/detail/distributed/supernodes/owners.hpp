// SPDX-License-Identifier: Apache-2.0
// The choice of the PE that solves each supernode, by the model of the time of a solve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/supernodes/predictor.hpp"
#include "sptrsv/policy/distributed.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Deals supernodes to the first `pes` PEs.
template <class Index>
class dealer {
 public:
  dealer(const structure<Index>& of, int pes) : of_(of), pes_(pes) {}

  /// Returns the owners of all panels. `grid_rows`: of the grid of all PEs, which `how` divides supernodes
  /// over if it is supernode_dealing::grid.
  [[nodiscard]] panel_owners deal(supernode_dealing how, int grid_rows) const {
    const std::int64_t count = of_.tree.count();
    panel_owners made;
    made.solver.assign(static_cast<std::size_t>(count), 0);
    const bool has_grid = how == supernode_dealing::grid;
    made.grid_rows = has_grid ? grid_rows : 1;
    made.grid_columns = has_grid ? pes_ / grid_rows : 1;
    const bool divides = has_grid && grid_rows > 1;
    if (how == supernode_dealing::cyclic || !of_.tree.is_nested) {
      for (std::int64_t s = 0; s < count; ++s) {
        made.solver[at(s)] = static_cast<int>(s % pes_);
        if (divides) {
          made.divide(s);
        }
      }
    } else {
      const subtree_weights weight = weigh();
      deal_subtrees(weight, made.solver);
      deal_top(weight, how, divides, made);
    }
    made.find_sharers(of_);
    return made;
  }

 private:
  /// The weights of subtrees: entries and columns.
  struct subtree_weights {
    std::vector<double> of;  ///< by supernode: of the subtree
    double most;             ///< of a subtree that is dealt as a whole

    [[nodiscard]] bool is_top(std::int64_t s) const { return of[at(s)] > most; }
  };

  /// Returns whether the subtree of `s` is dealt as a whole, and is not part of a larger one that is.
  [[nodiscard]] bool is_root(std::int64_t s, const subtree_weights& weight) const {
    return !weight.is_top(s) && (of_.parent(s) < 0 || weight.is_top(of_.parent(s)));
  }

  /// Weighs the subtrees. Those of at most an eighth of a PE's share are dealt as a whole.
  [[nodiscard]] subtree_weights weigh() const {
    subtree_weights weight{std::vector<double>(at(of_.tree.count()), 0), 0};
    double all = 0;
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      const double own = static_cast<double>(of_.tree.entries(s) + of_.tree.columns(s));
      weight.of[at(s)] += own;
      all += own;
      if (of_.parent(s) >= 0) {
        weight.of[at(of_.parent(s))] += weight.of[at(s)];
      }
    }
    weight.most = all / (8.0 * pes_);
    return weight;
  }

  /// Deals subtrees to the PEs in the order of columns, in equal shares: so a PE solves for columns that are
  /// next to each other.
  void deal_subtrees(const subtree_weights& weight, std::vector<int>& owner) const {
    const std::int64_t count = of_.tree.count();
    double dealt = 0;  // of all roots of subtrees
    for (std::int64_t s = 0; s < count; ++s) {
      dealt += is_root(s, weight) ? weight.of[at(s)] : 0;
    }
    double before = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      if (is_root(s, weight)) {
        const double middle = before + weight.of[at(s)] / 2;
        owner[at(s)] = std::min(pes_ - 1, static_cast<int>(middle / dealt * pes_));
        before += weight.of[at(s)];
      }
    }
    for (std::int64_t s = count - 1; s >= 0; --s) {  // what is below a root goes with it
      if (!weight.is_top(s) && !is_root(s, weight)) {
        owner[at(s)] = owner[at(of_.parent(s))];
      }
    }
  }

  /// Deals the supernodes above the subtrees.
  void deal_top(const subtree_weights& weight, supernode_dealing how, bool divides,
                panel_owners& made) const {
    std::vector<int>& owner = made.solver;
    std::vector<double> heaviest(owner.size(), -1);
    int next = 0;
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      if (weight.is_top(s) && divides) {
        made.divide(s);
      } else if (weight.is_top(s) && (how != supernode_dealing::subtrees || heaviest[at(s)] < 0)) {
        owner[at(s)] = next++ % pes_;
      }
      const std::int64_t above = of_.parent(s);
      if (above >= 0 && weight.is_top(above) && how == supernode_dealing::subtrees &&
          weight.of[at(s)] > heaviest[at(above)]) {
        heaviest[at(above)] = weight.of[at(s)];
        owner[at(above)] = owner[at(s)];
      }
    }
  }

  const structure<Index>& of_;
  int pes_;
};

/// Returns whether a policy allows supernodes of `pes` PEs to be dealt like this. `rows`: of the grid; 0:
/// there is none.
inline bool allows(const policy::distributed& policy, int pes, supernode_dealing how, int rows) {
  const bool is_grid = how == supernode_dealing::grid;
  return (policy.dealing == how ||
          (policy.dealing == supernode_dealing::automatic && how != supernode_dealing::cyclic)) &&
         is_grid == (rows > 0) &&
         (!is_grid || (pes % rows == 0 && (policy.grid_rows == 0 || policy.grid_rows == rows)));
}

/// The owners of all supernodes, and what the model predicts for them.
struct ownership {
  panel_owners panels;
  int pes = 0;  ///< how many PEs solve; 0: no way to deal supernodes is allowed
  supernode_dealing how = supernode_dealing::subtrees;
  pe_tree tree = pe_tree::automatic;  ///< that messages take: flat if the pattern is not nested
  predicted_solve predicted;

  template <class Index>
  [[nodiscard]] task_order order(const structure<Index>& of) const {
    const message_tree highest = message_tree::of(tree, pes);
    return {of.backward, panels.number.empty() && !highest.is_binary ? 0 : highest.height()};
  }
  /// Returns how supernodes are dealt to several PEs, in words. `asked`: the trees that the policy names.
  [[nodiscard]] std::string dealing_text(pe_tree asked) const {
    if (pes == 1) {
      return {};
    }
    const std::string above =
        how == supernode_dealing::top ? ", and cyclically above them"
        : how == supernode_dealing::grid
            ? text_from(", and over ", panels.grid_rows, " x ", panels.grid_columns, " PEs above them")
            : "";
    return (how == supernode_dealing::cyclic ? ", cyclically" : ", by subtrees") + above +
           (asked == pe_tree::binary ? ", binary trees" : "");
  }
};

/// Deals the supernodes to some of `present` PEs. More PEs take part only if the prediction for them is at
/// least a tenth shorter: the model is not more exact.
template <class Index>
ownership choose_owners(const structure<Index>& of, const policy::distributed& policy, int present,
                        const machine_costs& costs, double scalar_bytes, const put_pairs& puts) {
  const pe_tree tree = of.tree.is_nested ? policy.tree : pe_tree::flat;
  ownership best;
  const int first = policy.pes > 0 ? policy.pes : 1;
  for (int used = first; used <= (policy.pes > 0 ? policy.pes : present); ++used) {
    for (const supernode_dealing tried : {supernode_dealing::subtrees, supernode_dealing::top,
                                          supernode_dealing::cyclic, supernode_dealing::grid}) {
      for (int rows = 0; rows <= used; ++rows) {
        if (!allows(policy, used, tried, rows)) {
          continue;
        }
        ownership now{dealer<Index>(of, used).deal(tried, rows), used, tried, tree, {}};
        now.predicted = solve_model<Index>{of, now.panels, used, tree, costs, scalar_bytes, puts}.predict();
        const double wanted = best.predicted.total_ns() * (used > best.pes ? 0.9 : 1);
        if (best.pes == 0 || now.predicted.total_ns() < wanted) {
          best = std::move(now);
        }
      }
    }
  }
  return best;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
