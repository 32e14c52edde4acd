// A configured policy under test, and lists of them.
#pragma once

namespace sptrsv::testing {

/// A configured policy under test.
template <class Policy>
struct subject {
  using policy_type = Policy;
  /// True if `analyze` may refuse a system for its size or shape.
  static constexpr bool may_refuse = false;
  /// The largest backward error as a multiple of that of substitution; 1: rows are solved as in substitution,
  /// so that infinities are the same, too.
  static constexpr double growth = 1;
  /// True if a solver of this policy stores an index for each entry.
  static constexpr bool holds_indices = true;
  static Policy make() { return {}; }
};

/// Subjects that share kernels: one policy type, or policies made of it. If their index types agree, their
/// kernels are compiled once.
template <class... Subjects>
struct same_policy {};

template <class... Groups>
struct policy_groups {};

}  // namespace sptrsv::testing
