// SPDX-License-Identifier: Apache-2.0
// Remembers whether a call that enqueues several pieces of work has enqueued all of them.
#pragma once

#include <string>

#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The last call of one kind on an object. If it ends by an exception, some of its work may be enqueued and
/// the rest is missing.
class whole_call {
 public:
  /// Calls `enqueue`.
  template <class Enqueue>
  void run(const Enqueue& enqueue) {
    is_whole_ = false;
    enqueue();
    is_whole_ = true;
  }

  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Throws errc::invalid_argument if the last call has failed. `what`: its name. `remedy`: what to do.
  void expect_whole(const char* what, const char* remedy) const {
    SPTRSV_EXPECTS(is_whole_, errc::invalid_argument,
                   std::string("the last ") + what + " failed before all its work was enqueued: " + remedy);
  }

 private:
  bool is_whole_ = true;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
