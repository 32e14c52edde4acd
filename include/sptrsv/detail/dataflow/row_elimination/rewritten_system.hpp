// SPDX-License-Identifier: Apache-2.0
// A rewritten system: rows are rewritten in row blocks of 32 rows, or by runs of levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_plan.hpp"
#include "sptrsv/detail/dataflow/row_elimination/row_elimination_plan.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail::dataflow::row_elimination {

template <class Scalar, class Index, class Offset, class Executor>
class rewritten_system {
 public:
  using by_row_blocks = plan<Scalar, Index, Offset, Executor>;
  using by_levels = level_runs::plan<Scalar, Index, Offset, Executor>;

  explicit rewritten_system(by_row_blocks&& made) : made_(std::move(made)) {}
  explicit rewritten_system(by_levels&& made) : made_(std::move(made)) {}

  // The members of the two kinds; see there.

  [[nodiscard]] std::int64_t rewritten() const {
    return std::visit([](const auto& m) { return m.rewritten(); }, made_);
  }
  [[nodiscard]] pattern_view<Index, Offset> pattern() const {
    return std::visit([](const auto& m) { return m.pattern(); }, made_);
  }
  [[nodiscard]] const Scalar* values() const {
    return std::visit([](const auto& m) { return m.values(); }, made_);
  }
  /// Makes the pattern, if the constructor did not; before pattern().
  void make_pattern(const Executor& on, const analysis_memory& memory) {
    if (auto* const levels = std::get_if<by_levels>(&made_); levels != nullptr) {
      levels->make_pattern(on, memory);
    }
  }
  void keep(const Executor& on, memory_resource& resource) {
    std::visit([&](auto& m) { m.keep(on, resource); }, made_);
  }
  /// Allocates the values, if the constructor did not; before update_values().
  void make_values(const Executor& on, memory_resource& resource) {
    if (auto* const levels = std::get_if<by_levels>(&made_); levels != nullptr) {
      levels->make_values(on, resource);
    }
  }
  void update_values(const Scalar* stored, const Executor& on) {
    std::visit([&](auto& m) { m.update_values(stored, on); }, made_);
  }
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    return std::visit([&](const auto& m) { return m.first_grown_index(on); }, made_);
  }
  void transform(Scalar alpha, dense_view<const Scalar> b, Scalar* c, const Executor& on) const {
    std::visit([&](const auto& m) { m.transform(alpha, b, c, on); }, made_);
  }
  /// Returns the entries of the right-hand sides if a kernel can combine them, otherwise null.
  [[nodiscard]] const by_levels* combinable() const { return std::get_if<by_levels>(&made_); }
  [[nodiscard]] std::size_t transform_bytes() const {
    return std::visit([](const auto& m) { return m.transform_bytes(); }, made_);
  }
  /// Returns how rows are rewritten, as a part of a sentence.
  [[nodiscard]] std::string kind() const {
    return combinable() == nullptr ? ""
                                   : " in runs of " + std::to_string(combinable()->run_levels()) + " levels";
  }
  [[nodiscard]] std::size_t bytes() const {
    return std::visit([](const auto& m) { return m.bytes(); }, made_);
  }
  [[nodiscard]] kernel_info describe() const {
    return std::visit([](const auto& m) { return m.describe(); }, made_);
  }

 private:
  std::variant<by_row_blocks, by_levels> made_;
};

}  // namespace sptrsv::detail::dataflow::row_elimination
