// SPDX-License-Identifier: Apache-2.0
// The plan of the messages that a PE sends to other PEs and receives from them in a solve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/local_plan.hpp"

namespace sptrsv::detail::distributed {

/// The messages that a PE sends and receives in one solve.
template <class Offset>
struct message_plan {
  std::int64_t values =
      0;  ///< of one right-hand side in a buffer: those of blocks of this PE, then received ones
  std::vector<std::int64_t> received;  ///< indices of what others send
  std::vector<std::int64_t> row_at;    ///< by column: its row here, or -1 - the number of a guest
  std::vector<guest> guests;           ///< columns whose b, or sum, comes from another PE
  std::vector<message_range> sent;     ///< by row or column, as pe_params::sent; empty if nothing is sent
  std::vector<message> messages;       ///< that the ranges of `sent` count
  std::vector<sent_row> sent_rows;     ///< rows of b that go to other PEs
  std::vector<received_row> received_rows;  ///< rows of x that come from other PEs
  std::int64_t sums = -1;                   ///< where the messages of sums begin in `sent`; forward
  std::vector<passed_value> passed;         ///< by number in tasks of kind `pass`, in the order of steps
  std::vector<std::int32_t> passed_step;    ///< by passed value; see task_order
  std::vector<supernodal::named_sources<Offset>> named;  ///< forward: see solve_params; backward: pe_params
  std::vector<Offset> sources;                           ///< that `named` counts
};

/// Plans the messages of a PE together with the other PEs. The receiver says where it wants a value: so a PE
/// need not know how others number their values.
template <class Index, class Offset, class Team>
class message_planner {
 public:
  /// `values`: how many values blocks of this PE hand to each other.
  message_planner(Team& team, const structure<Index>& of, const panel_owners& owners, const task_order& order,
                  pe_tree tree, const local_structure<Index>& local, std::int64_t values)
      : team_(team), of_(of), owners_(owners), order_(order), tree_(tree), local_(local), rank_(team.rank()) {
    made_.values = values;
  }

  message_plan<Offset> make() {
    if (of_.backward) {
      want_x_and_partial_sums();
    } else {
      find_contributions();
    }
    want_rows();
    return std::move(made_);
  }

 private:
  /// Asks another PE to send the value `id` to value `index` of the inbox of this one.
  struct request {
    std::int64_t id;
    std::int64_t index;
  };
  using requests = std::vector<std::vector<request>>;
  /// Tells a PE that it passes value `index` of its inbox to another one.
  struct passing {
    std::int64_t index;
    std::int64_t column;  ///< of C
    std::int64_t depth;   ///< of the PE in the broadcast
    message to;
  };

  [[nodiscard]] requests no_requests() const { return requests(at(team_.size())); }
  [[nodiscard]] int solver(std::int64_t column) const { return owners_.solver[at(of_.supernode_at(column))]; }
  [[nodiscard]] std::int64_t local(std::int64_t column) const { return local_.local[at(column)]; }

  std::int64_t new_value() {
    made_.received.push_back(made_.values);
    return made_.values++;
  }

