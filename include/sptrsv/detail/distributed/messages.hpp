// The plan of the messages that a PE sends to other PEs and receives from them in a solve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/distributed/local_plan.hpp"

namespace sptrsv::detail::distributed {

/// The messages that a PE sends and receives in one solve.
template <class Offset>
struct message_plan {
  std::int64_t values =
      0;  ///< of one right-hand side in a buffer: those of blocks of this PE, then received ones
  std::vector<std::int64_t> received;                    ///< indices of what others send
  std::vector<std::int64_t> row_at;                      ///< see pe_params
  std::vector<guest> guests;                             ///< likewise
  std::vector<message_range> sent;                       ///< likewise; empty if nothing is sent
  std::vector<message> messages;                         ///< likewise
  std::vector<sent_row> sent_rows;                       ///< likewise
  std::vector<received_row> received_rows;               ///< likewise
  std::vector<supernodal::named_sources<Offset>> named;  ///< see solve_params; forward
  std::vector<Offset> sources;                           ///< likewise
};

/// Plans the messages of a PE together with the other PEs. The receiver says where it wants a value: so a PE
/// need not know how others number their values.
template <class Index, class Offset, class Team>
class message_planner {
 public:
  /// `values`: how many values blocks of this PE hand to each other.
  message_planner(Team& team, const structure<Index>& of, const std::vector<int>& owner,
                  const local_structure<Index>& local, std::int64_t values)
      : team_(team), of_(of), owner_(owner), local_(local), rank_(team.rank()) {
    made_.values = values;
  }

