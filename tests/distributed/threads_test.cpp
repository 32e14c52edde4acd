// PEs that are threads: how the others end if one of them fails or cannot start.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "sptrsv/detail/distributed/pe_threads.hpp"

namespace sptrsv::testing {
namespace {

using detail::distributed::meeting;
using detail::distributed::run_pes;

/// A std::thread that fails to start when the third one is made.
class scarce_thread : public std::thread {
 public:
  template <class Body>
  explicit scarce_thread(Body&& body) : std::thread(start(std::forward<Body>(body))) {}

  static inline int started = 0;

 private:
  template <class Body>
  static std::thread start(Body&& body) {
    if (++started == 3) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    return std::thread(std::forward<Body>(body));
  }
};

TEST(Threads, ThatCannotStartEndTheOthers) {
  meeting together(4);
  std::atomic<int> waiting{0};
  try {
    run_pes<scarce_thread>(4, together, [&](int) {
      ++waiting;
      together.wait();
      ADD_FAILURE() << "all have come";
    });
    ADD_FAILURE() << "all have started";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_EQ(std::string(e.what()).rfind("PE 2: its thread cannot start: ", 0), 0u) << e.what();
  }
  EXPECT_EQ(waiting, 2);
}

/// Returns what run_pes throws if PE 1 of 3 throws `thrown`; the others wait for it.
template <class Thrown>
Thrown thrown_on(const Thrown& thrown) {
  meeting together(3);
  try {
    run_pes(3, together, [&](int pe) {
      if (pe == 1) {
        throw thrown;
      }
      together.wait();
    });
  } catch (const Thrown& e) {
    return e;
  }
  throw std::logic_error("nothing was thrown");
}

TEST(Threads, ExceptionsKeepTheirType) {
  EXPECT_EQ(thrown_on(7), 7);
  EXPECT_STREQ(thrown_on(std::out_of_range("too far")).what(), "too far");
  EXPECT_EQ(thrown_on(parse_error("no number", 3)).line(), 3);
  const error named = thrown_on(error(errc::missing_diagonal, "no diagonal", 5));
  EXPECT_STREQ(named.what(), "PE 1: no diagonal");
  EXPECT_EQ(named.code(), errc::missing_diagonal);
  EXPECT_EQ(named.row().value_or(-1), 5);
}

}  // namespace
}  // namespace sptrsv::testing
