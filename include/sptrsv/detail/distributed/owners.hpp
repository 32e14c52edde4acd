// Which PE solves which supernode, and the model of the time of a solve that chooses it.
//
// The model adds three parts: the supernodes on the longest path, each with a constant time; the hops to
// other PEs on it; and the bytes of the PE that has most of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/distributed/structure.hpp"
#include "sptrsv/policy/distributed.hpp"

namespace sptrsv::detail::distributed {

/// The properties of a machine that the model uses. The defaults, which are different forward and backward,
/// were fitted to complete factors of 3-D grids on two H100; see docs/lab_log/distributed.md. A hop costs
/// more in a solve than by itself, because a task takes up what has come, and sends what it has computed.
struct machine_costs {
  double remote_hop_ns = 2000;  ///< how much longer a hop to another PE takes than one within a PE
  double level_ns = 0;          ///< of a supernode on the longest path; 0: the default
  double bytes_per_ns = 0;      ///< of panels and vectors that a GPU reads; 0: the default
  double put_hop_ns = 6500;     ///< as remote_hop_ns, with put, fence and signal
  int pes_on_device = 1;        ///< that share the bandwidth of a GPU

  /// Returns the costs with the defaults for a direction.
  [[nodiscard]] machine_costs of(bool backward) const {
    machine_costs cost = *this;
    cost.level_ns = level_ns > 0 ? level_ns : backward ? 1600 : 1460;
    cost.bytes_per_ns = bytes_per_ns > 0 ? bytes_per_ns : 2690;
    return cost;
  }
};

/// By sender and receiver: whether values go by puts. Empty: none do.
using put_pairs = std::vector<std::vector<char>>;

/// The parts of a predicted time in nanoseconds.
struct predicted_solve {
  double path_ns = 0;          ///< of the longest path, from b to x
  double bytes_ns = 0;         ///< of the PE with the most bytes
  std::int64_t levels = 0;     ///< supernodes on the path
  std::int64_t crossings = 0;  ///< hops between PEs on the path; with several PEs, those of b and x too

  [[nodiscard]] double total_ns() const { return path_ns + bytes_ns; }
};

/// Predicts the time of a solve. `owner`: by supernode. `scalar_bytes`: of an entry.
template <class Index>
predicted_solve predict(const structure<Index>& of, const std::vector<int>& owner, int pes,
                        const machine_costs& costs, double scalar_bytes, const put_pairs& puts) {
  struct path {
    double ns = 0;
    std::int64_t levels = 0;
    std::int64_t crossings = 0;
  };
  const machine_costs cost = costs.of(of.backward);
  const std::int64_t count = of.tree.count();
  std::vector<path> below(
      static_cast<std::size_t>(count));  // by supernode: of the longest path that ends before it
  std::vector<double> load(static_cast<std::size_t>(pes), 0);
  path longest;
  const auto take = [](path& to, const path& from) {
    if (from.ns > to.ns) {
      to = from;
    }
  };
  const auto hop_ns = [&](std::size_t below_it, std::size_t above_it) {
    const std::size_t from = of.backward ? above_it : below_it;
    const std::size_t to = of.backward ? below_it : above_it;
    return !puts.empty() && puts[from][to] != 0 ? cost.put_hop_ns : cost.remote_hop_ns;
  };
  for (std::int64_t s = 0; s < count; ++s) {
    const auto at = static_cast<std::size_t>(s);
    path own = below[at];
    own.ns += cost.level_ns;
    ++own.levels;
    take(longest, own);
    const double columns = static_cast<double>(of.tree.columns(s));
    load[static_cast<std::size_t>(owner[at])] +=
        scalar_bytes * (static_cast<double>(of.tree.entries(s)) + 4 * columns);
    std::int64_t last = -1;
    for (std::int64_t t = 0; t < of.tree.rows(s); ++t) {
      const std::int64_t above = of.supernode_at(of.row(s, t));
      if (above != last) {
        path next = own;
        if (owner[at] != owner[static_cast<std::size_t>(above)]) {
          next.ns += hop_ns(static_cast<std::size_t>(owner[at]),
                            static_cast<std::size_t>(owner[static_cast<std::size_t>(above)]));
          ++next.crossings;
        }
        take(below[static_cast<std::size_t>(above)], next);
        last = above;
      }
      if (of.tree.is_nested) {
        break;
      }
    }
  }
  predicted_solve found;
  found.path_ns = longest.ns;
  found.levels = longest.levels;
  found.crossings = longest.crossings;
  if (pes > 1) {  // b comes from another PE, and x goes to one
    const auto puts_any = [](const std::vector<char>& to) {
      return std::find(to.begin(), to.end(), 1) != to.end();
    };
    found.path_ns +=
        2 * (std::any_of(puts.begin(), puts.end(), puts_any) ? cost.put_hop_ns : cost.remote_hop_ns);
    found.crossings += 2;
  }
  found.bytes_ns =
      *std::max_element(load.begin(), load.end()) * std::min(cost.pes_on_device, pes) / cost.bytes_per_ns;
  return found;
}

/// Deals supernodes to the first `pes` PEs.
template <class Index>
class dealer {
 public:
  dealer(const structure<Index>& of, int pes) : of_(of), pes_(pes) {}

