// SPDX-License-Identifier: Apache-2.0
// The plan of the messages that a PE sends to other PEs and receives from them in a solve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/detail/distributed/local_plan.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Plans the messages of a PE together with the other PEs. The receiver says where it wants a value: so a PE
/// need not know how others number their values.
template <class Index, class Offset, class Team>
class message_planner {
 public:
  /// `partials`: partial sums of tasks, backward, which blocks of this PE hand to each other.
  message_planner(Team& team, const structure<Index>& of, const ownership& owners,
                  const local_structure<Index>& local, std::int64_t partials)
      : team_(team),
        of_(of),
        owners_(owners.panels),
        tree_(owners.tree),
        order_(owners.order(of)),
        local_(local) {
    made_.values = local.tree.first.back() + (of.backward ? partials : local.tree.rows_begin.back());
  }

  message_plan<Offset> make() {
    if (of_.backward) {
      want_x_and_partial_sums();
    } else {
      want_contributions();
    }
    want_rows();
    take_requests();
    if (team_.size() == 1) {
      made_.row_at.clear();
    }
    return std::move(made_);
  }

 private:
  /// Asks another PE to send a value to value `index` of the inbox of this one.
  struct request {
    Index column;     ///< of C
    Index supernode;  ///< of C, for its contribution or partial sum; below 0: one of those that follow
    std::int64_t index;
  };
  static constexpr Index x_or_sum = -1;  ///< of the column, which is a ghost or one of a share here
  static constexpr Index b_of_row = -2;  ///< of the row for the column, which is solved for here
  static constexpr Index x_of_row = -3;  ///< of the row for the column, which was handed in here
  /// Tells a PE that it passes value `index` of its inbox, of a column of C, to another one.
  struct passing {
    std::int64_t index;
    message to;
    Index column;
    std::int32_t depth;  ///< of the PE in the broadcast
  };

  [[nodiscard]] int solver(std::int64_t column) const { return owners_.solver[at(of_.supernode_at(column))]; }
  [[nodiscard]] std::int64_t local(std::int64_t column) const { return local_.local[at(column)]; }
  /// Returns the row of a column of C among those that were handed in here.
  [[nodiscard]] std::int64_t row_here(std::int64_t column) const {
    return of_.map.row_of(column) - of_.map.first_row[at(rank_)];
  }

  /// Adds a request to a PE. Returns `index`.
  std::int64_t want(int pe, std::int64_t column, std::int64_t supernode, std::int64_t index) {
    made_.received.push_back(index);
    wanted_[at(pe)].push_back({static_cast<Index>(column), static_cast<Index>(supernode), index});
    return index;
  }

  /// Backward: asks for x of the ghosts, and for partial sums of the columns of divided panels.
  void want_x_and_partial_sums() {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // column, index of the value
    for (std::int64_t s = 0; s < local_.tree.count(); ++s) {
      const std::int64_t index = local_.tree.first[at(s)];
      const std::int64_t whole = local_.whole[at(s)];
      if (local_.is_ghost(s)) {
        if (const std::int64_t column = local_.columns[at(index)]; local_.is_named(s)) {
          want(solver(column), column, x_or_sum, index);
        }
      } else if (owners_.is_divided(whole)) {
        const auto& sharers = owners_.sharers_of(whole);
        const auto children =
            message_tree::of(tree_, count_of(sharers)).children(sharer_number(owners_, whole, rank_));
        for (std::int64_t j = 0; j < of_.tree.columns(whole); ++j) {
          for (std::int64_t child = children.first; child < children.second; ++child) {
            found.emplace_back(index + j,
                               want(sharers[at(child)], of_.first(whole) + j, whole, made_.values++));
          }
        }
      }
    }
    name_sources(found, found.empty() ? 0 : std::int64_t{local_.tree.first.back()});
  }

