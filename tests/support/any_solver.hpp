// Type erasure of solvers and of policies under test. The types that the suites use depend on the target and
// on the types of the matrix only, so that a test is compiled once for each set of these and not for each
// policy.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/any/any_solver.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::testing {

/// A solver of any policy for these types.
template <class Types>
using any_solver = sptrsv::any_solver<typename Types::value, typename Types::index, typename Types::offset,
                                      typename Types::target::stream_type>;

/// A configured policy, for these types.
template <class Types>
class tested_policy {
 public:
  using csr = csr_view<typename Types::value, typename Types::index, typename Types::offset>;
  using csc = csc_view<typename Types::value, typename Types::index, typename Types::offset>;
  using bsr = bsr_view<typename Types::value, typename Types::index, typename Types::offset>;
  using stream_type = typename Types::target::stream_type;

  std::string case_name;      ///< of the policy, its configuration and the types
  std::string policy_name;    ///< what `info()` must return
  bool may_refuse = false;    ///< whether `analyze` may refuse a system for its size or shape
  double growth = 1;          ///< of the backward error, see support/subjects/subject.hpp
  bool holds_indices = true;  ///< whether a solver holds an index for each entry

  virtual ~tested_policy() = default;
  virtual any_solver<Types> analyze(const csr& a, const system_options& options, stream_type stream,
                                    memory_resource* resource = nullptr) const = 0;
  virtual any_solver<Types> analyze(const csc& a, const system_options& options, stream_type stream,
                                    memory_resource* resource = nullptr) const = 0;
  virtual any_solver<Types> analyze(const bsr& a, const system_options& options, stream_type stream,
                                    memory_resource* resource = nullptr) const = 0;
  /// Returns the solver of `a` after it was assigned to the solver of `other`. The solver itself is moved: a
  /// move of any_solver moves a pointer.
  virtual any_solver<Types> analyze_and_assign(const csr& a, const csr& other, const system_options& options,
                                               stream_type stream) const = 0;
  virtual any_solver<Types> analyze_and_assign(const csc& a, const csc& other, const system_options& options,
                                               stream_type stream) const = 0;
};

/// A tested_policy of type `Policy`.
template <class Types, class Policy>
class tested_policy_of : public tested_policy<Types> {
  using base = tested_policy<Types>;
  using typename base::bsr;
  using typename base::csc;
  using typename base::csr;
  using typename base::stream_type;

 public:
  explicit tested_policy_of(const Policy& policy) : policy_(policy) { this->policy_name = Policy::name; }

  any_solver<Types> analyze(const csr& a, const system_options& options, stream_type stream,
                            memory_resource* resource) const override {
    return sptrsv::analyze(policy_, a, options, stream, resource);
  }
  any_solver<Types> analyze(const csc& a, const system_options& options, stream_type stream,
                            memory_resource* resource) const override {
    return sptrsv::analyze(policy_, a, options, stream, resource);
  }
  any_solver<Types> analyze(const bsr& a, const system_options& options, stream_type stream,
                            memory_resource* resource) const override {
    return sptrsv::analyze(policy_, a, options, stream, resource);
  }
  any_solver<Types> analyze_and_assign(const csr& a, const csr& other, const system_options& options,
                                       stream_type stream) const override {
    return assigned(a, other, options, stream);
  }
  any_solver<Types> analyze_and_assign(const csc& a, const csc& other, const system_options& options,
                                       stream_type stream) const override {
    return assigned(a, other, options, stream);
  }

 private:
  template <class View>
  any_solver<Types> assigned(const View& a, const View& other, const system_options& options,
                             stream_type stream) const {
    auto to = sptrsv::analyze(policy_, other, options, stream);
    static_assert(!std::is_copy_constructible_v<decltype(to)>);
    static_assert(std::is_nothrow_move_constructible_v<decltype(to)>);
    auto from = sptrsv::analyze(policy_, a, options, stream);
    to = std::move(from);
    return any_solver<Types>(std::move(to));
  }

  Policy policy_;
};

}  // namespace sptrsv::testing