  /// Returns the owner of each supernode.
  [[nodiscard]] std::vector<int> deal(supernode_dealing how) const {
    const std::int64_t count = of_.tree.count();
    std::vector<int> owner(static_cast<std::size_t>(count), 0);
    if (how == supernode_dealing::cyclic || !of_.tree.is_nested) {
      for (std::int64_t s = 0; s < count; ++s) {
        owner[static_cast<std::size_t>(s)] = static_cast<int>(s % pes_);
      }
      return owner;
    }
    // Subtrees of at most an eighth of a PE's share. They go to the PEs in the order of columns, in equal
    // shares: so a PE solves for columns that are next to each other.
    std::vector<double> weight(owner.size(), 0);  // of the subtree
    double all = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      const double own = static_cast<double>(of_.tree.entries(s) + of_.tree.columns(s));
      weight[static_cast<std::size_t>(s)] += own;
      all += own;
      if (parent(s) >= 0) {
        weight[static_cast<std::size_t>(parent(s))] += weight[static_cast<std::size_t>(s)];
      }
    }
    const double most = all / (8.0 * pes_);
    const auto is_top = [&](std::int64_t s) { return weight[static_cast<std::size_t>(s)] > most; };
    double dealt = 0;  // of all roots of subtrees
    for (std::int64_t s = 0; s < count; ++s) {
      dealt += is_root(s, is_top) ? weight[static_cast<std::size_t>(s)] : 0;
    }
    double before = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      if (is_root(s, is_top)) {
        const double middle = before + weight[static_cast<std::size_t>(s)] / 2;
        owner[static_cast<std::size_t>(s)] = std::min(pes_ - 1, static_cast<int>(middle / dealt * pes_));
        before += weight[static_cast<std::size_t>(s)];
      }
    }
    for (std::int64_t s = count - 1; s >= 0; --s) {  // what is below a root goes with it
      if (!is_top(s) && !is_root(s, is_top)) {
        owner[static_cast<std::size_t>(s)] = owner[static_cast<std::size_t>(parent(s))];
      }
    }
    std::vector<double> heaviest(owner.size(), -1);
    int next = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      if (is_top(s) && (how == supernode_dealing::top || heaviest[static_cast<std::size_t>(s)] < 0)) {
        owner[static_cast<std::size_t>(s)] = next++ % pes_;
      }
      const std::int64_t above = parent(s);
      if (above >= 0 && is_top(above) && how != supernode_dealing::top &&
          weight[static_cast<std::size_t>(s)] > heaviest[static_cast<std::size_t>(above)]) {
        heaviest[static_cast<std::size_t>(above)] = weight[static_cast<std::size_t>(s)];
        owner[static_cast<std::size_t>(above)] = owner[static_cast<std::size_t>(s)];
      }
    }
    return owner;
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

/// The owners of all supernodes, and what the model predicts for them.
struct ownership {
  std::vector<int> owner;  ///< by supernode
  int pes = 1;             ///< how many PEs solve
  supernode_dealing how = supernode_dealing::subtrees;
  predicted_solve predicted;
};

/// Deals the supernodes to `pes` PEs; if `pes` is 0, to as many of `present` ones as are predicted to be
/// fastest. More PEs take part only if the prediction for them is at least a tenth shorter: the model is not
/// more exact.
template <class Index>
ownership choose_owners(const structure<Index>& of, int pes, int present, supernode_dealing how,
                        const machine_costs& costs, double scalar_bytes, const put_pairs& puts) {
  ownership best;
  for (int used = pes > 0 ? pes : 1; used <= (pes > 0 ? pes : present); ++used) {
    for (const supernode_dealing tried :
         {supernode_dealing::subtrees, supernode_dealing::top, supernode_dealing::cyclic}) {
      if ((how != supernode_dealing::automatic && how != tried) ||
          (how == supernode_dealing::automatic && tried == supernode_dealing::cyclic)) {
        continue;
      }
      ownership now{dealer<Index>(of, used).deal(tried), used, tried, {}};
      now.predicted = predict(of, now.owner, used, costs, scalar_bytes, puts);
      const double wanted = best.predicted.total_ns() * (used > best.pes ? 0.9 : 1);
      if (best.owner.empty() || now.predicted.total_ns() < wanted) {
        best = std::move(now);
      }
    }
  }
  return best;
}

}  // namespace sptrsv::detail::distributed
