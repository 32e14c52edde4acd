// How processes on several hosts connect to each other: all know the address of process 0. POSIX only.
#pragma once

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/processes/sockets.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv_common {

/// Looks up the IPv4 address of a host, in the order of the network. Returns the status of getaddrinfo, which
/// takes `flags`.
inline int look_up_host(const std::string& host, int flags, std::uint32_t& address) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (status == 0) {
    address = reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr.s_addr;
    ::freeaddrinfo(found);
  }
  return status;
}

/// Returns the IPv4 address of a host. A name is looked up in a thread of its own, which is left alone at
/// `until`: a name service that cannot be reached answers after minutes, and the call cannot be interrupted.
template <class LookUp>
std::uint32_t find_address(const std::string& host, std::chrono::steady_clock::time_point until,
                           const LookUp& look_up) {
  struct answer {
    int status;
    std::uint32_t address;
  };
  const auto ask = [host, look_up](int flags) {
    answer given{};
    given.status = look_up(host, flags, given.address);
    return given;
  };
  answer given = ask(AI_NUMERICHOST);
  if (given.status == EAI_NONAME) {  // it is a name
    std::packaged_task<answer()> asking([ask] { return ask(0); });
    auto coming = asking.get_future();
    std::thread(std::move(asking)).detach();
    SPTRSV_EXPECTS(coming.wait_until(until) == std::future_status::ready, sptrsv::errc::unsupported,
                   "no address of " + host + " within the time limit");
    given = coming.get();
  }
  SPTRSV_EXPECTS(given.status == 0, sptrsv::errc::unsupported,
                 "no address of " + host + ": " + ::gai_strerror(given.status));
  return given.address;
}

/// Connects the processes of a group by TCP (IPv4). Process 0 listens at the address that all know. Each
/// other one connects to it and says at which port it listens itself; process 0 answers with the addresses of
/// all; and each one connects to those with smaller ranks. All listen at one interface only: process 0 at
/// that of its host's name, the others at the one that leads to process 0. Who does not send the token is
/// dropped, and nobody waits for a stranger that sends nothing.
class rendezvous {
 public:
  /// `token`: the same random text in all processes.
  rendezvous(int rank, int size, std::string host, int port, const std::string& token, double limit_s)
      : rank_(rank), size_(size), host_(std::move(host)), port_(port), until_(end_of(limit_s)) {
    SPTRSV_EXPECTS(size > 0 && rank >= 0 && rank < size, sptrsv::errc::invalid_argument,
                   "process " + std::to_string(rank) + " of " + std::to_string(size));
    SPTRSV_EXPECTS(port > 0 && port <= largest_port, sptrsv::errc::invalid_argument,
                   "port " + std::to_string(port) + " is not between 1 and 65535");
    SPTRSV_EXPECTS(
        token.size() >= shortest_token && token.size() < sizeof(greeting::token),
        sptrsv::errc::invalid_argument,
        "the token of a group has " + std::to_string(token.size()) + " bytes; it needs 16 to 63 random ones");
    std::memcpy(mine_.token, token.data(), token.size());
    mine_.rank = rank;
  }

  /// Returns a socket for each process; none for the own one. Collective.
  std::vector<socket_owner> connect() {
    std::vector<socket_owner> sockets(static_cast<std::size_t>(size_));
    std::vector<place> places(static_cast<std::size_t>(size_));
    if (rank_ == 0) {
      const socket_owner listening = listen_at(resolve(), port_);
      accept_others(listening, 1, sockets, &places);
      for (int r = 1; r < size_; ++r) {
        send_all(sockets[sptrsv::detail::at(r)], places.data(), places.size() * sizeof(place));
      }
    } else {
      sockets[0] = connect_to(resolve(), port_);
      const socket_owner listening = listen_at(own_address(sockets[0]), 0);
      send_all(sockets[0], &mine_, sizeof(mine_));
      SPTRSV_EXPECTS(receive_all(sockets[0], places.data(), places.size() * sizeof(place)),
                     sptrsv::errc::unsupported, "process 0 does not answer");
      for (int r = 1; r < rank_; ++r) {
        SPTRSV_EXPECTS(
            places[sptrsv::detail::at(r)].port > 0 && places[sptrsv::detail::at(r)].port <= largest_port,
            sptrsv::errc::unsupported,
            "process 0 says that process " + std::to_string(r) + " listens at no port");
        sockets[sptrsv::detail::at(r)] =
            connect_to(places[sptrsv::detail::at(r)].address, places[sptrsv::detail::at(r)].port);
        send_all(sockets[sptrsv::detail::at(r)], &mine_, sizeof(mine_));
      }
      accept_others(listening, rank_ + 1, sockets, nullptr);
    }
    return sockets;
  }

