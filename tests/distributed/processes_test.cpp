// Processes as PEs: what they exchange, and how they end if one of them fails.
#include "common/processes/processes.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sptrsv/detail/distributed/team.hpp"

namespace sptrsv::testing {
namespace {

using sptrsv_common::processes_result;
using sptrsv_common::run_processes;

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
                     ? 1
                     : 0;
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
  process_group alone(process_group::connect_pairs(2), 0, 0.01);  // the sockets of PE 1 are closed here,
  EXPECT_THROW(alone.meet(), detail::distributed::pe_has_left);   // as if it had ended
  auto sockets = process_group::connect_pairs(2);
  const std::vector<int> others{sockets[1]};
  sockets[1].clear();
  process_group waiting(sockets, 0, 0.01);
  try {
    waiting.meet();
    ADD_FAILURE() << "nobody has come";
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()), "PE 1 did not come within 0.01 s");
  }
  process_group::close_all({others});
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
  auto sockets = process_group::connect_pairs(2);
  for (const int rank : {-1, 2, INT_MAX, INT_MIN}) {
    EXPECT_EQ(code([&] { process_group(sockets, rank); }), errc::invalid_argument) << rank;
  }
  EXPECT_EQ(code([&] { process_group({}, 0); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { process_group({{}, {}}, 0); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { process_group({{-1}, {}}, 0); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { process_group(sockets, 0, -1); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { process_group(sockets, 0, std::nan("")); }), errc::invalid_argument);
  EXPECT_EQ(code([&] { process_group::connect_pairs(0); }), errc::invalid_argument);
  process_group group(sockets, 0, 0.01);
  EXPECT_EQ(code([&] { group.exchange({}); }), errc::size_mismatch);
  EXPECT_EQ(code([&] { group.exchange(std::vector<std::vector<std::byte>>(3)); }), errc::size_mismatch);
  EXPECT_EQ(code([&] { group.meet(); }), errc::io_error);  // the sockets of PE 1 are closed here
}

TEST(Processes, PesThatDoNotEndAreEnded) {
  const processes_result done = run_processes(2, 0.01, [](process_group&) -> std::string {
    for (;;) {
      pause();
    }
  });
  EXPECT_EQ(done.failure, "PE 0 has not ended within 0.01 s");
}

/// Returns a port of this host that is free.
int free_port() {
  const detail::distributed::socket_owner any(::socket(AF_INET, SOCK_STREAM, 0));
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
    process_group group(forked.rank(), forked.size(), "127.0.0.1", port, "job 7", long_s);
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
TEST(Processes, WhoDoesNotKnowTheKeyIsNotLetIn) {
  const int port = free_port();
  const auto meet = [&](int rank, const char* key) {
    process_group group(rank, 2, "127.0.0.1", port, key, long_s);
    group.meet();
  };
  std::thread first([&] { EXPECT_NO_THROW(meet(0, "key")); });
  bool is_refused = false;
  try {
    const process_group stranger(1, 2, "127.0.0.1", port, "another key", long_s);
  } catch (const error&) {
    is_refused = true;
    meet(1, "key");
  }
  first.join();
  EXPECT_TRUE(is_refused);
}

TEST(Processes, AProcessThatDoesNotConnectIsNamed) {
  try {
    const process_group group(0, 2, "127.0.0.1", free_port(), "", 0.01);
    ADD_FAILURE() << "nobody has connected";
  } catch (const error& e) {
    EXPECT_EQ(std::string(e.what()), "process 1 did not connect within the time limit");
  }
  EXPECT_THROW(process_group(2, 2, "127.0.0.1", 0, ""), error);
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
