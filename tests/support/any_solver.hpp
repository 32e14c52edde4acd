// Type erasure of solvers and of policies under test. The types that the suites use depend on the target and
// on the types of the matrix only, so that a test is compiled once for each set of these and not for each
// policy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/matrix.hpp"
#include "sptrsv/memory_resource.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::testing {

/// A solver with the interface of `sptrsv::solver`. Each call goes to the solver that it holds; a move moves
/// the solver that it holds.
template <class Types>
class any_solver {
 public:
  using value_type = typename Types::value;
  using stream_type = typename Types::target::stream_type;
  using input = dense_view<const value_type>;
  using output = dense_view<value_type>;

 private:
  struct held_workspace {
    virtual ~held_workspace() = default;
  };
  struct held_solver {
    virtual ~held_solver() = default;
    virtual std::unique_ptr<held_solver> moved() = 0;
    virtual void assign(held_solver& other) = 0;
    virtual void update_values(span<const value_type> values, stream_type stream) = 0;
    virtual void solve(input b, output x, stream_type stream) = 0;
    virtual void solve(input b, output x, value_type alpha, stream_type stream) = 0;
    virtual void solve(input b, output x, value_type alpha, held_workspace& scratch,
                       stream_type stream) const = 0;
    virtual std::unique_ptr<held_workspace> make_workspace(stream_type stream,
                                                           memory_resource* resource) const = 0;
    virtual solve_status status(stream_type stream) = 0;
    virtual solve_status status(held_workspace& scratch, stream_type stream) const = 0;
    virtual solver_info info() const = 0;
    virtual std::int64_t rows() const = 0;
  };

  template <class Solver>
  class holder final : public held_solver {
    static_assert(!std::is_copy_constructible_v<Solver>);
    static_assert(std::is_nothrow_move_constructible_v<Solver>);

   public:
    /// Holds what `make` returns.
    template <class Make>
    holder(std::in_place_t, const Make& make) : solver_(make()) {}

    std::unique_ptr<held_solver> moved() override {
      return std::make_unique<holder>(std::in_place, [this] { return std::move(solver_); });
    }
    void assign(held_solver& other) override { solver_ = std::move(dynamic_cast<holder&>(other).solver_); }
    void update_values(span<const value_type> values, stream_type stream) override {
      solver_.update_values(values, stream);
    }
    void solve(input b, output x, stream_type stream) override { solver_.solve(b, x, stream); }
    void solve(input b, output x, value_type alpha, stream_type stream) override {
      solver_.solve(b, x, alpha, stream);
    }
    void solve(input b, output x, value_type alpha, held_workspace& scratch,
               stream_type stream) const override {
      solver_.solve(b, x, alpha, of(scratch), stream);
    }
    std::unique_ptr<held_workspace> make_workspace(stream_type stream,
                                                   memory_resource* resource) const override {
      return std::make_unique<scratch_memory>(solver_.make_workspace(stream, resource));
    }
    solve_status status(stream_type stream) override { return solver_.status(stream); }
    solve_status status(held_workspace& scratch, stream_type stream) const override {
      return solver_.status(of(scratch), stream);
    }
    solver_info info() const override { return solver_.info(); }
    std::int64_t rows() const override { return solver_.rows(); }

   private:
    struct scratch_memory final : held_workspace {
      explicit scratch_memory(typename Solver::workspace&& made) : own(std::move(made)) {}
      typename Solver::workspace own;
    };
    static typename Solver::workspace& of(held_workspace& scratch) {
      return dynamic_cast<scratch_memory&>(scratch).own;
    }

    Solver solver_;
  };

 public:
  class workspace {
    friend class any_solver;
    explicit workspace(std::unique_ptr<held_workspace> made) : held_(std::move(made)) {}
    std::unique_ptr<held_workspace> held_;
  };

  /// Holds the solver that `make` returns.
  template <class Make>
  static any_solver holding(const Make& make) {
    return any_solver(std::make_unique<holder<decltype(make())>>(std::in_place, make));
  }
  any_solver(any_solver&& other) : held_(other.held_->moved()) {}
  any_solver& operator=(any_solver&& other) {
    held_->assign(*other.held_);
    return *this;
  }

  void update_values(span<const value_type> values, stream_type stream = {}) {
    held_->update_values(values, stream);
  }
  void solve(input b, output x, stream_type stream = {}) { held_->solve(b, x, stream); }
  void solve(input b, output x, value_type alpha, stream_type stream = {}) {
    held_->solve(b, x, alpha, stream);
  }
  void solve(input b, output x, value_type alpha, workspace& scratch, stream_type stream = {}) const {
    std::as_const(*held_).solve(b, x, alpha, *scratch.held_, stream);
  }
  [[nodiscard]] workspace make_workspace(stream_type stream = {}, memory_resource* resource = nullptr) const {
    return workspace(held_->make_workspace(stream, resource));
  }
  [[nodiscard]] solve_status status(stream_type stream = {}) { return held_->status(stream); }
  [[nodiscard]] solve_status status(workspace& scratch, stream_type stream = {}) const {
    return std::as_const(*held_).status(*scratch.held_, stream);
  }
  [[nodiscard]] solver_info info() const { return held_->info(); }
  [[nodiscard]] std::int64_t rows() const { return held_->rows(); }

 private:
  explicit any_solver(std::unique_ptr<held_solver> made) : held_(std::move(made)) {}

  std::unique_ptr<held_solver> held_;
};

/// A configured policy, for these types.
template <class Types>
class tested_policy {
 public:
  using csr = csr_view<typename Types::value, typename Types::index, typename Types::offset>;
  using csc = csc_view<typename Types::value, typename Types::index, typename Types::offset>;
  using stream_type = typename Types::target::stream_type;

  std::string case_name;      ///< of the policy, its configuration and the types
  std::string policy_name;    ///< what `info()` must return
  bool may_refuse = false;    ///< whether `analyze` may refuse a system for its size or shape
  double growth = 1;          ///< of the backward error, see support/subjects.hpp
  bool holds_indices = true;  ///< whether a solver holds an index for each entry

  virtual ~tested_policy() = default;
  virtual any_solver<Types> analyze(const csr& a, const system_options& options, stream_type stream,
                                    memory_resource* resource = nullptr) const = 0;
  virtual any_solver<Types> analyze(const csc& a, const system_options& options, stream_type stream,
                                    memory_resource* resource = nullptr) const = 0;
};

}  // namespace sptrsv::testing
