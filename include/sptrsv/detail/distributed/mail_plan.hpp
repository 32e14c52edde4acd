// SPDX-License-Identifier: Apache-2.0
// Which blocks of a PE send which values, and the plan of the messages of several values that it puts into
// the mailboxes of others; see puts.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/messages.hpp"
#include "sptrsv/detail/distributed/puts.hpp"
#include "sptrsv/detail/distributed/supernodes/predictor.hpp"
#include "sptrsv/policy/distributed.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The values that a PE sends in a solve, in the order of tickets: those that send b, forests and tasks.
struct sent_values {
  struct value {
    std::int64_t ticket;
    int warp;  ///< that computes it; 0 if the block computes its values together
    message* to;
  };
  std::vector<value> values;
  std::vector<char> is_of_block;  ///< by ticket: whether the block computes its values together

  /// Returns for each ticket whether its block sends values to other PEs; empty if none does.
  [[nodiscard]] std::vector<char> senders() const {
    std::vector<char> sends(values.empty() ? 0 : is_of_block.size(), 0);
    for (const value& v : values) {
      sends[at(v.ticket)] = 1;
    }
    return sends;
  }
};

/// Goes through the tickets of a solve and finds what they send.
template <class Offset>
class ticket_walk {
 public:
  ticket_walk(const supernodal::host_plan& tasks, message_plan<Offset>& messages, bool backward)
      : tasks_(tasks), messages_(messages), backward_(backward) {}

  /// `exchange_blocks`: the first tickets, which send b, `values_per_block` values each.
  sent_values find(std::int64_t exchange_blocks, std::int64_t values_per_block) {
    const auto rows = count_of(messages_.sent_rows);
    for (std::int64_t begin = 0; begin < exchange_blocks * values_per_block; begin += values_per_block) {
      for (std::int64_t i = begin; i < std::min(rows, begin + values_per_block); ++i) {
        add(0, messages_.sent_rows[at(i)].to);
      }
      end_ticket(true);
    }
    if (!backward_) {
      add_forests();
    }
    for (const supernodal::task& t : tasks_.tasks.tasks) {
      add_task(t);
    }
    if (backward_) {
      add_forests();
    }
    return std::move(found_);
  }

 private:
  void add(int warp, message& to) { found_.values.push_back({count_of(found_.is_of_block), warp, &to}); }
  void end_ticket(bool is_of_block) { found_.is_of_block.push_back(is_of_block ? 1 : 0); }

