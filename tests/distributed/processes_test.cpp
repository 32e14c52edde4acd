// Processes as PEs: what they exchange, and how they end if one of them fails.
#include "common/processes/processes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sptrsv/detail/distributed/distributed_team.hpp"

namespace sptrsv::testing {
namespace {

using sptrsv_common::processes_result;
using sptrsv_common::run_processes;
using sptrsv_common::socket_group;

constexpr double long_s = 600;  ///< a limit that no run reaches

TEST(Processes, ExchangeMessagesOfAnySize) {
  const processes_result done = run_processes(4, long_s, [](process_group& group) {
    const auto length = [](int from, int to) {
      return static_cast<std::size_t>(
          from == 3 ? 0 : (from + 1) * (to + 1) * 200001);  // more than a socket holds
    };
    std::size_t right = 0;
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<int>> to;
      to.reserve(4);
      for (int r = 0; r < group.size(); ++r) {
        to.emplace_back(length(group.rank(), r), 100 * group.rank() + 10 * r + round);
      }
      const auto received = detail::distributed::exchange_all(group, to);
      for (int r = 0; r < group.size(); ++r) {
        right += received[static_cast<std::size_t>(r)] ==
                         std::vector<int>(length(r, group.rank()), 100 * r + 10 * group.rank() + round)
                     ? 1U
                     : 0U;
      }
      group.meet();
    }
    std::size_t all = 0;
    for (const auto& of_pe : detail::distributed::gather(group, std::vector<std::size_t>{right})) {
      all += of_pe.front();
    }
    return std::to_string(all);
  });
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.result, "48");
}

TEST(Processes, APeThatDiesIsNamed) {
  const processes_result done = run_processes(3, long_s, [](process_group& group) {
    group.meet();
    if (group.rank() == 1) {
      std::raise(SIGKILL);
    }
    group.meet();
    return std::string("PE 0 has met PE 1");
  });
  EXPECT_EQ(done.failure, "PE 1 was ended by signal 9 (Killed)");
  EXPECT_EQ(done.result, "");
}

/// Waits as a kernel does: it reads the word that says whether a process has failed.
void wait_for_failure(const process_group& group) {
  while (reinterpret_cast<const std::atomic<std::uint32_t>*>(group.failure_word())->load() == 0) {
    std::this_thread::yield();
  }
}

/// PE 2 stays until PE 0 has answered: had it ended as well, PE 0 could see its end before that of PE 1, as
/// the system may close the sockets of a process that is killed in any order.
TEST(Processes, KernelsThatWaitForAPeThatDiesAreTold) {
  int answered[2] = {-1, -1};
  ASSERT_EQ(::pipe(answered), 0);
  const processes_result done = run_processes(3, long_s, [&](process_group& group) {
    group.meet();
    if (group.rank() == 1) {
      std::raise(SIGKILL);
    }
    wait_for_failure(group);
    std::string text = "PE 0 has met PE 1";
    try {
      group.meet();
    } catch (const detail::distributed::pe_has_left& e) {
      text = e.what();
    }
    char byte = 0;
    const ssize_t moved = group.rank() == 0 ? ::write(answered[1], &byte, 1) : ::read(answered[0], &byte, 1);
    return moved == 1 ? text : "the pipe is broken";
  });
  ::close(answered[0]);
  ::close(answered[1]);
  EXPECT_EQ(done.failure, "PE 1 was ended by signal 9 (Killed)");
  EXPECT_EQ(done.result, "PE 1 has left the team");
}

/// A program that starts its processes in another way says what it knows; a copy is the same process.
TEST(Processes, AGroupIsToldThatAProcessHasFailed) {
  process_group group(1, 2, [](process_group::messages to) { return to; });
  const process_group copy = group;
  group.meet();
  std::thread([&] { group.fail(0); }).join();
  wait_for_failure(copy);
  try {
    group.meet();
    ADD_FAILURE() << "a process that has failed comes";
  } catch (const detail::distributed::pe_has_left& e) {
    EXPECT_EQ(e.pe(), 0);
  }
}