  /// Takes requests for values of this PE. `index_of`: of a value, by its id, in [0, count). `column_of`: the
  /// column of C of a value that several PEs ask for.
  template <class IndexOf, class ColumnOf>
  void take_requests(const requests& mine, std::int64_t count, const IndexOf& index_of,
                     const ColumnOf& column_of) {
    const auto asked = exchange_all(team_, mine);
    struct wish {
      std::int64_t id;
      std::int64_t value;
      message to;
    };
    std::vector<wish> found;
    for (int i = 1; i < team_.size(); ++i) {
      const int pe = receiver_in_turn(of_.backward, rank_, i, team_.size());
      for (const request& r : asked[at(pe)]) {
        found.push_back({r.id, index_of(r.id), {r.index, pe, 0}});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const wish& a, const wish& b) { return a.value < b.value; });
    std::vector<std::vector<passing>> passed(at(team_.size()));
    if (!found.empty()) {
      made_.sent.assign(at(count), message_range{-1, 0});
    }
    for (std::size_t begin = 0, end = 0; begin < found.size(); begin = end) {
      while (end < found.size() && found[end].value == found[begin].value) {
        ++end;
      }
      const auto tree = tree_of(static_cast<std::int64_t>(end - begin) + 1);
      const auto [first, last] = tree.children(0);
      made_.sent[at(found[begin].value)] = {static_cast<std::int64_t>(made_.messages.size()), last - first};
      for (std::int64_t i = 0; i < tree.count; ++i) {
        const auto children = tree.children(i);
        for (std::int64_t child = children.first; child < children.second; ++child) {
          const message& to = found[begin + at(child) - 1].to;
          if (i == 0) {
            made_.messages.push_back(to);
          } else {
            const wish& parent = found[begin + at(i) - 1];
            passed[at(parent.to.pe)].push_back({parent.to.index, column_of(parent.id), tree.depth(i), to});
          }
        }
      }
    }
    take_passed(passed);
  }
  [[nodiscard]] message_tree tree_of(std::int64_t count) const {
    return message_tree::of(of_.tree.is_nested ? tree_ : pe_tree::flat, count);
  }

  /// Takes what this PE passes on.
  void take_passed(const std::vector<std::vector<passing>>& mine) {
    std::vector<std::pair<std::int32_t, passing>> found;
    for (const auto& of_pe : exchange_all(team_, mine)) {
      for (const passing& p : of_pe) {
        const std::int32_t level = of_.level[at(of_.supernode_at(p.column))];
        found.emplace_back(order_.of_passing(level, static_cast<std::int32_t>(p.depth)), p);
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second.index) < std::pair(b.first, b.second.index);
    });
    for (const auto& [step, p] : found) {
      if (made_.passed.empty() || made_.passed.back().index != p.index) {
        made_.passed.push_back({p.index, {static_cast<std::int64_t>(made_.messages.size()), 0}});
        made_.passed_step.push_back(step);
      }
      ++made_.passed.back().to.count;
      made_.messages.push_back(p.to);
    }
  }

  /// Backward: asks for x of the ghosts, and for partial sums of the columns of divided panels.
  void want_x_and_partial_sums() {
    requests wanted = no_requests();
    const auto size = static_cast<std::int64_t>(local_.columns.size());
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // column, index of the value
    for (std::int64_t s = 0; s < local_.tree.count(); ++s) {
      const std::int64_t index = local_.tree.first[at(s)];
      const std::int64_t whole = local_.whole[at(s)];
      if (local_.is_ghost(s)) {
        const std::int64_t column = local_.columns[at(index)];
        if (local_.is_named(s)) {
          wanted[at(solver(column))].push_back({column, index});
          made_.received.push_back(index);
        }
      } else if (owners_.is_divided(whole)) {
        const auto& sharers = owners_.sharers_of(whole);
        const auto children =
            tree_of(static_cast<std::int64_t>(sharers.size())).children(sharer_number(owners_, whole, rank_));
        for (std::int64_t j = 0; j < of_.tree.columns(whole); ++j) {
          for (std::int64_t child = children.first; child < children.second; ++child) {
            found.emplace_back(index + j, new_value());
            wanted[at(sharers[at(child)])].push_back(
                {of_.map.size + of_.first(whole) + j, found.back().second});
          }
        }
      }
    }
    name_sources(found, found.empty() ? 0 : size);
    take_requests(
        wanted, size,
        [&](std::int64_t id) {
          const std::int64_t column = id - of_.map.size;
          return id < of_.map.size ? local(id) : local_.column_here(of_, of_.supernode_at(column), column);
        },
        [](std::int64_t id) { return id; });
  }

