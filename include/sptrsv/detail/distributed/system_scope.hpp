// Flagged values (sync/value_flag.hpp) that PEs store into each other's memory.
#pragma once

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::distributed {

/// A context whose relaxed accesses have system scope.
template <class Context>
class system_scope {
 public:
  SPTRSV_DEVICE explicit system_scope(Context& ctx) : ctx_(ctx) {}

  template <class T>
  SPTRSV_DEVICE T load_relaxed(const T* p) {
    return ctx_.load_relaxed_system(p);
  }
  template <int Count, class T>
  SPTRSV_DEVICE void load_relaxed_words(const T* p, T* to) {
    ctx_.template load_relaxed_system_words<Count>(p, to);
  }
  template <int Count, class T>
  SPTRSV_DEVICE void store_relaxed_words(T* p, const T* words) {
    ctx_.template store_relaxed_system_words<Count>(p, words);
  }
  template <class T>
  SPTRSV_DEVICE void pause(const T* p) {
    ctx_.pause(p);
  }

 private:
  Context& ctx_;
};

}  // namespace sptrsv::detail::distributed