  /// Forward: finds the contributions to each sum of this PE, in the order of C, and asks for those of
  /// others, and for the sums of the columns of shares. A supernode sends a contribution to its parent, if
  /// this has the row, and otherwise to the supernode that has the row as a column; see forward_agent.
  void want_contributions() {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // sum, index of the value
    const std::int64_t size = local_.tree.first.back();
    const std::int64_t local_rows = local_.tree.rows_begin.back();
    std::vector<std::int64_t> next(at(local_.tree.count()),
                                   0);  // by supernode here: its next row in the list
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      const std::int64_t rows = of_.tree.rows(s);
      const std::int64_t parent = of_.parent(s);
      if (rows == 0 || (of_.tree.is_nested && local_.here[at(parent)] < 0)) {
        continue;
      }
      std::int64_t near = 0;  // where the row before stood in the list of the parent
      for (std::int64_t t = 0; t < rows; ++t) {
        const std::int64_t row = of_.row(s, t);
        const std::int64_t above = of_.supernode_at(row);
        const int sender = owners_.of_rows(s, above);
        const std::int64_t own = sender == rank_ ? next[at(local_.here[at(s)])]++ : -1;
        const bool in_list = of_.has_row(parent, row);
        if ((in_list ? owners_.of_rows(parent, above) : owners_.solver[at(above)]) != rank_) {
          continue;
        }
        std::int64_t sum = local(row);
        if (in_list) {
          const std::int64_t here = local_.here[at(parent)];
          near = local_.find_row_near(here, local(row), near);
          sum = size + local_.tree.rows_begin[at(here)] + near;
        }
        found.emplace_back(sum, own >= 0 ? local_.tree.rows_begin[at(local_.here[at(s)])] + own
                                         : want(sender, row, s, made_.values++));
      }
    }
    for (std::int64_t j = 0; j < size; ++j) {
      if (local_.is_share[at(local_.supernode_of[at(j)])] != 0) {
        want(solver(local_.columns[at(j)]), local_.columns[at(j)], x_or_sum, local_rows + j);
      }
    }
    made_.sums = owners_.number.empty() ? -1 : local_rows;
    name_sources(found, size + local_rows);
  }

  /// Names the contributions of each sum; see named_sources. `found`: pairs of a sum and a value.
  void name_sources(const std::vector<std::pair<std::int64_t, std::int64_t>>& found, std::int64_t sums) {
    check_together(team_, [&] {
      SPTRSV_EXPECTS(std::max(made_.values, sums) <= max_count<Offset>, errc::unsupported,
                     "the supernodes of a PE have ", sums,
                     " rows and columns, too many for the offset type of the matrix");
    });
    auto lists = lists_of<Offset, Offset>(sums, [&](const auto& add) {
      for (const auto& [sum, value] : found) {
        add(static_cast<Offset>(sum), static_cast<Offset>(value));
      }
    });
    for (std::int64_t sum = 0; sum < sums; ++sum) {
      const Offset* const first = lists.begin(sum);
      const auto count = static_cast<Offset>(lists.end(sum) - first);
      if (count > 2) {
        made_.named.push_back({static_cast<Offset>(-2 - lists.offsets[at(sum)]), count});
      } else {
        made_.named.push_back({count > 0 ? first[0] : Offset{-1}, count > 1 ? first[1] : Offset{-1}});
      }
    }
    made_.sources = std::move(lists.vertices);
  }

  /// Asks for b of columns whose rows others have handed in, and for x of the own rows that others solve for.
  void want_rows() {
    for (std::int64_t j = 0; j < local_.tree.first.back(); ++j) {
      const std::int64_t column = local_.columns[at(j)];
      const int home = of_.map.home(column);
      const bool is_share = local_.is_share[at(local_.supernode_of[at(j)])] != 0;
      made_.row_at.push_back(row_here(column));
      if (is_share || (home != rank_ && solver(column) == rank_ && local(column) == j)) {
        made_.row_at.back() = -1 - count_of(made_.guests);
        // To a column of a share comes the sum; x is not known here.
        made_.guests.push_back(is_share ? local_.tree.rows_begin.back() + j
                                        : want(home, column, b_of_row, made_.values++));
      }
    }
    const auto [begin, end] = of_.map.columns_of(rank_);
    for (std::int64_t column = begin; column < end; ++column) {
      if (solver(column) != rank_) {
        made_.received_rows.push_back(
            {row_here(column), want(solver(column), column, x_of_row, made_.values++)});
      }
    }
  }

  /// A request of a PE for a value that blocks compute.
  struct wish {
    std::int64_t value;  ///< its index in the list of what is sent
    Index column;
    message to;
  };

  /// Takes what other PEs ask of this one.
  void take_requests() {
    const auto asked = exchange_all(team_, std::move(wanted_));
    std::vector<wish> wishes;
    made_.messages.assign(made_.guests.size(), {-1, rank_, 0});
    for (int i = 1; i < team_.size(); ++i) {
      const int pe = receiver_in_turn(of_.backward, rank_, i, team_.size());
      for (const request& r : asked[at(pe)]) {
        const message to{r.index, pe, 0};
        if (r.supernode == b_of_row) {
          made_.sent_rows.push_back({row_here(r.column), to});
        } else if (r.supernode == x_of_row) {
          made_.messages[at(-1 - made_.row_at[at(local(r.column))])] = to;
        } else {
          wishes.push_back({place_of(r), r.column, to});
        }
      }
    }
    std::stable_sort(wishes.begin(), wishes.end(),
                     [](const wish& a, const wish& b) { return a.value < b.value; });
    take_wishes(wishes);
  }
  /// Returns where a value stands in the list of what is sent.
  [[nodiscard]] std::int64_t place_of(const request& r) const {
    if (r.supernode < 0) {
      return local(r.column) + (of_.backward ? 0 : made_.sums);
    }
    if (of_.backward) {
      return local_.column_here(of_, r.supernode, r.column);
    }
    const std::int64_t here = local_.here[at(r.supernode)];
    return local_.tree.rows_begin[at(here)] + local_.find_row_near(here, local(r.column), 0);
  }

  /// Sends values to the PEs that wish them, or to those that pass them on. `wishes`: by value.
  void take_wishes(const std::vector<wish>& wishes) {
    std::vector<std::vector<passing>> passed(at(team_.size()));
    if (!wishes.empty()) {
      const std::int64_t columns = of_.backward || made_.sums >= 0 ? local_.tree.first.back() : 0;
      made_.sent.assign(at((of_.backward ? 0 : local_.tree.rows_begin.back()) + columns), {-1, 0});
    }
    for (std::size_t begin = 0, end = 0; begin < wishes.size(); begin = end) {
      while (end < wishes.size() && wishes[end].value == wishes[begin].value) {
        ++end;
      }
      const auto tree = message_tree::of(tree_, static_cast<std::int64_t>(end - begin) + 1);
      const auto first = count_of(made_.messages);
      for (std::int64_t child = 1; child < tree.count; ++child) {
        const message& to = wishes[begin + at(child) - 1].to;
        if (const std::int64_t i = tree.parent(child); i > 0) {
          const wish& parent = wishes[begin + at(i) - 1];
          passed[at(parent.to.pe)].push_back({parent.to.index, to, parent.column, tree.depth(i)});
        } else {
          made_.messages.push_back(to);
        }
      }
      made_.sent[at(wishes[begin].value)] = {first, count_of(made_.messages) - first};
    }
    take_passed(exchange_all(team_, std::move(passed)));
  }

  /// Takes what this PE passes on. `asked`: by PE.
  void take_passed(const std::vector<std::vector<passing>>& asked) {
    std::vector<std::pair<std::int32_t, passing>> found;  // with the step
    for (const auto& of_pe : asked) {
      for (const passing& p : of_pe) {
        found.emplace_back(order_.of_passing(of_.level[at(of_.supernode_at(p.column))], p.depth), p);
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second.index) < std::pair(b.first, b.second.index);
    });
    for (const auto& [step, p] : found) {
      if (made_.passed.empty() || made_.passed.back().index != p.index) {
        made_.passed.push_back({p.index, {count_of(made_.messages), 0}});
        made_.passed_step.push_back(step);
      }
      ++made_.passed.back().to.count;
      made_.messages.push_back(p.to);
    }
  }

  Team& team_;
  const structure<Index>& of_;
  const panel_owners& owners_;
  pe_tree tree_;
  task_order order_;
  const local_structure<Index>& local_;
  int rank_ = team_.rank();
  std::vector<std::vector<request>> wanted_{at(team_.size())};  ///< by PE
  message_plan<Offset> made_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
