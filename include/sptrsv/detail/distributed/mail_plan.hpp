// SPDX-License-Identifier: Apache-2.0
// The plan of the messages of several values that a PE puts into the mailboxes of others; see puts.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/distributed_tickets.hpp"
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
  /// `is_put`: by PE, whether this one sends values to it by puts. `waits`: whether blocks wait for messages;
  /// see mailbox. `messages`: its values that are sent by puts become values of the outbox, and what is
  /// received so is no value that is its own flag any more.
  mail_planner(Team& team, const put_targets& is_put, const ticket_limits& limits, bool waits,
               message_plan<Offset>& messages)
      : team_(team),
        is_put_(is_put),
        warps_(limits.warps),
        waits_(waits),
        messages_(messages),
        wanted_(is_put.size()),
        signals_(is_put.size(), 0) {}

  /// The walk of the tickets calls these two, see ticket_walk; then make() returns the plan.
  void add(int warp, message& to) {
    if (is_put_[at(to.pe)] != 0) {
      found_.push_back({to.pe, warp, &to});
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
                                 v.pe, is_of_block ? number % warps_ : v.warp, 0});
      }
      ++made_.records.back().count;
      wanted_[pe].push_back({v.to->index, made_.records.back().signal});
      *v.to = {made_.sent++, v.pe, 1};
    }
    found_.clear();
    made_.ranges.push_back(
        {first, static_cast<std::int32_t>(made_.records.size() - at(first)), is_of_block ? 1 : 0});
  }

  mail_plan make() {
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

  static constexpr std::int32_t most_values = 128;  ///< of a message of a block: four for each lane of a warp

  void tell_receivers() {
    made_.places.assign(at(messages_.values), {-1, -1});
    std::vector<std::vector<mail_place>> begins;  // by sender: where its values and its messages begin
    for (const auto& of_pe : exchange_all(team_, wanted_)) {
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
    if (waits_) {
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
  int warps_;
  bool waits_;
  message_plan<Offset>& messages_;
  std::vector<value> found_;  ///< of the ticket
  /// By PE, by value: what the receiver is told, the index in its inbox and the number of the message among
  /// those of this PE.
  std::vector<std::vector<mail_place>> wanted_;
  std::vector<std::int64_t> signals_;  ///< by PE: messages to it
  mail_plan made_;
};

}  // namespace sptrsv::detail::distributed
