// When several workers solve, by the times that solves took.
#include "sptrsv/detail/host_parallel/host_parallel_choice.hpp"

#include <gtest/gtest.h>

namespace sptrsv::testing {
namespace {

using detail::worker_record;

/// Solves with these times of one worker and of several. Returns the time of all solves.
double solve(worker_record& record, int solves, double one_worker, double several,
             int* by_several = nullptr) {
  double sum = 0;
  for (int i = 0; i < solves; ++i) {
    const bool together = record.takes_several(1);
    const double time = together ? several : one_worker;
    record.add(together, 1, time);
    sum += time;
    if (by_several != nullptr) {
      *by_several += together ? 1 : 0;
    }
  }
  return sum;
}

TEST(WorkerRecord, MeasuresOneWorkerFirst) {
  worker_record record;
  EXPECT_FALSE(record.takes_several(1));
  record.add(false, 1, 100);
  EXPECT_TRUE(record.takes_several(1));
  EXPECT_FALSE(record.takes_several(2)) << "the time of one worker with two right-hand sides is not known";
  EXPECT_TRUE(worker_record(100).takes_several(1));
}

TEST(WorkerRecord, KeepsSeveralWorkersThatGain) {
  worker_record record(100);
  int by_several = 0;
  solve(record, 1000, 100, 70, &by_several);
  EXPECT_GT(by_several, 980);
  EXPECT_LT(by_several, 1000) << "the time of one worker is never measured again";
}

TEST(WorkerRecord, LosesLittleTimeWhereTheCoresAreBusy) {
  worker_record record(100);
  EXPECT_LT(solve(record, 10000, 100, 1000), 1.05 * 10000 * 100);
  EXPECT_LT(solve(record, 10000, 100, 5000), 1.05 * 10000 * 100);
}

TEST(WorkerRecord, ReturnsToSeveralWorkersWhenTheCoresAreFree) {
  worker_record record(100);
  solve(record, 10000, 100, 1000);
  solve(record, 2000, 100, 70);
  int by_several = 0;
  solve(record, 1000, 100, 70, &by_several);
  EXPECT_GT(by_several, 980);
}

TEST(WorkerRecord, ForgivesADisturbanceSoon) {
  worker_record record(100);
  solve(record, 200, 100, 70);
  record.add(true, 1, 1000);
  EXPECT_FALSE(record.takes_several(1));
  solve(record, 20, 100, 70);
  EXPECT_TRUE(record.takes_several(1));
}

}  // namespace
}  // namespace sptrsv::testing