  void add_columns(int warp, std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end && !messages_.row_at.empty(); ++j) {
      const std::int64_t guest = -1 - messages_.row_at[at(j)];
      if (guest >= 0 && messages_.messages[at(guest)].index >= 0) {
        add(warp, messages_.messages[at(guest)]);
      }
      if (backward_) {
        add_sent(warp, j, j + 1);
      }
    }
  }
  /// Adds the values of the inbox [begin, end).
  void add_sent(int warp, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && !messages_.sent.empty(); ++i) {
      add_all(warp, messages_.sent[at(i)]);
    }
  }
  void add_all(int warp, const message_range& range) {
    for (std::int64_t m = 0; range.first >= 0 && m < range.count; ++m) {
      add(warp, messages_.messages[at(range.first + m)]);
    }
  }
  /// Adds what a task with the rows [begin, end) of the panel sends, which it computes completely.
  void add_rows(int warp, const supernodal::supernode& node, std::int64_t begin, std::int64_t end) {
    const std::int64_t k = node.columns;
    if (begin == 0 && messages_.sums >= 0) {
      add_sent(warp, messages_.sums + node.first, messages_.sums + node.first + k);
    }
    add_columns(warp, node.first + std::min(begin, k), node.first + std::min(end, k));
    if (!backward_) {
      add_sent(warp, node.rows_begin + std::max(begin, k) - k, node.rows_begin + std::max(end, k) - k);
    }
  }

  void add_task(const supernodal::task& t) {
    using supernodal::task_kind;
    const supernodal::supernode& node = t.node;
    switch (t.kind) {
      case task_kind::warps:
        for (std::int64_t i = t.begin; i < t.end; ++i) {
          const supernodal::supernode& small = tasks_.tasks.small[at(i)];
          add_rows(static_cast<int>(i - t.begin), small, 0, small.height());
        }
        break;
      case task_kind::whole:
      case task_kind::tile:
        if (!backward_) {
          add_rows(0, node, t.begin, t.end);
        } else if (t.kind == task_kind::whole) {  // a tile has partial sums only
          add_columns(0, node.first, node.first + node.columns);
        }
        break;
      case task_kind::last_strip:
        add_columns(0, node.first + t.column,
                    node.first + std::min<std::int64_t>(node.columns, t.column + supernodal::strip_columns));
        break;
      case task_kind::pass:
        for (std::int64_t i = t.begin; i < t.end; ++i) {
          add_all(0, messages_.passed[at(i)].to);
        }
        break;
      case task_kind::sums:
      case task_kind::strip:
        break;
    }
    end_ticket(t.kind != task_kind::warps);
  }

  void add_forests() {
    for (const supernodal::forest& f : tasks_.forests.forests) {
      add_columns(0, f.first, f.first + f.columns);
      if (!backward_) {
        add_sent(0, f.rows_begin, f.rows_begin + f.rows);
      }
      end_ticket(true);
    }
  }

  const supernodal::host_plan& tasks_;
  message_plan<Offset>& messages_;
  bool backward_;
  sent_values found_;
};

/// Returns which PEs send by puts. `of_pe`: addresses of symmetric memory, null where it is not mapped.
/// Collective.
template <class Team, class T>
put_pairs find_puts(Team& team, const std::vector<T*>& of_pe, pe_transport how) {
  const bool puts_all = how == pe_transport::puts || how == pe_transport::waiting_blocks;
  put_targets mine;
  for (int pe = 0; pe < team.size(); ++pe) {
    mine.push_back(pe != team.rank() && (puts_all || of_pe[at(pe)] == nullptr) ? 1 : 0);
  }
  check_together(team, [&] {
    SPTRSV_EXPECTS(
        how != pe_transport::direct || std::find(of_pe.begin(), of_pe.end(), nullptr) == of_pe.end(),
        errc::unsupported, "direct stores need PEs whose memory is mapped");
  });
  return {gather(team, mine)};
}

/// The messages that a PE puts and receives in one solve. Positions count values of one right-hand side.
struct mail_plan {
  std::int64_t sent = 0;          ///< values in the outbox
  std::int64_t received = 0;      ///< values in the mailbox
  std::int64_t signals = 0;       ///< messages that it receives
  std::vector<put_range> ranges;  ///< by ticket
  std::vector<put_record> records;
  std::vector<mail_place> places;           ///< by value of the inbox
  std::vector<delivery> deliveries;         ///< of waiting blocks, by signal
  std::vector<std::int64_t> inbox_indices;  ///< where the delivered values go in the inbox
};

/// Groups the values that a PE sends: those of a task, or of a warp of a task of small supernodes, to one PE
/// are a message. The sender numbers them, and the receiver says where they begin in its mailbox.
template <class Offset, class Team>
class mail_planner {
 public:
  /// `is_put`: by PE, whether this one sends values to it by puts. `messages`: its values that are sent by
  /// puts become values of the outbox, and what is received so is no value that is its own flag any more.
  mail_planner(Team& team, const put_targets& is_put, message_plan<Offset>& messages)
      : team_(team), is_put_(is_put), messages_(messages) {}

  /// `sent`: of `messages`. `warps`: of a block. `waits`: whether blocks wait for messages; see mailbox.
  mail_plan make(const sent_values& sent, int warps, bool waits) {
    tell_receivers(group_values(sent, warps));
    if (waits) {
      make_deliveries();
    }
    auto& received = messages_.received;
    received.erase(std::remove_if(received.begin(), received.end(),
                                  [&](std::int64_t index) { return made_.places[at(index)].mail >= 0; }),
                   received.end());
    return std::move(made_);
  }

