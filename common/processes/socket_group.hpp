// Groups of processes that are connected to each other by sockets. POSIX only.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/processes/rendezvous.hpp"
#include "common/processes/sockets.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/distributed/process_group.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv_common {

/// Returns a number of seconds as text.
inline std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", seconds);
  return text;
}

/// Runs a thread that calls lost(r) when process r has ended, because its sockets are closed then. The thread
/// ends after the first call.
class process_watch {
 public:
  process_watch(const std::vector<socket_owner>& sockets, int rank, std::function<void(int)> lost)
      : rank_(rank), lost_(std::move(lost)) {
    int ends[2] = {-1, -1};
    SPTRSV_EXPECTS(::pipe2(ends, O_CLOEXEC) == 0, sptrsv::errc::unsupported,
                   "no pipe: " + std::string(std::strerror(errno)));
    woken_ = socket_owner(ends[0]);
    wakes_ = socket_owner(ends[1]);
    for (std::size_t r = 0; r < sockets.size(); ++r) {  // poll() ignores a negative descriptor
      waits_.push_back({r == sptrsv::detail::at(rank) ? -1 : sockets[r].get(), POLLRDHUP, 0});
    }
    waits_.push_back({woken_.get(), POLLIN, 0});
    thread_ = std::thread([this] { run(); });
  }
  process_watch(const process_watch&) = delete;
  process_watch& operator=(const process_watch&) = delete;
  ~process_watch() {
    // A byte, since a child of this process may keep the pipe open.
    while (::write(wakes_.get(), "", 1) < 0 && errno == EINTR) {
    }
    thread_.join();
  }

 private:
  void run() {
    while (::poll(waits_.data(), static_cast<nfds_t>(waits_.size()), -1) < 0) {
      if (!may_be_repeated()) {
        lost_(rank_);  // nobody watches any more
        return;
      }
    }
    for (std::size_t r = 0; waits_.back().revents == 0 && r + 1 < waits_.size(); ++r) {
      if (waits_[r].revents != 0) {
        lost_(static_cast<int>(r));
        return;
      }
    }
  }

  int rank_;
  std::function<void(int)> lost_;
  socket_owner woken_;
  socket_owner wakes_;
  std::vector<pollfd> waits_;
  std::thread thread_;
};

/// The sockets of a process to all others, and what it exchanges by them.
class socket_links {
 public:
  using messages = sptrsv::process_group::messages;

  /// `sockets`: by process; none for the own one. `limit_s`: seconds that it waits for another process.
  /// `lost`: see process_watch.
  socket_links(std::vector<socket_owner> sockets, int rank, double limit_s, std::function<void(int)> lost)
      : sockets_(std::move(sockets)),
        rank_(rank),
        limit_s_(limit_s),
        watch_(sockets_, rank, std::move(lost)) {}

  /// Lets the others see that this process has failed.
  void leave() const {
    for (const socket_owner& s : sockets_) {
      ::shutdown(s.get(), SHUT_RDWR);
    }
  }

