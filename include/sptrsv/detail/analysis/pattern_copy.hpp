// SPDX-License-Identifier: Apache-2.0
// A copy of a pattern in host memory.
#pragma once

#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// A copy of a pattern that is in the memory of an executor.
template <class Index, class Offset>
class pattern_copy {
 public:
  /// Copies the arrays, unchecked. Synchronises.
  template <class Executor>
  pattern_copy(const pattern_view<Index, Offset>& a, const Executor& on)
      : offsets_(download_array(a.offsets, a.size > 0 ? a.size + 1 : 0, on)),
        indices_(download_array(a.indices, a.entries, on)),
        view_{a} {
    offsets_.resize(at(a.size) + 1);
    view_.offsets = offsets_.data();
    view_.indices = indices_.data();
  }
  pattern_copy(const pattern_copy&) = delete;
  pattern_copy& operator=(const pattern_copy&) = delete;

  [[nodiscard]] const pattern_view<Index, Offset>& view() const { return view_; }

 private:
  std::vector<Offset> offsets_;
  std::vector<Index> indices_;
  pattern_view<Index, Offset> view_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