  /// Forward: finds the contributions to each sum of this PE, in the order of C, and asks for those of
  /// others. A supernode sends a contribution to its parent, if
  /// this has the row, and otherwise to the supernode that has the row as a column; see forward_agent.
  void find_contributions() {
    requests wanted = no_requests();
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // sum, index of the value
    const auto size = static_cast<std::int64_t>(local_.columns.size());
    const std::int64_t local_rows = local_.tree.rows_begin.back();
    std::vector<std::int64_t> next(at(local_.tree.count()),
                                   0);  // by supernode here: its next row in the list
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      const std::int64_t rows = of_.tree.rows(s);
      const std::int64_t parent = rows > 0 ? of_.parent(s) : -1;
      if (rows == 0 || (of_.tree.is_nested && local_.here[at(parent)] < 0)) {
        continue;
      }
      std::int64_t near = 0;  // where the row before stood in the list of the parent
      for (std::int64_t t = 0; t < rows; ++t) {
        const std::int64_t row = of_.row(s, t);
        const std::int64_t above = of_.supernode_at(row);
        const int sender = owners_.of_rows(s, above);
        const std::int64_t own = sender == rank_ ? next[at(local_.here[at(s)])]++ : -1;
        const bool in_list =
            row >= of_.first(parent + 1) && (of_.tree.is_nested || of_.find_row(parent, row) >= 0);
        if ((in_list ? owners_.of_rows(parent, above) : owners_.solver[at(above)]) != rank_) {
          continue;
        }
        std::int64_t sum = local(row);
        if (in_list) {
          const std::int64_t here = local_.here[at(parent)];
          near = local_.find_row_near(here, local(row), near);
          sum = size + local_.tree.rows_begin[at(here)] + near;
        }
        if (own >= 0) {
          found.emplace_back(sum, local_.tree.rows_begin[at(local_.here[at(s)])] + own);
        } else {
          const std::int64_t index = new_value();
          found.emplace_back(sum, index);
          wanted[at(sender)].push_back({of_.rows_begin(s) + t, index});
        }
      }
    }
    name_sources(found, size + local_rows);
    ask_for_contributions(wanted);
  }

  /// Forward: asks for the contributions in `wanted`, and for the sums of the columns of shares.
  void ask_for_contributions(requests& wanted) {
    const auto size = static_cast<std::int64_t>(local_.columns.size());
    const std::int64_t local_rows = local_.tree.rows_begin.back();
    const std::int64_t all_rows = of_.tree.rows_begin.back();
    for (std::int64_t s = 0; s < local_.tree.count(); ++s) {
      for (std::int64_t j = 0; local_.is_share[at(s)] != 0 && j < local_.tree.columns(s); ++j) {
        const std::int64_t index = local_rows + local_.tree.first[at(s)] + j;
        made_.received.push_back(index);
        wanted[at(owners_.solver[at(local_.whole[at(s)])])].push_back(
            {all_rows + of_.first(local_.whole[at(s)]) + j, index});
      }
    }
    made_.sums = owners_.number.empty() ? -1 : local_rows;
    take_requests(
        wanted, owners_.number.empty() ? local_rows : local_rows + size,
        [&](std::int64_t id) {
          if (id >= all_rows) {
            return local_rows + local(id - all_rows);
          }
          const auto after = std::upper_bound(of_.tree.rows_begin.begin(), of_.tree.rows_begin.end(), id);
          const std::int64_t s = after - of_.tree.rows_begin.begin() - 1;
          const std::int64_t row = local(of_.row(s, id - of_.rows_begin(s)));
          const std::int64_t here = local_.here[at(s)];
          return local_.tree.rows_begin[at(here)] + local_.find_row_near(here, row, 0);
        },
        [&](std::int64_t id) { return id - all_rows; });
  }

  /// Names the contributions of each sum; see named_sources. `found`: pairs of a sum and a value.
  void name_sources(const std::vector<std::pair<std::int64_t, std::int64_t>>& found, std::int64_t sums) {
    check_together(team_, [&] {
      SPTRSV_EXPECTS(std::max(made_.values, sums) <= max_count<Offset>, errc::unsupported,
                     "the supernodes of a PE have " + std::to_string(sums) +
                         " rows and columns, too many for the offset type of the matrix");
    });
    std::vector<std::int64_t> begin(at(sums) + 1, 0);
    for (const auto& [sum, value] : found) {
      ++begin[at(sum) + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) {
      begin[i] += begin[i - 1];
    }
    made_.sources.resize(found.size());
    auto next = begin;
    for (const auto& [sum, value] : found) {
      made_.sources[at(next[at(sum)]++)] = static_cast<Offset>(value);
    }
    for (std::int64_t sum = 0; sum < sums; ++sum) {
      const std::int64_t first = begin[at(sum)];
      const std::int64_t count = begin[at(sum) + 1] - first;
      supernodal::named_sources<Offset> named{-1, -1};
      if (count > 2) {
        named = {static_cast<Offset>(-2 - first), static_cast<Offset>(count)};
      } else {
        named.first = count > 0 ? made_.sources[at(first)] : Offset{-1};
        named.second = count > 1 ? made_.sources[at(first) + 1] : Offset{-1};
      }
      made_.named.push_back(named);
    }
  }

  /// Asks for b of columns whose rows others have handed in, and for x of the own rows that others solve for.
  void want_rows() {
    requests b_wanted = no_requests();
    requests x_wanted = no_requests();
    std::vector<std::int64_t> guest_of(local_.columns.size(), -1);
    for (std::size_t j = 0; j < local_.columns.size(); ++j) {
      const std::int64_t column = local_.columns[j];
      const int home = of_.map.home(column);
      const std::int64_t row = of_.map.row_of(column);
      made_.row_at.push_back(row - of_.map.first_row[at(rank_)]);
      if (local_.is_share[at(local_.supernode_of[j])] != 0) {  // what comes is the sum; x is not known here
        const auto index = static_cast<std::int64_t>(j);
        made_.row_at.back() = -1 - static_cast<std::int64_t>(made_.guests.size());
        made_.guests.push_back({local_.tree.rows_begin.back() + index, {-1, rank_, 0}});
      } else if (home != rank_ && solver(column) == rank_ && local(column) == static_cast<std::int64_t>(j)) {
        guest_of[j] = static_cast<std::int64_t>(made_.guests.size());
        made_.row_at.back() = -1 - guest_of[j];
        made_.guests.push_back({new_value(), {}});
        b_wanted[at(home)].push_back({row, made_.guests.back().b});
      }
    }
    const auto [begin, end] = of_.map.columns_of(rank_);
    for (std::int64_t column = begin; column < end; ++column) {
      if (solver(column) != rank_) {
        const std::int64_t index = new_value();
        made_.received_rows.push_back({of_.map.row_of(column) - of_.map.first_row[at(rank_)], index});
        x_wanted[at(solver(column))].push_back({column, index});
      }
    }
    const auto b_asked = exchange_all(team_, b_wanted);
    const auto x_asked = exchange_all(team_, x_wanted);
    for (std::int32_t pe = 0; pe < team_.size(); ++pe) {
      for (const request& r : b_asked[at(pe)]) {
        made_.sent_rows.push_back({r.id - of_.map.first_row[at(rank_)], {r.index, pe, 0}});
      }
      for (const request& r : x_asked[at(pe)]) {
        made_.guests[at(guest_of[at(local(r.id))])].x = {r.index, pe, 0};
      }
    }
    if (team_.size() == 1) {
      made_.row_at.clear();
    }
  }

  Team& team_;
  const structure<Index>& of_;
  const panel_owners& owners_;
  const task_order& order_;
  pe_tree tree_;
  const local_structure<Index>& local_;
  int rank_;
  message_plan<Offset> made_;
};

}  // namespace sptrsv::detail::distributed
