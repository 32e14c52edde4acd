// Matrices that may be invalid in any way: arrays and counts without invariants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/solver.hpp"

namespace sptrsv::testing {

struct raw_matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> indices;
  bool by_columns = false;

  /// Lower or upper triangle or anything else: `minors[m]` are the indices of row (column) m.
  static raw_matrix of(const std::vector<std::vector<std::int64_t>>& minors) {
    raw_matrix made;
    made.rows = made.columns = static_cast<std::int64_t>(minors.size());
    made.offsets.push_back(0);
    for (const auto& of_major : minors) {
      made.indices.insert(made.indices.end(), of_major.begin(), of_major.end());
      made.offsets.push_back(static_cast<std::int64_t>(made.indices.size()));
    }
    made.entries = static_cast<std::int64_t>(made.indices.size());
    return made;
  }
};

/// The exception of an action; empty if the action did not throw.
struct failure {
  errc code;
  std::optional<std::int64_t> row;
  std::string message;

  template <class Action>
  static std::optional<failure> of(Action&& action) {
    try {
      std::forward<Action>(action)();
    } catch (const error& e) {
      return failure{e.code(), e.row(), e.what()};
    }
    return std::nullopt;
  }
  [[nodiscard]] bool mentions(const std::string& words) const {
    return message.find(words) != std::string::npos;
  }
};

/// The arrays of a raw_matrix in the memory of `Target`, in the types of a matrix.
template <class Target, class Value, class Index, class Offset>
struct raw_arrays {
  template <class T>
  using array = typename Target::template array<T>;

  raw_arrays(Target& where, const raw_matrix& from)
      : shape(from),
        offsets(where.upload(converted<Offset>(from.offsets))),
        indices(where.upload(converted<Index>(from.indices))),
        values(where.upload(std::vector<Value>(from.indices.size(), Value(1)))) {}

  /// Calls `use` with a csr_view or a csc_view.
  template <class Use>
  auto visit(Use&& use) const {
    return shape.by_columns
               ? use(csc_view<Value, Index, Offset>{shape.rows, shape.columns, shape.entries, offsets.data(),
                                                    indices.data(), values.data()})
               : use(csr_view<Value, Index, Offset>{shape.rows, shape.columns, shape.entries, offsets.data(),
                                                    indices.data(), values.data()});
  }

  raw_matrix shape;
  array<Offset> offsets;
  array<Index> indices;
  array<Value> values;

 private:
  template <class T>
  static std::vector<T> converted(const std::vector<std::int64_t>& from) {
    std::vector<T> made;
    for (const std::int64_t v : from) {
      made.push_back(static_cast<T>(v));
    }
    return made;
  }
};

}  // namespace sptrsv::testing