  /// Sends to[r] to process r, and returns what each process has sent to this one. Collective.
  messages exchange(messages to) {
    std::vector<transfer> with(sockets_.size());
    for (std::size_t r = 0; r < with.size(); ++r) {
      with[r].length_to = to[r].size();
    }
    messages received(sockets_.size());
    const auto own = static_cast<std::size_t>(rank_);
    received[own] = std::move(to[own]);
    with[own].is_sent = true;
    with[own].is_received = true;
    auto last_progress = clock::now();
    for (;;) {
      std::vector<pollfd> waits;
      std::vector<std::size_t> peers;
      for (std::size_t r = 0; r < with.size(); ++r) {
        if (!with[r].is_sent || !with[r].is_received) {
          const int events = (with[r].is_sent ? 0 : POLLOUT) | (with[r].is_received ? 0 : POLLIN);
          waits.push_back({sockets_[r].get(), static_cast<short>(events), 0});
          peers.push_back(r);
        }
      }
      if (waits.empty()) {
        return received;
      }
      const std::chrono::duration<double> waited = clock::now() - last_progress;
      if (waited.count() >= limit_s_) {
        throw sptrsv::error(sptrsv::errc::peer_failed, "PE " + std::to_string(peers.front()) +
                                                           " did not come within " + seconds_text(limit_s_));
      }
      const double left_ms = std::min((limit_s_ - waited.count()) * 1000, 1e6);
      if (::poll(waits.data(), static_cast<nfds_t>(waits.size()), static_cast<int>(left_ms) + 1) <= 0) {
        continue;  // the time is over, or a signal has come
      }
      for (std::size_t i = 0; i < waits.size(); ++i) {
        const std::size_t r = peers[i];
        if ((waits[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !with[r].is_received) {
          receive(r, with[r], received[r]);
        }
        if ((waits[i].revents & (POLLOUT | POLLHUP | POLLERR)) != 0 && !with[r].is_sent) {
          send(r, with[r], to[r]);
        }
      }
      last_progress = clock::now();
    }
  }

 private:
  using clock = std::chrono::steady_clock;

  /// The messages to and from one process: each is a length of eight bytes, and as many bytes.
  struct transfer {
    std::uint64_t length_to = 0;
    std::uint64_t length_from = 0;
    std::size_t sent = 0;  ///< bytes, those of the length included
    std::size_t received = 0;
    bool is_sent = false;
    bool is_received = false;
  };
  static constexpr std::size_t head = sizeof(std::uint64_t);
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;  ///< of a message

  /// Returns the bytes of a message that have not moved yet: of its length, or of itself.
  static std::pair<std::byte*, std::size_t> next_bytes(std::uint64_t& length, std::vector<std::byte>& bytes,
                                                       std::size_t moved) {
    if (moved < head) {
      return {reinterpret_cast<std::byte*>(&length) + moved, head - moved};
    }
    return {bytes.data() + (moved - head), head + bytes.size() - moved};
  }
  void send(std::size_t r, transfer& t, std::vector<std::byte>& bytes) const {
    while (t.sent < head + bytes.size()) {
      const auto [from, count] = next_bytes(t.length_to, bytes, t.sent);
      const ssize_t done = ::send(sockets_[r].get(), from, count, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (!has_moved(r, done)) {
        return;
      }
      t.sent += static_cast<std::size_t>(done);
    }
    t.is_sent = true;
  }
  void receive(std::size_t r, transfer& t, std::vector<std::byte>& bytes) const {
    do {
      const auto [to, count] = next_bytes(t.length_from, bytes, t.received);
      const ssize_t done = ::recv(sockets_[r].get(), to, count, MSG_DONTWAIT);
      if (done == 0) {
        throw sptrsv::detail::distributed::pe_has_left(static_cast<int>(r));
      }
      if (!has_moved(r, done)) {
        return;
      }
      t.received += static_cast<std::size_t>(done);
      if (t.received >= head) {
        SPTRSV_EXPECTS(t.length_from <= most_bytes, sptrsv::errc::peer_failed,
                       "PE " + std::to_string(r) + " announces a message of " +
                           std::to_string(t.length_from) + " bytes, more than any message has");
        make_room(t, bytes);
      }
    } while (t.received < head + t.length_from || t.received < head);
    t.is_received = true;
  }
  /// Makes room for further bytes of a message if what came so far is full. No more is allocated than a
  /// piece, or than has come: a length alone takes no memory.
  static void make_room(const transfer& t, std::vector<std::byte>& bytes) {
    constexpr std::size_t piece = std::size_t{1} << 26;
    if (t.received == head + bytes.size()) {
      bytes.resize(
          std::min(static_cast<std::size_t>(t.length_from), bytes.size() + std::max(bytes.size(), piece)));
    }
  }
  /// Returns whether bytes have moved. If not, the socket must be waited for.
  static bool has_moved(std::size_t r, ssize_t done) {
    if (done >= 0) {
      return true;
    }
    if (may_be_repeated()) {
      return false;
    }
    throw sptrsv::detail::distributed::pe_has_left(static_cast<int>(r));
  }

  std::vector<socket_owner> sockets_;
  int rank_;
  double limit_s_;
  process_watch watch_;
};

/// A process of a group. Each pair of processes is connected by a stream socket.
///
/// If one of them has ended, or has not come within the time limit, `exchange` and `meet` throw on the others
/// an error with errc::peer_failed, and a text that names it (any of them if several have ended). A thread
/// watches the sockets, so that solves that wait for a process end, too, when it has ended.
class socket_group : public sptrsv::process_group {
 public:
  /// A pair of processes is connected by two file descriptors: [r][s] is that of process r for process s.
  using descriptors = std::vector<std::vector<int>>;

  /// Makes the sockets of processes that are forked from this one. Each of them constructs a socket_group of
  /// its rank; the process that forks them calls close_all.
  ///
  /// @throws error errc::invalid_argument if `size` is not positive; errc::unsupported if the system refuses.
  static descriptors connect_pairs(int size) {
    SPTRSV_EXPECTS(size > 0, sptrsv::errc::invalid_argument, "a group without processes");
    descriptors made(static_cast<std::size_t>(size), std::vector<int>(static_cast<std::size_t>(size), -1));
    for (std::size_t r = 0; r < made.size(); ++r) {
      for (std::size_t s = 0; s < r; ++s) {
        int ends[2] = {-1, -1};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
          const std::string why = std::strerror(errno);
          close_all(made);
          throw sptrsv::error(sptrsv::errc::unsupported,
                              "the sockets of " + std::to_string(size) + " processes cannot be made: " + why);
        }
        made[r][s] = ends[0];
        made[s][r] = ends[1];
      }
    }
    return made;
  }
  /// Closes all descriptors.
  static void close_all(const descriptors& all) {
    for (const auto& of_process : all) {
      for (const int socket : of_process) {
        if (socket >= 0) {
          ::close(socket);
        }
      }
    }
  }

  /// Takes the sockets of process `rank`, and closes those of the others in this process.
  ///
  /// @param all from connect_pairs, or from sockets that were connected in another way, for example to other
  ///   hosts; then only all[rank] need be filled.
  /// @param rank the number of this process.
  /// @param limit_s how many seconds a process waits for another one in a collective function.
  /// @throws error errc::invalid_argument if there is no process `rank`, if all[rank] has another size than
  ///   `all`, or if the limit is negative or NaN. The sockets stay open then.
  socket_group(const descriptors& all, int rank, double limit_s = 600)
      : socket_group(rank, static_cast<int>(all.size()), take(all, rank, limit_s), limit_s) {
    descriptors others = all;
    others[sptrsv::detail::at(rank)].clear();
    close_all(others);
  }
  /// Connects processes that have been started by other means, such as srun or mpirun, by TCP (IPv4).
  /// Collective.
  ///
  /// @param rank the number of this process.
  /// @param size number of processes.
  /// @param host the host of process 0.
  /// @param port a free port of it, 1 to 65535, at which process 0 listens, on the interface of `host` only.
  /// @param token the same random text in all processes, of 16 to 63 bytes, which the launcher hands to them,
  ///   for example in an environment variable: who does not know it is dropped. It is sent as it is, so a
  ///   network whose messages others can read needs more protection.
  /// @param limit_s how many seconds a process waits for another one, here and in collective functions.
  /// @throws error errc::invalid_argument; errc::unsupported if the processes do not find each other within
  ///   the time limit.
  socket_group(int rank, int size, const std::string& host, int port, const std::string& token,
               double limit_s = 600)
      : socket_group(rank, size, rendezvous(rank, size, host, port, token, limit_s).connect(), limit_s) {}

 private:
  using failure = std::shared_ptr<sptrsv::detail::distributed::failure_state>;

  socket_group(int rank, int size, std::vector<socket_owner> sockets, double limit_s,
               const failure& shared = std::make_shared<sptrsv::detail::distributed::failure_state>())
      : socket_group(rank, size,
                     std::make_shared<socket_links>(std::move(sockets), rank, limit_s,
                                                    [shared](int process) { shared->set(process); }),
                     shared) {}
  socket_group(int rank, int size, const std::shared_ptr<socket_links>& links, const failure& shared)
      : process_group(
            rank, size, [links](messages to) { return links->exchange(std::move(to)); },
            [links] { links->leave(); }, shared) {}

  /// Takes the sockets of a process.
  static std::vector<socket_owner> take(const descriptors& all, int rank, double limit_s) {
    SPTRSV_EXPECTS(rank >= 0 && static_cast<std::size_t>(rank) < all.size(), sptrsv::errc::invalid_argument,
                   "process " + std::to_string(rank) + " of a group of " + std::to_string(all.size()));
    const std::vector<int>& own = all[sptrsv::detail::at(rank)];
    SPTRSV_EXPECTS(own.size() == all.size(), sptrsv::errc::invalid_argument,
                   "process " + std::to_string(rank) + " has " + std::to_string(own.size()) +
                       " sockets in a group of " + std::to_string(all.size()));
    SPTRSV_EXPECTS(limit_s >= 0, sptrsv::errc::invalid_argument,
                   "the time limit is negative or not a number");
    return {own.begin(), own.end()};
  }
};

}  // namespace sptrsv_common