 private:
  using clock = std::chrono::steady_clock;

  /// Where a process listens. All processes have the same order of bytes.
  struct place {
    std::uint32_t address;  ///< in the order of the network
    std::int32_t port;
  };
  /// The first bytes that a process sends to another one.
  struct greeting {
    char token[64] = {};
    std::int32_t rank = 0;
    std::int32_t port = 0;  ///< at which it listens
  };

  static constexpr int largest_port = 65535;
  static constexpr std::size_t shortest_token = 16;

  /// A connection whose greeting has not come completely.
  struct visitor {
    socket_owner socket;
    std::uint32_t address = 0;
    greeting said;
    std::size_t bytes = 0;  ///< of the greeting that have come
  };

  [[noreturn]] static void fail(const std::string& what) {
    throw sptrsv::error(sptrsv::errc::unsupported, what + ": " + std::strerror(errno));
  }
  [[nodiscard]] int milliseconds_left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
  }
  void wait(std::vector<pollfd>& sockets, const std::string& for_what) const {
    int found = -1;
    while ((found = ::poll(sockets.data(), static_cast<nfds_t>(sockets.size()), milliseconds_left())) < 0 &&
           errno == EINTR) {
    }
    SPTRSV_EXPECTS(found > 0, sptrsv::errc::unsupported, for_what + " within the time limit");
  }
  void wait_for(const socket_owner& socket, short events, const std::string& for_what) const {
    std::vector<pollfd> waits{{socket.get(), events, 0}};
    wait(waits, for_what);
  }
  /// Returns the time at which the start must be complete.
  static clock::time_point end_of(double limit_s) {
    SPTRSV_EXPECTS(limit_s >= 0, sptrsv::errc::invalid_argument,
                   "the time limit is negative or not a number");
    const std::chrono::duration<double> limit(std::min(limit_s, 1e9));
    return clock::now() + std::chrono::duration_cast<clock::duration>(limit);
  }

  /// Listens at a port of one interface; port 0: at any free one.
  [[nodiscard]] socket_owner listen_at(std::uint32_t interface, int port) {
    socket_owner made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = interface;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    socklen_t length = sizeof(address);
    if (made.get() < 0 || ::bind(made.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(made.get(), size_) != 0 ||
        ::getsockname(made.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      fail("process " + std::to_string(rank_) + " cannot listen");
    }
    mine_.port = ntohs(address.sin_port);
    return made;
  }
  /// Returns the address of this process on a connection.
  [[nodiscard]] static std::uint32_t own_address(const socket_owner& connected) {
    sockaddr_in address{};
    socklen_t length = sizeof(address);
    if (::getsockname(connected.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      fail("a connection has no address");
    }
    return address.sin_addr.s_addr;
  }

  /// Takes connections until those of all processes from `first` on are there. `places`: gets where they
  /// listen.
  void accept_others(const socket_owner& listening, int first, std::vector<socket_owner>& sockets,
                     std::vector<place>* places) const {
    std::vector<visitor> visitors;
    for (int missing = size_ - first; missing > 0;) {
      const auto next = std::find_if(sockets.begin() + first, sockets.end(),
                                     [](const socket_owner& s) { return s.get() < 0; });
      std::vector<pollfd> waits{{listening.get(), POLLIN, 0}};
      for (const visitor& v : visitors) {
        waits.push_back({v.socket.get(), POLLIN, 0});
      }
      wait(waits, "process " + std::to_string(next - sockets.begin()) + " did not connect");
      for (std::size_t i = visitors.size(); i-- > 0;) {
        if (waits[i + 1].revents == 0 || is_still_talking(visitors[i])) {
          continue;
        }
        visitor& v = visitors[i];
        if (is_welcome(v, first) && sockets[sptrsv::detail::at(v.said.rank)].get() < 0) {
          send_at_once(v.socket);
          if (places != nullptr) {
            (*places)[sptrsv::detail::at(v.said.rank)] = {v.address, v.said.port};
          }
          sockets[sptrsv::detail::at(v.said.rank)] = std::move(v.socket);
          --missing;
        }
        visitors.erase(visitors.begin() + static_cast<std::ptrdiff_t>(i));  // a stranger is dropped
      }
      if (waits[0].revents != 0) {
        accept_visitor(listening, visitors);
      }
    }
  }
  /// Takes a connection. If very many have said nothing, the oldest one is dropped.
  void accept_visitor(const socket_owner& listening, std::vector<visitor>& visitors) const {
    sockaddr_in from{};
    socklen_t length = sizeof(from);
    visitor made;
    made.socket =
        socket_owner(::accept4(listening.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC));
    if (made.socket.get() < 0) {
      return;  // it has gone
    }
    made.address = from.sin_addr.s_addr;
    if (visitors.size() >= sptrsv::detail::at(size_) + 256) {
      visitors.erase(visitors.begin());
    }
    visitors.push_back(std::move(made));
  }
  /// Reads what has come of the greeting. Returns whether more is to come.
  [[nodiscard]] static bool is_still_talking(visitor& v) {
    const ssize_t got = ::recv(v.socket.get(), reinterpret_cast<char*>(&v.said) + v.bytes,
                               sizeof(v.said) - v.bytes, MSG_DONTWAIT);
    if (got < 0) {
      return may_be_repeated();
    }
    v.bytes += static_cast<std::size_t>(got);
    return got > 0 && v.bytes < sizeof(v.said);
  }
  /// Returns whether the visitor has said the token, in a time that does not depend on where it differs, and
  /// is a process from `first` on.
  [[nodiscard]] bool is_welcome(const visitor& v, int first) const {
    volatile unsigned char different = 0;
    for (std::size_t i = 0; i < sizeof(mine_.token); ++i) {
      different = static_cast<unsigned char>(different | (mine_.token[i] ^ v.said.token[i]));
    }
    return v.bytes == sizeof(v.said) && different == 0 && v.said.rank >= first && v.said.rank < size_ &&
           v.said.port > 0 && v.said.port <= largest_port;
  }
  /// Connects to a process. It may not listen yet.
  [[nodiscard]] socket_owner connect_to(std::uint32_t address, int port) const {
    const std::string refusal =
        "process " + std::to_string(rank_) + " cannot connect to port " + std::to_string(port);
    for (;;) {
      socket_owner made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_addr.s_addr = address;
      to.sin_port = htons(static_cast<std::uint16_t>(port));
      int failure = ::connect(made.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
      if (failure == EINPROGRESS) {
        wait_for(made, POLLOUT, refusal);
        socklen_t length = sizeof(failure);
        ::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &failure, &length);
      }
      if (failure == 0) {
        send_at_once(made);
        return made;
      }
      if (milliseconds_left() == 0) {
        throw sptrsv::error(sptrsv::errc::unsupported, refusal + ": " + std::strerror(failure));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  /// Returns the address of the host of process 0.
  [[nodiscard]] std::uint32_t resolve() const { return find_address(host_, until_, look_up_host); }
  /// Small messages are not held back. A host that is gone is found after some 25 seconds.
  static void send_at_once(const socket_owner& s) {
    const auto set = [&](int level, int option, int value) {
      ::setsockopt(s.get(), level, option, &value, sizeof(value));
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  }
  void send_all(const socket_owner& to, const void* from, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      wait_for(to, POLLOUT, "a process that has connected did not receive");
      const ssize_t sent =
          ::send(to.get(), static_cast<const char*>(from) + done, bytes - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && !may_be_repeated()) {
        fail("a process has ended");
      }
      done += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    }
  }
  /// Returns false if the other side has closed the socket.
  [[nodiscard]] bool receive_all(const socket_owner& from, void* to, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      wait_for(from, POLLIN, "a process that has connected did not send");
      const ssize_t got = ::recv(from.get(), static_cast<char*>(to) + done, bytes - done, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && !may_be_repeated())) {
        return false;
      }
      done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }
    return true;
  }
  int rank_;
  int size_;
  std::string host_;
  int port_;
  clock::time_point until_;
  greeting mine_;
};

}  // namespace sptrsv_common
