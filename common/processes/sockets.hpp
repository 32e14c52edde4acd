// Sockets of the processes of a group. POSIX only.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sptrsv_common {

/// A file descriptor of a socket.
class socket_owner {
 public:
  explicit socket_owner(int socket = -1) : socket_(socket) {}
  socket_owner(socket_owner&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
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

 private:
  int socket_;
};

/// Returns whether a call that did not move bytes may do so later.
inline bool may_be_repeated() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace sptrsv_common
