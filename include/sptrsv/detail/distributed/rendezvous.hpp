// How processes on several hosts connect to each other: all know the address of process 0. POSIX only.
#pragma once

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sptrsv/error.hpp"

namespace sptrsv::detail::distributed {

/// A file descriptor of a socket.
class socket_owner {
 public:
  explicit socket_owner(int socket = -1) : socket_(socket) {}
  socket_owner(socket_owner&& other) noexcept : socket_(other.release()) {}
  socket_owner& operator=(socket_owner&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~socket_owner() {
    if (socket_ >= 0) {
      ::close(socket_);
    }
  }
  [[nodiscard]] int get() const { return socket_; }
  int release() { return std::exchange(socket_, -1); }

 private:
  int socket_;
};

/// Connects the processes of a group by TCP (IPv4). Process 0 listens at the address that all know. Each
/// other one connects to it and says at which port it listens itself; process 0 answers with the addresses of
/// all; and each one connects to those with smaller ranks. Who does not know the key is not answered.
class rendezvous {
 public:
  /// `key`: the same in all processes.
  rendezvous(int rank, int size, std::string host, int port, const std::string& key, double limit_s)
      : rank_(rank),
        size_(size),
        host_(std::move(host)),
        port_(port),
        until_(clock::now() +
               std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(limit_s))) {
    SPTRSV_EXPECTS(size > 0 && rank >= 0 && rank < size, errc::invalid_argument,
                   "process " + std::to_string(rank) + " of " + std::to_string(size));
    SPTRSV_EXPECTS(key.size() < sizeof(greeting::key), errc::invalid_argument, "the key is too long");
    std::memcpy(mine_.key, key.data(), key.size());
    mine_.rank = rank;
  }

  /// Returns a socket for each process; -1 for the own one. Collective.
  std::vector<int> connect() {
    std::vector<socket_owner> sockets(static_cast<std::size_t>(size_));
    const socket_owner listening = listen_at(rank_ == 0 ? port_ : 0);
    std::vector<place> places(static_cast<std::size_t>(size_));
    if (rank_ == 0) {
      accept_others(listening, 1, sockets, &places);
      for (int r = 1; r < size_; ++r) {
        send_all(sockets[at(r)].get(), places.data(), places.size() * sizeof(place));
      }
    } else {
      sockets[0] = connect_to(resolve(), port_);
      send_all(sockets[0].get(), &mine_, sizeof(mine_));
      SPTRSV_EXPECTS(receive_all(sockets[0].get(), places.data(), places.size() * sizeof(place)),
                     errc::unsupported, "process 0 does not answer");
      for (int r = 1; r < rank_; ++r) {
        sockets[at(r)] = connect_to(places[at(r)].address, places[at(r)].port);
        send_all(sockets[at(r)].get(), &mine_, sizeof(mine_));
      }
      accept_others(listening, rank_ + 1, sockets, nullptr);
    }
    std::vector<int> made(sockets.size());
    std::transform(sockets.begin(), sockets.end(), made.begin(), [](socket_owner& s) { return s.release(); });
    return made;
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
    char key[64] = {};
    std::int32_t rank = 0;
    std::int32_t port = 0;  ///< at which it listens
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  [[noreturn]] static void fail(const std::string& what) {
    throw error(errc::unsupported, what + ": " + std::strerror(errno));
  }
  [[nodiscard]] int milliseconds_left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
  }
  void wait(int socket, short events, const std::string& for_what) const {
    pollfd waits{socket, events, 0};
    int found = -1;
    while ((found = ::poll(&waits, 1, milliseconds_left())) < 0 && errno == EINTR) {
    }
    SPTRSV_EXPECTS(found > 0, errc::unsupported, for_what + " within the time limit");
  }

  [[nodiscard]] socket_owner listen_at(int port) {
    socket_owner made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = rank_ == 0 ? resolve() : htonl(INADDR_ANY);
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
  /// Takes connections until those of all processes from `first` on are there. `places`: gets where they
  /// listen.
  void accept_others(const socket_owner& listening, int first, std::vector<socket_owner>& sockets,
                     std::vector<place>* places) const {
    for (int missing = size_ - first; missing > 0;) {
      const auto next = std::find_if(sockets.begin() + first, sockets.end(),
                                     [](const socket_owner& s) { return s.get() < 0; });
      wait(listening.get(), POLLIN, "process " + std::to_string(next - sockets.begin()) + " did not connect");
      sockaddr_in from{};
      socklen_t length = sizeof(from);
      socket_owner made(
          ::accept4(listening.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC));
      greeting theirs;
      if (made.get() < 0 || !receive_all(made.get(), &theirs, sizeof(theirs)) ||
          std::memcmp(theirs.key, mine_.key, sizeof(theirs.key)) != 0 || theirs.rank < first ||
          theirs.rank >= size_ || sockets[at(theirs.rank)].get() >= 0) {
        continue;  // somebody else
      }
      send_at_once(made);
      if (places != nullptr) {
        (*places)[at(theirs.rank)] = {from.sin_addr.s_addr, theirs.port};
      }
      sockets[at(theirs.rank)] = std::move(made);
      --missing;
    }
  }
  /// Connects to a process. It may not listen yet.
  [[nodiscard]] socket_owner connect_to(std::uint32_t address, int port) const {
    for (;;) {
      socket_owner made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_addr.s_addr = address;
      to.sin_port = htons(static_cast<std::uint16_t>(port));
      if (made.get() >= 0 && ::connect(made.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) {
        send_at_once(made);
        return made;
      }
      if (milliseconds_left() == 0) {
        fail("process " + std::to_string(rank_) + " cannot connect to port " + std::to_string(port));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  /// Returns the address of the host of process 0.
  [[nodiscard]] std::uint32_t resolve() const {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int status = ::getaddrinfo(host_.c_str(), nullptr, &hints, &found);
    SPTRSV_EXPECTS(status == 0, errc::unsupported, "no address of " + host_ + ": " + ::gai_strerror(status));
    const std::uint32_t address = reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr.s_addr;
    ::freeaddrinfo(found);
    return address;
  }
  /// Small messages are not held back.
  static void send_at_once(const socket_owner& s) {
    const int yes = 1;
    ::setsockopt(s.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  static void send_all(int socket, const void* from, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t sent = ::send(socket, static_cast<const char*>(from) + done, bytes - done, MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) {
        fail("a process has ended");
      }
      done += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    }
  }
  /// Returns false if the other side has closed the socket.
  [[nodiscard]] bool receive_all(int socket, void* to, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      wait(socket, POLLIN, "a process that has connected did not send");
      const ssize_t got = ::recv(socket, static_cast<char*>(to) + done, bytes - done, 0);
      if (got == 0 || (got < 0 && errno != EINTR)) {
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

}  // namespace sptrsv::detail::distributed
