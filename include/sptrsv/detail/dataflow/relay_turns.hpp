// The turns of a relay's teams, in which they take the steps of a part.
#pragma once

#include "sptrsv/detail/dataflow/relay_shape.hpp"

namespace sptrsv::detail::dataflow {

/// Of a thread. A team waits for its turn at a barrier of its own, where the team before it arrives when its
/// step is done. A team hands over always, even if no step is left for the next one: a condition there would
/// be on the way of every step. So the last team hands the first turn to the first one, and the team that
/// would be next at the end takes the turn for which there is no step.
template <class Shape, class Context, int Teams>
class relay_turns {
 public:
  /// `team`: the thread's, in a register that the compiler cannot derive, as shuffles give one: otherwise it
  /// computes the barriers' numbers after a turn has come.
  template <class Warp>
  SPTRSV_DEVICE relay_turns(Context& ctx, const Warp& warp, int team)
      : ctx_(ctx),
        own_(warp.shuffle(1 + team, 0)),
        next_(warp.shuffle(team + 1 == Teams ? 1 : 2 + team, 0)) {}

  SPTRSV_DEVICE void wait() const { ctx_.template barrier_wait<2 * Shape::threads>(own_); }
  SPTRSV_DEVICE void hand_over() const { ctx_.template barrier_arrive<2 * Shape::threads>(next_); }

 private:
  Context& ctx_;
  int own_;
  int next_;
};

}  // namespace sptrsv::detail::dataflow
