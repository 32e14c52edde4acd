// The choice of the PE that solves each supernode, by the model of the time of a solve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/supernodes/predictor.hpp"
#include "sptrsv/policy/distributed.hpp"

namespace sptrsv::detail::distributed {

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
    std::vector<int>& owner = made.solver;
    const bool has_grid = how == supernode_dealing::grid;
    made.grid = has_grid ? pe_grid{grid_rows, pes_ / grid_rows} : pe_grid{};
    const bool divides = has_grid && grid_rows > 1;
    if (how == supernode_dealing::cyclic || !of_.tree.is_nested) {
      for (std::int64_t s = 0; s < count; ++s) {
        owner[at(s)] = static_cast<int>(s % pes_);
        if (divides) {
          made.divide(s);
        }
      }
      made.find_sharers(of_);
      return made;
    }
    // Subtrees of at most an eighth of a PE's share. They go to the PEs in the order of columns, in equal
    // shares: so a PE solves for columns that are next to each other.
    std::vector<double> weight(owner.size(), 0);  // of the subtree
    double all = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      const double own = static_cast<double>(of_.tree.entries(s) + of_.tree.columns(s));
      weight[at(s)] += own;
      all += own;
      if (parent(s) >= 0) {
        weight[at(parent(s))] += weight[at(s)];
      }
    }
    const double most = all / (8.0 * pes_);
    const auto is_top = [&](std::int64_t s) { return weight[at(s)] > most; };
    double dealt = 0;  // of all roots of subtrees
    for (std::int64_t s = 0; s < count; ++s) {
      dealt += is_root(s, is_top) ? weight[at(s)] : 0;
    }
    double before = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      if (is_root(s, is_top)) {
        const double middle = before + weight[at(s)] / 2;
        owner[at(s)] = std::min(pes_ - 1, static_cast<int>(middle / dealt * pes_));
        before += weight[at(s)];
      }
    }
    for (std::int64_t s = count - 1; s >= 0; --s) {  // what is below a root goes with it
      if (!is_top(s) && !is_root(s, is_top)) {
        owner[at(s)] = owner[at(parent(s))];
      }
    }
    std::vector<double> heaviest(owner.size(), -1);
    int next = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      if (is_top(s) && divides) {
        made.divide(s);
      } else if (is_top(s) && (how != supernode_dealing::subtrees || heaviest[at(s)] < 0)) {
        owner[at(s)] = next++ % pes_;
      }
      const std::int64_t above = parent(s);
      if (above >= 0 && is_top(above) && how == supernode_dealing::subtrees &&
          weight[at(s)] > heaviest[at(above)]) {
        heaviest[at(above)] = weight[at(s)];
        owner[at(above)] = owner[at(s)];
      }
    }
    made.find_sharers(of_);
    return made;
  }

 private:
  [[nodiscard]] std::int64_t parent(std::int64_t s) const {
    return of_.tree.rows(s) > 0 ? of_.parent(s) : -1;
  }
  /// Returns whether the subtree of `s` is dealt as a whole, and is not part of a larger one that is.
  template <class IsTop>
  [[nodiscard]] bool is_root(std::int64_t s, const IsTop& is_top) const {
    return !is_top(s) && (parent(s) < 0 || is_top(parent(s)));
  }

  const structure<Index>& of_;
  int pes_;
};

/// How the owners of supernodes are chosen.
struct owner_choice {
  int pes;      ///< that solve; 0: as many as are predicted to be fastest
  int present;  ///< PEs
  supernode_dealing how;
  int grid_rows;  ///< 0: as many as are predicted to be fastest
  pe_tree tree;

  /// Returns whether supernodes of `used` PEs may be dealt like this. `rows`: of the grid; 0: there is none.
  [[nodiscard]] bool allows(int used, supernode_dealing tried, int rows) const {
    const bool is_grid = tried == supernode_dealing::grid;
    return (how == tried || (how == supernode_dealing::automatic && tried != supernode_dealing::cyclic)) &&
           is_grid == (rows > 0) && (!is_grid || (used % rows == 0 && (grid_rows == 0 || grid_rows == rows)));
  }
};

/// The owners of all supernodes, and what the model predicts for them.
struct ownership {
  panel_owners panels;
  int pes = 0;  ///< how many PEs solve; 0: no way to deal supernodes is allowed
  supernode_dealing how = supernode_dealing::subtrees;
  pe_tree tree = pe_tree::automatic;
  predicted_solve predicted;

  template <class Index>
  [[nodiscard]] task_order order(const structure<Index>& of) const {
    const message_tree highest = message_tree::of(tree, pes);
    return {of.backward, panels.number.empty() && !highest.is_binary ? 0 : highest.height()};
  }
};

/// Deals the supernodes. More PEs take part only if the prediction for them is at least a tenth shorter: the
/// model is not more exact.
template <class Index>
ownership choose_owners(const structure<Index>& of, const owner_choice& choice, const machine_costs& costs,
                        double scalar_bytes, const put_pairs& puts) {
  const predictor<Index> model(of, costs, scalar_bytes, puts);
  ownership best;
  const int first = choice.pes > 0 ? choice.pes : 1;
  for (int used = first; used <= (choice.pes > 0 ? choice.pes : choice.present); ++used) {
    for (const supernode_dealing tried : {supernode_dealing::subtrees, supernode_dealing::top,
                                          supernode_dealing::cyclic, supernode_dealing::grid}) {
      for (int rows = 0; rows <= used; ++rows) {
        if (!choice.allows(used, tried, rows)) {
          continue;
        }
        ownership now{dealer<Index>(of, used).deal(tried, rows), used, tried, choice.tree, {}};
        now.predicted = model.predict(now.panels, used, choice.tree);
        const double wanted = best.predicted.total_ns() * (used > best.pes ? 0.9 : 1);
        if (best.pes == 0 || now.predicted.total_ns() < wanted) {
          best = std::move(now);
        }
      }
    }
  }
  return best;
}

}  // namespace sptrsv::detail::distributed
