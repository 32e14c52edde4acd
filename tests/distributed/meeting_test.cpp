// The barrier of the PEs that are threads of one process.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sptrsv/detail/distributed/pe_threads.hpp"

namespace sptrsv::testing {
namespace {

using detail::distributed::meeting;
using detail::distributed::pe_has_left;

/// Calls body(rank) on a thread for each rank.
void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back(body, rank);
  }
  for (std::thread& t : threads) {
    t.join();
  }
}

TEST(Meeting, ExchangesMessagesOfAnySize) {
  constexpr int size = 5;
  meeting all(size);
  on_threads(size, [&](int rank) {
    for (int round = 0; round < 200; ++round) {
      std::vector<std::vector<std::byte>> to;
      for (int r = 0; r < size; ++r) {
        to.emplace_back(static_cast<std::size_t>(r + round % 3), static_cast<std::byte>(10 * rank + r));
      }
      const auto received = all.exchange(rank, to);
      ASSERT_EQ(received.size(), static_cast<std::size_t>(size));
      for (int r = 0; r < size; ++r) {
        EXPECT_EQ(received[static_cast<std::size_t>(r)],
                  std::vector<std::byte>(static_cast<std::size_t>(rank + round % 3),
                                         static_cast<std::byte>(10 * r + rank)));
      }
    }
  });
}

TEST(Meeting, NobodyWaitsForAThreadThatHasLeft) {
  meeting all(3);
  std::vector<std::string> errors(3);
  on_threads(3, [&](int rank) {
    all.wait();
    if (rank == 1) {
      all.leave(rank);
      return;
    }
    for (int time = 0; time < 2; ++time) {  // the second time without a wait
      try {
        all.wait();
      } catch (const pe_has_left& e) {
        errors[static_cast<std::size_t>(rank)] += e.what();
      }
    }
  });
  EXPECT_EQ(errors[0], "PE 1 has left the teamPE 1 has left the team");
  EXPECT_EQ(errors[2], errors[0]);
}

/// A thread leaves right after the last meeting: the others have met, too.
TEST(Meeting, ALeaverDoesNotDisturbAMeetingThatIsComplete) {
  for (int time = 0; time < 50; ++time) {
    meeting all(4);
    on_threads(4, [&](int rank) {
      EXPECT_NO_THROW(all.wait());
      all.leave(rank);
    });
  }
}

}  // namespace
}  // namespace sptrsv::testing