TEST(Processes, APeThatFailsIsNamedAndOthersThatWaitElsewhereAreEnded) {
  const processes_result done = run_processes(3, long_s, [](process_group& group) {
    if (group.rank() == 2) {
      throw std::runtime_error("out of luck");
    }
    while (group.rank() == 0) {  // as a PE whose kernel waits for that of PE 2
      pause();
    }
    group.meet();
    return std::string();
  });
  EXPECT_EQ(done.failure, "PE 2 ended with status 1");
}

TEST(Processes, APeThatDoesNotComeIsNamed) {
  socket_group alone(socket_group::connect_pairs(2), 0, 0.01);   // the sockets of PE 1 are closed here,
  EXPECT_THROW(alone.meet(), detail::distributed::pe_has_left);  // as if it had ended
  auto sockets = socket_group::connect_pairs(2);
  const std::vector<int> others{sockets[1]};
  sockets[1].clear();
  socket_group waiting(sockets, 0, 0.01);
  try {
    waiting.meet();
    ADD_FAILURE() << "nobody has come";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::peer_failed);
    EXPECT_EQ(std::string(e.what()), "PE 1 did not come within 0.01 s");
  }
  socket_group::close_all({others});
}

TEST(Processes, RanksAndSizesThatDoNotFitAreRefused) {
  const auto code = [](const auto& call) -> std::optional<errc> {
    try {
      call();
    } catch (const error& e) {
      return e.code();
    }
    return std::nullopt;
  };
  auto sockets = socket_group::connect_pairs(2);
  for (const int rank : {-1, 2, INT_MAX, INT_MIN}) {
    EXPECT_EQ(code([&] { socket_group(sockets, rank); }), errc::invalid_argument) << rank;
  }
  EXPECT_EQ(code([&] { socket_group({}, 0); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { socket_group({{}, {}}, 0); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { socket_group({{-1}, {}}, 0); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { socket_group(sockets, 0, -1); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { socket_group(sockets, 0, std::nan("")); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { socket_group::connect_pairs(0); }), errc::invalid_argument);
  socket_group group(sockets, 0, 0.01);
  EXPECT_EQ(code([&] { group.exchange({}); }), errc::size_mismatch);
  EXPECT_EQ(code([&] { group.exchange(std::vector<std::vector<std::byte>>(3)); }), errc::size_mismatch);
  EXPECT_EQ(code([&] { group.meet(); }), errc::peer_failed);  // the sockets of PE 1 are closed here
}

/// A group of a program that exchanges messages in its own way.
TEST(Processes, AGroupTakesTheExchangeOfItsUser) {
  using messages = process_group::messages;
  const auto refuses = [](int rank, int size, const std::function<messages(messages)>& exchange) {
    try {
      const process_group group(rank, size, exchange);
    } catch (const error& e) {
      return e.code() == errc::invalid_argument;
    }
    return false;
  };
  const auto echo = [](messages to) { return to; };
  EXPECT_TRUE(refuses(0, 1, {}));
  EXPECT_TRUE(refuses(0, 0, echo));
  EXPECT_TRUE(refuses(-1, 2, echo));
  EXPECT_TRUE(refuses(2, 2, echo));
  process_group group(1, 2, echo);
  EXPECT_EQ(group.rank(), 1);
  EXPECT_EQ(group.size(), 2);
  EXPECT_NO_THROW(group.meet());
  EXPECT_EQ(group.exchange({{std::byte{1}}, {}}), (messages{{std::byte{1}}, {}}));
  EXPECT_THROW(group.exchange({}), error);
  process_group forgetful(0, 2, [](const messages&) { return messages(1); });
  EXPECT_THROW(forgetful.meet(), error);
}

TEST(Processes, PesThatDoNotEndAreEnded) {
  const processes_result done = run_processes(2, 0.01, [](process_group&) -> std::string {
    for (;;) {
      pause();
    }
  });
  EXPECT_EQ(done.failure, "PE 0 has not ended within 0.01 s");
}

constexpr const char* token = "0123456789abcdef of this run";

/// Returns a port of this host that is free.
int free_port() {
  const sptrsv_common::socket_owner any(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  EXPECT_EQ(::bind(any.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(any.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return ntohs(address.sin_port);
}

TEST(Processes, FindEachOtherByTcp) {
  const int port = free_port();
  const processes_result done = run_processes(4, long_s, [&](process_group& forked) {
    socket_group group(forked.rank(), forked.size(), "127.0.0.1", port, token, long_s);
    std::string all;
    for (const auto& of_pe : detail::distributed::gather(group, std::vector<int>{10 * group.rank()})) {
      all += std::to_string(of_pe.front()) + " ";
    }
    return all;
  });
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.result, "0 10 20 30 ");
}

/// The stranger comes first, while process 0 waits for process 1.
TEST(Processes, WhoDoesNotKnowTheTokenIsNotLetIn) {
  const int port = free_port();
  const auto meet = [&](int rank, const char* said) {
    socket_group group(rank, 2, "127.0.0.1", port, said, long_s);
    group.meet();
  };
  std::thread first([&] { EXPECT_NO_THROW(meet(0, token)); });
  bool is_refused = false;
  try {
    const socket_group stranger(1, 2, "127.0.0.1", port, "0123456789abcdef of another run", long_s);
  } catch (const error&) {
    is_refused = true;
    meet(1, token);
  }
  first.join();
  EXPECT_TRUE(is_refused);
}

/// Connects to a port of this host as soon as somebody listens there.
sptrsv_common::socket_owner connect_to(int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  for (;;) {
    sptrsv_common::socket_owner made(::socket(AF_INET, SOCK_STREAM, 0));
    if (::connect(made.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) {
      return made;
    }
    std::this_thread::yield();
  }
}

/// Strangers that say nothing, too little or nonsense come first, and stay.
TEST(Processes, StrangersDoNotHoldUpTheStart) {
  const int port = free_port();
  const auto meet = [&](int rank) {
    socket_group group(rank, 3, "127.0.0.1", port, token, long_s);
    group.meet();
  };
  std::thread first([&] { EXPECT_NO_THROW(meet(0)); });
  std::vector<sptrsv_common::socket_owner> strangers;
  for (const std::size_t bytes : {0U, 0U, 5U, 16U, 400U}) {
    strangers.push_back(connect_to(port));
    const std::string text(bytes, 'x');
    EXPECT_EQ(::send(strangers.back().get(), text.data(), bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
  }
  strangers.front() = sptrsv_common::socket_owner();  // one goes before it has said anything
  std::thread second([&] { EXPECT_NO_THROW(meet(2)); });
  EXPECT_NO_THROW(meet(1));
  second.join();
  first.join();
}

TEST(Processes, ListenAtTheInterfaceOfTheHostOnly) {
  const int port = free_port();
  std::thread first([&] {
    socket_group group(0, 2, "127.0.0.1", port, token, long_s);
    group.meet();
  });
  const sptrsv_common::socket_owner stranger = connect_to(port);
  const sptrsv_common::socket_owner other(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);  // another address of this host
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  EXPECT_NE(::connect(other.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  socket_group group(1, 2, "127.0.0.1", port, token, long_s);
  group.meet();
  first.join();
}

/// A process that connects to a port where nobody accepts the connection waits until the time limit of the
/// start.
TEST(Processes, AConnectionThatIsNotTakenEndsAtTheTimeLimit) {
  const int port = free_port();
  const sptrsv_common::socket_owner listening(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(listening.get(), to, sizeof(address)), 0);
  ASSERT_EQ(::listen(listening.get(), 0), 0);
  std::vector<sptrsv_common::socket_owner> waiting;  // they fill the queue: further ones get no answer
  for (int i = 0; i < 8; ++i) {
    waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    static_cast<void>(::connect(waiting.back().get(), to, sizeof(address)));
  }
  try {
    const socket_group group(1, 2, "127.0.0.1", port, token, 0.01);
    ADD_FAILURE() << "nobody has answered";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_EQ(std::string(e.what()),
              "process 1 cannot connect to port " + std::to_string(port) + " within the time limit");
  }
}

/// A name service that cannot be reached does not hold up a start beyond its time limit.
TEST(Processes, ANameThatIsNotLookedUpInTimeIsRefused) {
  std::promise<void> end;
  const auto silent = [ended = end.get_future().share()](const std::string&, int flags, std::uint32_t&) {
    if (flags == 0) {
      ended.wait();
    }
    return EAI_NONAME;
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  try {
    sptrsv_common::find_address("node1", until, silent);
    ADD_FAILURE() << "nobody has answered";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_EQ(std::string(e.what()), "no address of node1 within the time limit");
  }
  end.set_value();
}

TEST(Processes, NumbersNeedNoNameService) {
  const auto only_numbers = [](const std::string& host, int flags, std::uint32_t& address) {
    return flags == AI_NUMERICHOST ? sptrsv_common::look_up_host(host, flags, address) : EAI_AGAIN;
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(600);
  EXPECT_EQ(sptrsv_common::find_address("127.0.0.1", until, only_numbers), htonl(INADDR_LOOPBACK));
  EXPECT_THROW(sptrsv_common::find_address("node1", until, only_numbers), error);
  EXPECT_EQ(sptrsv_common::find_address("localhost", until, sptrsv_common::look_up_host),
            htonl(INADDR_LOOPBACK));
}

TEST(Processes, TimeLimitsOfAStartAreChecked) {
  for (const double limit_s : {-1.0, std::nan(""), -HUGE_VAL}) {
    try {
      const socket_group group(1, 2, "127.0.0.1", 5000, token, limit_s);
      ADD_FAILURE() << limit_s;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::invalid_argument) << e.what();
    }
  }
  for (const double limit_s : {1e30, HUGE_VAL}) {
    const socket_group alone(0, 1, "127.0.0.1", free_port(), token, limit_s);
    EXPECT_EQ(alone.size(), 1);
  }
}

TEST(Processes, BadPortsAndTokensAreRefused) {
  const auto refuses = [](int port, const std::string& said) {
    try {
      const socket_group group(1, 2, "127.0.0.1", port, said, 0.01);
    } catch (const error& e) {
      return e.code() == errc::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refuses(0, token));
  EXPECT_TRUE(refuses(-1, token));
  EXPECT_TRUE(refuses(65536, token));
  EXPECT_TRUE(refuses(65536 + 5000, token));
  EXPECT_TRUE(refuses(5000, ""));
  EXPECT_TRUE(refuses(5000, "job 7"));
  EXPECT_TRUE(refuses(5000, std::string(64, 'x')));
}

/// A length of a message is not believed: it takes no memory before its bytes have come.
TEST(Processes, LengthsOfMessagesAreBounded) {
  for (const int bits : {39, 60, 63}) {
    auto sockets = socket_group::connect_pairs(2);
    const sptrsv_common::socket_owner other(sockets[1][0]);
    sockets[1].clear();
    socket_group group(sockets, 0, long_s);
    const std::uint64_t length = std::uint64_t{1} << bits;
    EXPECT_EQ(::send(other.get(), &length, sizeof(length), 0), static_cast<ssize_t>(sizeof(length)));
    if (bits == 39) {  // the other messages are refused by their length
      ::shutdown(other.get(), SHUT_WR);
    }
    try {
      group.meet();
      ADD_FAILURE() << "a message of " << length << " bytes";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::peer_failed);
      EXPECT_EQ(std::string(e.what()), bits == 39 ? "PE 1 has left the team"
                                                  : "PE 1 announces a message of " + std::to_string(length) +
                                                        " bytes, more than any message has");
    }
  }
}

TEST(Processes, AProcessThatDoesNotConnectIsNamed) {
  try {
    const socket_group group(0, 2, "127.0.0.1", free_port(), token, 0.01);
    ADD_FAILURE() << "nobody has connected";
  } catch (const error& e) {
    EXPECT_EQ(std::string(e.what()), "process 1 did not connect within the time limit");
  }
  EXPECT_THROW(socket_group(2, 2, "127.0.0.1", 1, token), error);
}

TEST(Processes, ErrorsThatAllPesThrowTogetherNameThePe) {
  const processes_result done = run_processes(2, long_s, [](process_group& group) -> std::string {
    try {
      detail::distributed::check_together(
          group, [&] { SPTRSV_EXPECTS(group.rank() != 1, errc::invalid_argument, "no such GPU"); });
    } catch (const error& e) {
      return e.what();
    }
    return {};
  });
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.result, "PE 1: no such GPU");
}

}  // namespace
}  // namespace sptrsv::testing