  message_plan<Offset> make() {
    if (of_.backward) {
      want_ghosts();
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

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] requests no_requests() const { return requests(at(team_.size())); }
  [[nodiscard]] bool is_own(std::int64_t s) const { return owner_[at(s)] == rank_; }
  [[nodiscard]] int solver(std::int64_t column) const { return owner_[at(of_.supernode_at(column))]; }
  [[nodiscard]] std::int64_t local(std::int64_t column) const { return local_.local[at(column)]; }

  std::int64_t new_value() {
    made_.received.push_back(made_.values);
    return made_.values++;
  }

  /// Takes requests for values of this PE. `index_of`: of a value, by its id, in [0, count).
  template <class IndexOf>
  void take_requests(const requests& mine, std::int64_t count, const IndexOf& index_of) {
    const auto asked = exchange_all(team_, mine);
    std::vector<std::pair<std::int64_t, message>> found;
    for (std::size_t pe = 0; pe < asked.size(); ++pe) {
      for (const request& r : asked[pe]) {
        found.push_back({index_of(r.id), {r.index, static_cast<std::int32_t>(pe), 0}});
      }
    }
    if (found.empty()) {
      return;
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    made_.sent.assign(at(count), message_range{-1, 0});
    for (const auto& [index, to] : found) {
      message_range& range = made_.sent[at(index)];
      range.first = range.first < 0 ? static_cast<std::int64_t>(made_.messages.size()) : range.first;
      ++range.count;
      made_.messages.push_back(to);
    }
  }

  /// Backward: asks for x of the ghosts.
  void want_ghosts() {
    requests wanted = no_requests();
    for (std::int64_t s = 0; s < local_.tree.count(); ++s) {
      if (local_.is_ghost(s)) {
        const std::int64_t index = local_.tree.first[at(s)];
        const std::int64_t column = local_.columns[at(index)];
        wanted[at(solver(column))].push_back({column, index});
        made_.received.push_back(index);
      }
    }
    take_requests(wanted, static_cast<std::int64_t>(local_.columns.size()),
                  [&](std::int64_t column) { return local(column); });
  }

  /// Forward: finds the contributions to each sum of this PE, in the order of C, and asks for those of
  /// others. A supernode sends a contribution to its parent, if this has the row, and otherwise to the
  /// supernode that has the row as a column; see forward_agent.
  void find_contributions() {
    requests wanted = no_requests();
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // sum, index of the value
    const auto size = static_cast<std::int64_t>(local_.columns.size());
    std::vector<Index> here(at(of_.tree.count()), -1);  // by supernode: its number here
    for (std::int64_t s = 0; s < local_.tree.count(); ++s) {
      if (!local_.is_ghost(s)) {
        here[at(local_.whole[at(s)])] = static_cast<Index>(s);
      }
    }
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      const std::int64_t rows = of_.tree.rows(s);
      const std::int64_t parent = rows > 0 ? of_.parent(s) : -1;
      if (rows == 0 || (of_.tree.is_nested && !is_own(parent))) {
        continue;
      }
      for (std::int64_t t = 0; t < rows; ++t) {
        const std::int64_t row = of_.row(s, t);
        const std::int64_t in_list = row < of_.first(parent + 1) ? -1 : of_.find_row(parent, row);
        if (!is_own(in_list >= 0 ? parent : of_.supernode_at(row))) {
          continue;
        }
        const std::int64_t sum =
            in_list >= 0 ? size + local_.tree.rows_begin[at(here[at(parent)])] + in_list : local(row);
        if (is_own(s)) {
          found.emplace_back(sum, local_.tree.rows_begin[at(here[at(s)])] + t);
        } else {
          const std::int64_t index = new_value();
          found.emplace_back(sum, index);
          wanted[at(owner_[at(s)])].push_back({of_.rows_begin(s) + t, index});
        }
      }
    }
    name_sources(found, size + local_.tree.rows_begin.back());
    take_requests(wanted, local_.tree.rows_begin.back(), [&](std::int64_t id) {
      const auto after = std::upper_bound(of_.tree.rows_begin.begin(), of_.tree.rows_begin.end(), id);
      const std::int64_t s = after - of_.tree.rows_begin.begin() - 1;
      return local_.tree.rows_begin[at(here[at(s)])] + id - of_.rows_begin(s);
    });
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
      if (home != rank_ && solver(column) == rank_) {
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
  const std::vector<int>& owner_;
  const local_structure<Index>& local_;
  int rank_;
  message_plan<Offset> made_;
};

/// Returns for each ticket of a solve whether its block sends values to other PEs; empty if none does.
/// `exchange_blocks`: the first tickets.
template <class Offset>
std::vector<char> find_senders(const supernodal::host_plan& tasks, const message_plan<Offset>& messages,
                               bool backward, std::int64_t exchange_blocks) {
  if (messages.guests.empty() && messages.sent.empty() && messages.sent_rows.empty()) {
    return {};
  }
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<char> sends(at(exchange_blocks), 1);
  const auto node_sends = [&](std::int64_t first, std::int64_t columns, std::int64_t rows_begin,
                              std::int64_t rows) {
    for (std::int64_t j = first; j < first + columns; ++j) {
      if (messages.row_at[at(j)] < 0 ||
          (backward && !messages.sent.empty() && messages.sent[at(j)].first >= 0)) {
        return true;
      }
    }
    for (std::int64_t e = rows_begin; !backward && !messages.sent.empty() && e < rows_begin + rows; ++e) {
      if (messages.sent[at(e)].first >= 0) {
        return true;
      }
    }
    return false;
  };
  const auto add_forests = [&] {
    for (const supernodal::forest& f : tasks.forests.forests) {
      sends.push_back(node_sends(f.first, f.columns, f.rows_begin, f.rows) ? 1 : 0);
    }
  };
  if (!backward) {
    add_forests();
  }
  for (const supernodal::task& t : tasks.tasks.tasks) {
    bool found = false;
    if (t.kind == supernodal::task_kind::warps) {
      for (std::int64_t i = t.begin; i < t.end; ++i) {
        const supernodal::supernode& node = tasks.tasks.small[at(i)];
        found = found || node_sends(node.first, node.columns, node.rows_begin, node.rows);
      }
    } else {
      found = node_sends(t.node.first, t.node.columns, t.node.rows_begin, t.node.rows);
    }
    sends.push_back(found ? 1 : 0);
  }
  if (backward) {
    add_forests();
  }
  return sends;
}

}  // namespace sptrsv::detail::distributed
