// SPDX-License-Identifier: Apache-2.0
// The model of the time of a solve: the supernodes on the longest path, each with a constant time; the hops
// to other PEs on it; and the bytes of the PE that has most of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/supernodes/dealing.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The properties of a machine that the model uses. The defaults were fitted to complete factors of 3-D grids
/// on two H100; see docs/lab_log/distributed.md. A hop costs more in a solve than by itself, because a task
/// takes up what has come, and sends what it has computed.
struct machine_costs {
  double remote_hop_ns = 2000;      ///< how much longer a hop to another PE takes than one within a PE
  double put_hop_ns = 6500;         ///< as remote_hop_ns, with put, fence and signal
  double level_ns = 1460;           ///< of a supernode on the longest path, forward
  double bytes_per_ns = 2690;       ///< of panels and vectors that a GPU reads
  double backward_level_ns = 1600;  ///< as level_ns
  double send_ns = 88;              ///< until a PE sends a value to the next receiver; measured
  int pes_on_device = 1;            ///< that share the bandwidth of a GPU
};

/// By receiver: whether a PE sends values to it by puts.
using put_targets = std::vector<char>;

/// The pairs of PEs of which the first sends values to the second by puts.
struct put_pairs {
  std::vector<put_targets> of;  ///< by sender

  [[nodiscard]] bool has(int from, int to) const { return of[at(from)][at(to)] != 0; }
  [[nodiscard]] bool has_any() const {
    return std::any_of(of.begin(), of.end(),
                       [](const put_targets& to) { return std::find(to.begin(), to.end(), 1) != to.end(); });
  }
};

/// The parts of a predicted time in nanoseconds.
struct predicted_solve {
  double path_ns = 0;          ///< of the longest path, from b to x
  double bytes_ns = 0;         ///< of the PE with the most bytes
  std::int64_t levels = 0;     ///< supernodes on the path
  std::int64_t crossings = 0;  ///< hops between PEs on the path; with several PEs, those of b and x too

  [[nodiscard]] double total_ns() const { return path_ns + bytes_ns; }
};

/// The model of a solve in which supernodes are dealt in one way.
template <class Index>
struct solve_model {
  const structure<Index>& of;
  const panel_owners& owners;
  int pes;       ///< that solve
  pe_tree tree;  ///< that messages take
  const machine_costs& cost;
  double scalar_bytes;  ///< of an entry
  const put_pairs& puts;
  /// By supernode and PE: whether the PE receives x of the supernode. Empty if no tree of x is binary.
  std::vector<char> receives_x = find_receivers();

  [[nodiscard]] predicted_solve predict() const {
    const std::int64_t count = of.tree.count();
    std::vector<predicted_solve> below(at(count));  // by supernode: the longest path that ends before it
    std::vector<double> load(at(pes), 0);
    predicted_solve longest;
    const auto take = [](predicted_solve& to, const predicted_solve& from) {
      to = from.path_ns > to.path_ns ? from : to;
    };
    for (std::int64_t s = 0; s < count; ++s) {
      predicted_solve own = below[at(s)];
      own.path_ns += of.backward ? cost.backward_level_ns : cost.level_ns;
      ++own.levels;
      take(longest, own);
      add_load(s, load);
      std::int64_t last = -1;
      for (std::int64_t t = 0; t < of.tree.rows(s); ++t) {
        const std::int64_t above = of.supernode_at(of.row(s, t));
        if (above != last) {
          predicted_solve next = own;
          add_hops(s, above, next);
          take(below[at(above)], next);
          last = above;
        }
        if (of.tree.is_nested) {
          break;
        }
      }
    }
    if (pes > 1) {  // b comes from another PE, and x goes to one
      longest.path_ns += 2 * (puts.has_any() ? cost.put_hop_ns : cost.remote_hop_ns);
      longest.crossings += 2;
    }
    longest.bytes_ns =
        *std::max_element(load.begin(), load.end()) * std::min(cost.pes_on_device, pes) / cost.bytes_per_ns;
    return longest;
  }

  [[nodiscard]] double hop_ns(int from, int to) const {
    return puts.has(from, to) ? cost.put_hop_ns : cost.remote_hop_ns;
  }
  /// Adds the bytes of a supernode to those of its PEs.
  void add_load(std::int64_t s, std::vector<double>& load) const {
    const auto columns = static_cast<double>(of.tree.columns(s));
    double& of_solver = load[at(owners.solver[at(s)])];
    if (!owners.is_divided(s)) {
      of_solver += scalar_bytes * (static_cast<double>(of.tree.entries(s)) + 4 * columns);
      return;
    }
    of_solver += scalar_bytes * (columns * (columns - 1) / 2 + 4 * columns);
    for (std::int64_t t = 0; t < of.tree.rows(s); ++t) {
      load[at(owners.of_rows(s, of.supernode_at(of.row(s, t))))] += scalar_bytes * columns;
    }
  }
  [[nodiscard]] std::vector<char> find_receivers() const {
    const bool is_binary = of.backward && message_tree::of(tree, pes).is_binary;
    std::vector<char> found(is_binary ? at(of.tree.count() * pes) : 0, 0);
    for (std::int64_t s = 0; is_binary && s < of.tree.count(); ++s) {
      for (std::int64_t t = 0; t < of.tree.rows(s); ++t) {
        const std::int64_t above = of.supernode_at(of.row(s, t));
        found[at(above * pes + owners.of_rows(s, above))] = 1;
      }
    }
    return found;
  }
  /// Returns the number of edges between the solver of a supernode and a PE that receives its x.
  [[nodiscard]] std::int32_t edges_of_x(std::int64_t s, int solver, int receiver) const {
    if (receives_x.empty()) {
      return 1;
    }
    std::int64_t count = 1;
    std::int64_t place = 1;
    for (int i = 1; i < pes; ++i) {
      const int pe = receiver_in_turn(true, solver, i, pes);
      place = pe == receiver ? count : place;
      count += receives_x[at(s * pes + pe)];
    }
    return message_tree::of(tree, count).depth(place);
  }
  /// Adds the hops between the solver of supernode `s` and that of `above`, through the PE that has the rows
  /// of the panel of `s` that are columns of `above`.
  void add_hops(std::int64_t s, std::int64_t above, predicted_solve& to) const {
    const int with_rows = owners.of_rows(s, above);
    const int solver = owners.solver[at(s)];
    const int next = owners.solver[at(above)];
    if (with_rows != solver) {  // a sum goes down the tree, or partial sums go up
      const auto& sharers = owners.sharers_of(s);
      const auto edges = message_tree::of(tree, count_of(sharers));
      for (std::int64_t i = sharer_number(owners, s, with_rows); i > 0; i = edges.parent(i)) {
        const int parent = sharers[at(edges.parent(i))];
        const std::int64_t before = i - edges.children(edges.parent(i)).first;  // receivers that come first
        to.path_ns += (of.backward ? hop_ns(sharers[at(i)], parent) : hop_ns(parent, sharers[at(i)])) +
                      static_cast<double>(before) * cost.send_ns;
        ++to.crossings;
      }
    }
    if (with_rows != next) {
      const std::int32_t edges = edges_of_x(above, next, with_rows);
      to.path_ns += edges * (of.backward ? hop_ns(next, with_rows) : hop_ns(with_rows, next));
      to.crossings += edges;
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
