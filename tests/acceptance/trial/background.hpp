// The other work that the GPU does during a case.
#pragma once

#include <memory>

namespace sptrsv_trial {

enum class background_work {
  none,
  solves,  ///< solves and copies of four other streams
  blocks,  ///< kernels that keep all multiprocessors occupied, with the lowest and the highest priority
  both
};

/// Returns the work in words.
const char* name_of(background_work work);

/// Keeps the GPU busy from threads of its own.
class background {
 public:
  explicit background(background_work work);
  background(const background&) = delete;  // its threads hold its address
  background& operator=(const background&) = delete;
  ~background();

  /// Ends the work. Returns whether the solutions of the other streams are right. Throws the exception of a
  /// thread, if any.
  [[nodiscard]] bool finish();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace sptrsv_trial
