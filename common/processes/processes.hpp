// Starts processes that are the PEs of a distributed solve, and watches them: if one of them fails, all end.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/processes/socket_group.hpp"
#include "sptrsv/detail/distributed/distributed_team.hpp"

namespace sptrsv_common {

/// How the processes of run_processes have ended.
struct processes_result {
  std::string failure;  ///< names the PE that has failed; empty if none has
  std::string result;   ///< what PE 0 has returned
};

namespace process_detail {

constexpr int failed = 1;
constexpr int failed_by_another = 3;  ///< exit status of a PE that has lost another one

struct child {
  pid_t id = -1;
  bool is_running = false;
  int status = 0;
};

/// Runs the body of a PE and ends the process.
[[noreturn]] inline void be_child(const socket_group::descriptors& sockets, int rank, double limit_s,
                                  int to_parent, pid_t parent,
                                  const std::function<std::string(sptrsv::process_group&)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no PE stays if the first process is ended
  if (getppid() != parent) {
    std::_Exit(failed);
  }
  try {
    socket_group group(sockets, rank, limit_s);
    const std::string result = body(group);
    for (std::size_t at = 0; rank == 0 && at < result.size();) {
      const ssize_t written = write(to_parent, result.data() + at, result.size() - at);
      if (written <= 0) {
        std::_Exit(failed);
      }
      at += static_cast<std::size_t>(written);
    }
    std::fflush(stdout);
    std::_Exit(0);
  } catch (const sptrsv::detail::distributed::pe_has_left&) {
    std::_Exit(failed_by_another);
  } catch (const std::exception& e) {
    // An error that names another PE is one that all have found together: that PE prints it.
    const std::string own = "PE " + std::to_string(rank) + ": ";
    const bool names_pe = std::strncmp(e.what(), "PE ", 3) == 0;
    const bool is_of_another = names_pe && std::strncmp(e.what(), own.c_str(), own.size()) != 0;
    if (!is_of_another || dynamic_cast<const sptrsv::error*>(&e) == nullptr) {
      std::fprintf(stderr, "%s%s\n", names_pe ? "" : own.c_str(), e.what());
    }
    std::_Exit(failed);
  }
}

/// Reads what has come through a pipe so far.
inline void read_pipe(int from, std::string& to) {
  char bytes[4096];
  for (ssize_t got = 0; (got = read(from, bytes, sizeof(bytes))) > 0;) {
    to.append(bytes, static_cast<std::size_t>(got));
  }
}

/// Returns the text about the PE whose failure is the cause: a signal comes before an error, and an error
/// before the loss of another PE.
inline std::string find_failure(const std::vector<child>& children) {
  std::string text;
  int best = 0;
  for (std::size_t pe = 0; pe < children.size(); ++pe) {
    const child& c = children[pe];
    if (c.is_running || c.status == 0) {
      continue;
    }
    const int gravity = WIFSIGNALED(c.status) ? 3 : WEXITSTATUS(c.status) != failed_by_another ? 2 : 1;
    if (gravity > best) {
      best = gravity;
      text = "PE " + std::to_string(pe) +
             (gravity == 3 ? " was ended by signal " + std::to_string(WTERMSIG(c.status)) + " (" +
                                 strsignal(WTERMSIG(c.status)) + ")"
                           : " ended with status " + std::to_string(WEXITSTATUS(c.status)));
    }
  }
  return text;
}

}  // namespace process_detail

/// Forks `count` processes, calls body(group) in each of them, and waits for all. If one of them fails (by an
/// exception, which it prints, by an exit status or by a signal), or if they do not end within the time
/// limit, all are ended. CUDA must not have been used in the calling process, which has one thread.
///
/// @param count number of PEs.
/// @param limit_s seconds that all have together, and that a PE waits for another one.
/// @param body what a PE does; what that of PE 0 returns is handed on.
inline processes_result run_processes(int count, double limit_s,
                                      const std::function<std::string(sptrsv::process_group&)>& body) {
  using namespace process_detail;
  using clock = std::chrono::steady_clock;
  processes_result made;
  const auto sockets = socket_group::connect_pairs(count);
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) {
    socket_group::close_all(sockets);
    made.failure = "no pipe: " + std::string(std::strerror(errno));
    return made;
  }
  std::fflush(nullptr);
  std::vector<child> children(static_cast<std::size_t>(count));
  const pid_t parent = getpid();
  for (int pe = 0; pe < count && made.failure.empty(); ++pe) {
    child& c = children[static_cast<std::size_t>(pe)];
    c.id = fork();
    if (c.id == 0) {
      ::close(ends[0]);
      be_child(sockets, pe, limit_s, ends[1], parent, body);
    }
    c.is_running = c.id > 0;
    if (!c.is_running) {
      made.failure = "PE " + std::to_string(pe) + " cannot start: " + std::strerror(errno);
    }
  }
  socket_group::close_all(sockets);  // those of the PEs stay; a PE that ends is seen by the others
  ::close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const auto begin = clock::now();
  const auto is_running = [](const child& c) { return c.is_running; };
  double grace_until = made.failure.empty() ? limit_s : 0;  // others that fail may tell the cause
  while (std::any_of(children.begin(), children.end(), is_running)) {
    for (child& c : children) {
      if (c.is_running && waitpid(c.id, &c.status, WNOHANG) == c.id) {
        c.is_running = false;
        if (c.status != 0) {
          const std::chrono::duration<double> now = clock::now() - begin;
          grace_until = std::min(grace_until, now.count() + 1);
        }
      }
    }
    read_pipe(ends[0], made.result);
    const std::chrono::duration<double> now = clock::now() - begin;
    if (now.count() > grace_until) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  read_pipe(ends[0], made.result);
  ::close(ends[0]);
  if (made.failure.empty()) {
    made.failure = find_failure(children);
  }
  for (std::size_t pe = 0; pe < children.size(); ++pe) {
    child& c = children[pe];
    if (c.is_running) {
      if (made.failure.empty()) {
        made.failure = "PE " + std::to_string(pe) + " has not ended within " + seconds_text(limit_s);
      }
      kill(c.id, SIGKILL);
      waitpid(c.id, &c.status, 0);
    }
  }
  return made;
}

}  // namespace sptrsv_common
