// The trees along which PEs hand on x and sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sptrsv::detail::distributed {

/// A tree of PEs. Position 0 is the root. With at most `flat` children in all, they are all children of the
/// root; otherwise each position has two.
class pe_tree {
 public:
  /// `others`: the PEs besides the root, ascending.
  pe_tree(int root, const std::vector<int>& others, int flat)
      : flat_(static_cast<int>(others.size()) <= flat) {
    members_.push_back(root);
    members_.insert(members_.end(), others.begin(), others.end());
  }

  [[nodiscard]] int root() const { return members_.front(); }
  [[nodiscard]] const std::vector<int>& members() const { return members_; }
  [[nodiscard]] bool has(int pe) const { return position(pe) < members_.size(); }
  /// Returns the parent of a member; -1 for the root.
  [[nodiscard]] int parent(int pe) const {
    const std::size_t at = position(pe);
    return at == 0 ? -1 : members_[flat_ ? 0 : (at - 1) / 2];
  }
  /// Returns the number of messages between the root and a member.
  [[nodiscard]] int depth(int pe) const {
    int depth = 0;
    for (int at = pe; at != root(); at = parent(at)) {
      ++depth;
    }
    return depth;
  }
  [[nodiscard]] std::vector<int> children(int pe) const {
    const std::size_t at = position(pe);
    const std::size_t begin = flat_ ? (at == 0 ? 1 : members_.size()) : 2 * at + 1;
    const std::size_t end = std::min(members_.size(), flat_ ? members_.size() : 2 * at + 3);
    return begin < end ? std::vector<int>(members_.begin() + static_cast<std::ptrdiff_t>(begin),
                                          members_.begin() + static_cast<std::ptrdiff_t>(end))
                       : std::vector<int>{};
  }

 private:
  [[nodiscard]] std::size_t position(int pe) const {
    return static_cast<std::size_t>(std::find(members_.begin(), members_.end(), pe) - members_.begin());
  }

  std::vector<int> members_;
  bool flat_;
};

}  // namespace sptrsv::detail::distributed
