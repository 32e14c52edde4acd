// The plan of the messages of several values that a PE puts into the mailboxes of others; see puts.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/messages.hpp"
#include "sptrsv/detail/distributed/puts.hpp"
#include "sptrsv/policy/distributed.hpp"

namespace sptrsv::detail::distributed {

/// By PE: whether this one sends values to it by puts.
using put_targets = std::vector<char>;

/// Returns whether PEs send by puts, by sender and receiver. `of_pe`: addresses of symmetric memory, null
/// where it is not mapped. Collective.
template <class Team, class T>
std::vector<put_targets> find_puts(Team& team, const std::vector<T*>& of_pe, pe_transport how) {
  put_targets mine;
  for (std::size_t pe = 0; pe < of_pe.size(); ++pe) {
    const bool is_own = pe == static_cast<std::size_t>(team.rank());
    mine.push_back(
        !is_own && (how == pe_transport::puts || how == pe_transport::waiting_blocks || of_pe[pe] == nullptr)
            ? 1
            : 0);
  }
  check_together(team, [&] {
    SPTRSV_EXPECTS(
        how != pe_transport::direct || std::find(of_pe.begin(), of_pe.end(), nullptr) == of_pe.end(),
        errc::unsupported, "direct stores need PEs whose memory is mapped");
  });
  return gather(team, mine);
}

/// How the values that a PE sends are dealt to tickets.
struct mail_limits {
  std::int64_t exchange_blocks;   ///< the first tickets, which send b
  std::int64_t values_per_block;  ///< of these tickets
  int warps;                      ///< of a block
  int strip_columns;              ///< of a task of kind `last_strip`
  bool has_waiting_blocks;
};

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
  /// `messages`: its values that are sent by puts become values of the outbox, and what is received so is
  /// no value that is its own flag any more.
  mail_planner(Team& team, const put_targets& is_put, const mail_limits& limits,
               const supernodal::host_plan& tasks, bool backward, message_plan<Offset>& messages)
      : team_(team),
        is_put_(is_put),
        limits_(limits),
        tasks_(tasks),
        backward_(backward),
        messages_(messages) {}

  mail_plan make() {
    wanted_.resize(is_put_.size());
    signals_.resize(is_put_.size(), 0);
    for (std::int64_t block = 0; block < limits_.exchange_blocks; ++block) {
      const auto rows = static_cast<std::int64_t>(messages_.sent_rows.size());
      const std::int64_t end = std::min(rows, (block + 1) * limits_.values_per_block);
      for (std::int64_t i = block * limits_.values_per_block; i < end; ++i) {
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
    tell_receivers();
    return std::move(made_);
  }

 private:
  /// A value that a ticket puts to a PE.
  struct value {
    int pe;
    int warp;
    message* to;
  };
  /// What the sender tells the receiver of a value: its index in the inbox, and the number of the message
  /// among those of the sender.
  struct announcement {
    std::int64_t index;
    std::int64_t signal;
  };
  /// Where the values and the messages of a sender begin.
  struct beginning {
    std::int64_t mail;
    std::int64_t signal;
  };

  static constexpr std::int32_t most_values = 128;  ///< of a message of a block: four for each lane of a warp

  void add(int warp, message& to) {
    if (is_put_[at(to.pe)] != 0) {
      found_.push_back({to.pe, warp, &to});
    }
  }
  void add_columns(int warp, std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end && !messages_.row_at.empty(); ++j) {
      const std::int64_t row = messages_.row_at[at(j)];
      if (row < 0 && messages_.guests[at(-1 - row)].x.index >= 0) {
        add(warp, messages_.guests[at(-1 - row)].x);
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
        if (backward_) {
          add_columns(0, node.first, node.first + node.columns);
        } else {
          add_rows(0, node, t.begin, t.end);
        }
        break;
      case task_kind::tile:
        if (!backward_) {  // backward, a tile has partial sums only
          add_rows(0, node, t.begin, t.end);
        }
        break;
      case task_kind::last_strip:
        add_columns(0, node.first + t.column,
                    node.first + std::min<std::int64_t>(node.columns, t.column + limits_.strip_columns));
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

  /// Makes the messages of a ticket. The warps of a block that computes together send them in turn, and so
  /// share the values for one PE.
  void end_ticket(bool is_of_block) {
    std::stable_sort(found_.begin(), found_.end(), [](const value& a, const value& b) {
      return std::pair(a.warp, a.pe) < std::pair(b.warp, b.pe);
    });
    const auto first = static_cast<std::int64_t>(made_.records.size());
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const value& v = found_[i];
      const auto pe = at(v.pe);
      if (i == 0 || v.warp != found_[i - 1].warp || v.pe != found_[i - 1].pe ||
          (is_of_block && made_.records.back().count == most_values)) {
        const auto number = static_cast<std::int32_t>(made_.records.size() - at(first));
        made_.records.push_back({made_.sent, static_cast<std::int64_t>(wanted_[pe].size()), signals_[pe]++, 0,
                                 v.pe, is_of_block ? number % limits_.warps : v.warp, 0});
      }
      ++made_.records.back().count;
      wanted_[pe].push_back({v.to->index, made_.records.back().signal});
      *v.to = {made_.sent++, v.pe, 1};
    }
    found_.clear();
    made_.ranges.push_back(
        {first, static_cast<std::int32_t>(made_.records.size() - at(first)), is_of_block ? 1 : 0});
  }

  void tell_receivers() {
    made_.places.assign(at(messages_.values), {-1, -1});
    std::vector<std::vector<beginning>> begins;
    for (const auto& of_pe : exchange_all(team_, wanted_)) {
      begins.push_back({{made_.received, made_.signals}});
      std::int64_t last = -1;
      for (const announcement& a : of_pe) {
        made_.places[at(a.index)] = {made_.received++, begins.back()[0].signal + a.signal};
        last = std::max(last, a.signal);
      }
      made_.signals += last + 1;
    }
    const auto begin_of = exchange_all(team_, begins);
    for (put_record& r : made_.records) {
      r.to += begin_of[at(r.pe)][0].mail;
      r.signal += begin_of[at(r.pe)][0].signal;
    }
    if (limits_.has_waiting_blocks) {
      make_deliveries();
    }
    auto& received = messages_.received;
    received.erase(std::remove_if(received.begin(), received.end(),
                                  [&](std::int64_t index) { return made_.places[at(index)].mail >= 0; }),
                   received.end());
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
  mail_limits limits_;
  const supernodal::host_plan& tasks_;
  bool backward_;
  message_plan<Offset>& messages_;
  std::vector<value> found_;                       ///< of the ticket
  std::vector<std::vector<announcement>> wanted_;  ///< by PE
  std::vector<std::int64_t> signals_;              ///< by PE: messages to it
  mail_plan made_;
};

}  // namespace sptrsv::detail::distributed