 private:
  /// By PE, by value that is put: what the receiver is told, the index in its inbox and the number of the
  /// message among those of this PE.
  using put_values = std::vector<std::vector<mail_place>>;

  static constexpr std::int32_t most_values = 128;  ///< of a message of a block: four for each lane of a warp

  /// Makes the messages. The warps of a block that computes together send them in turn, and so share the
  /// values for one PE.
  put_values group_values(const sent_values& sent, int warps) {
    std::vector<sent_values::value> values;
    std::copy_if(sent.values.begin(), sent.values.end(), std::back_inserter(values),
                 [&](const auto& v) { return is_put_[at(v.to->pe)] != 0; });
    const auto group = [](const auto& v) { return std::tuple(v.ticket, v.warp, v.to->pe); };
    std::stable_sort(values.begin(), values.end(),
                     [&](const auto& a, const auto& b) { return group(a) < group(b); });
    put_values made(is_put_.size());
    std::vector<std::int64_t> signals(is_put_.size(), 0);  // by PE: messages to it
    std::size_t i = 0;
    for (std::size_t ticket = 0; ticket < sent.is_of_block.size(); ++ticket) {
      const bool is_of_block = sent.is_of_block[ticket] != 0;
      const std::size_t first = made_.records.size();
      for (; i < values.size() && at(values[i].ticket) == ticket; ++i) {
        message& to = *values[i].to;
        const auto pe = at(to.pe);
        if (made_.records.size() == first || group(values[i]) != group(values[i - 1]) ||
            (is_of_block && made_.records.back().count == most_values)) {
          const auto number = static_cast<std::int32_t>(made_.records.size() - first);
          made_.records.push_back({made_.sent, count_of(made[pe]), signals[pe]++, 0, to.pe,
                                   is_of_block ? number % warps : values[i].warp, 0});
        }
        ++made_.records.back().count;
        made[pe].push_back({to.index, made_.records.back().signal});
        to = {made_.sent++, to.pe, 1};
      }
      made_.ranges.push_back({static_cast<std::int64_t>(first),
                              static_cast<std::int32_t>(made_.records.size() - first), is_of_block ? 1 : 0});
    }
    return made;
  }

  void tell_receivers(const put_values& put) {
    made_.places.assign(at(messages_.values), {-1, -1});
    std::vector<std::vector<mail_place>> begins;  // by sender: where its values and its messages begin
    for (const auto& of_pe : exchange_all(team_, put)) {
      begins.push_back({{made_.received, made_.signals}});
      std::int64_t last = -1;
      for (const mail_place& a : of_pe) {
        made_.places[at(a.mail)] = {made_.received++, begins.back()[0].signal + a.signal};
        last = std::max(last, a.signal);
      }
      made_.signals += last + 1;
    }
    const auto begin_of = exchange_all(team_, begins);
    for (put_record& r : made_.records) {
      r.to += begin_of[at(r.pe)][0].mail;
      r.signal += begin_of[at(r.pe)][0].signal;
    }
  }

  /// Lets waiting blocks receive: all values of the inbox are their own flags then.
  void make_deliveries() {
    made_.inbox_indices.resize(at(made_.received));
    made_.deliveries.assign(at(made_.signals), {made_.received, 0});
    for (std::size_t index = 0; index < made_.places.size(); ++index) {
      mail_place& place = made_.places[index];
      if (place.mail >= 0) {
        delivery& d = made_.deliveries[at(place.signal)];
        d.first = std::min(d.first, place.mail);
        ++d.count;
        made_.inbox_indices[at(place.mail)] = static_cast<std::int64_t>(index);
        place = {-1, -1};
      }
    }
  }

  Team& team_;
  const put_targets& is_put_;
  message_plan<Offset>& messages_;
  mail_plan made_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
