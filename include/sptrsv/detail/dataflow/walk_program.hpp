// The program of a walk, made on the host: which row is solved in which step, and where each of its entries
// finds the component that it needs.
//
// Solved components go round a window in shared memory: row r of step s writes component
// 1 + (s mod W) * rows + r of it, W being the window's length in steps; component 0 is zero. Rows stand one
// after the other, and a step ends early where a row needs one of the step that is out of its reach. Three
// kinds of rows keep every step in one shape:
// - rows of the system;
// - partial rows: a row of more entries than a step has room for hands its oldest ones to rows of their own,
//   whose value (minus their sum) it takes with the factor -1;
// - fetched rows: components that have left the window come back into it, read from x, as a row without
//   entries whose right-hand side is that component.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sptrsv/detail/dataflow/walk_shape.hpp"

namespace sptrsv::detail::dataflow {

/// A triangle on the host: strictly lower, by rows, in the order of substitution.
template <class Index, class Offset>
struct host_rows {
  std::vector<Offset> row_offsets;
  std::vector<Index> columns;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(row_offsets.size()) - 1; }
  [[nodiscard]] std::int64_t length(std::int64_t row) const {
    const auto r = static_cast<std::size_t>(row);
    return static_cast<std::int64_t>(row_offsets[r + 1] - row_offsets[r]);
  }
};

/// Where the number of an entry goes: a slot of the steps' values, or, with this bit, row-in-program times
/// rows-of-a-step plus column-in-step.
inline constexpr std::uint32_t inner_bit = 1u << 31;

struct walk_program {
  walk_shape_values shape{};
  std::int64_t steps = 0;
  std::int64_t window = 0;                  ///< components, besides the zero
  std::vector<std::uint16_t> operands;      ///< by slot: component of the window
  std::vector<walk_row> rows;               ///< by row in the program: step * rows + row in step
  std::vector<std::uint32_t> entry_places;  ///< by entry of the triangle
  std::vector<std::uint32_t> link_places;   ///< of the factors -1
  std::vector<std::uint32_t> row_places;    ///< by row of the triangle: row in the program
  std::int64_t fetches = 0;
};

template <class Index, class Offset>
class walk_program_builder {
 public:
  /// `window_steps` at least twice the shape's fetch distance.
  walk_program_builder(const host_rows<Index, Offset>& rows, const walk_shape_values& shape,
                       std::int64_t window_steps, bool reversed)
      : in_(rows),
        rows_(shape.rows),
        capacity_(shape.row_capacity()),
        window_steps_(window_steps),
        reversed_(reversed),
        filled_(shape.rows) {
    p_.shape = shape;
    p_.window = window_steps * shape.rows;
    p_.entry_places.resize(rows.columns.size());
    p_.row_places.resize(rows.row_offsets.size() - 1);
  }

  /// `order`: rows, each after those it needs. None if the window is too short for this triangle.
  std::optional<walk_program> build(const std::vector<Index>& order) {
    std::vector<term> terms;
    for (std::size_t i = 0; i < order.size() && !failed_; ++i) {
      const Index row = order[i];
      terms.clear();
      const auto r = static_cast<std::size_t>(row);
      for (auto e = static_cast<std::size_t>(in_.row_offsets[r]);
           e < static_cast<std::size_t>(in_.row_offsets[r + 1]); ++e) {
        terms.push_back(
            {p_.row_places[static_cast<std::size_t>(in_.columns[e])], static_cast<std::uint32_t>(e)});
      }
      const auto x_row = static_cast<std::int32_t>(reversed_ ? in_.size() - 1 - row : row);
      p_.row_places[r] = place_row({x_row, x_row}, terms);
    }
    while (p_.steps % p_.shape.chunk_steps != 0) {
      add_step();
    }
    p_.window = std::min(p_.window, p_.steps * rows_);
    return failed_ ? std::nullopt : std::optional<walk_program>(std::move(p_));
  }

 private:
  struct term {
    std::uint32_t place;  ///< of the row that it takes
    std::uint32_t entry;  ///< of the triangle, or a link
  };
  static constexpr std::uint32_t link_bit = 1u << 31;

  [[nodiscard]] std::int64_t step_of(std::uint32_t place) const { return place / rows_; }

  /// Puts the row into the first step that can take it.
  std::uint32_t place_row(const walk_row& row, std::vector<term>& terms) {
    while (!failed_) {
      shorten(terms);
      const std::int64_t step = step_for(terms);
      if (!bring_back(terms, step)) {
        return put(row, terms, step);
      }
    }
    return 0;
  }

  /// The first step that can take the row: the last one, or a new one.
  [[nodiscard]] std::int64_t step_for(const std::vector<term>& terms) const {
    const std::int64_t last = p_.steps - 1;
    const bool too_far = std::any_of(terms.begin(), terms.end(), [&](const term& t) {
      return step_of(t.place) == last &&
             filled_ - static_cast<int>(t.place % static_cast<std::uint32_t>(rows_)) > p_.shape.reach;
    });
    return filled_ == rows_ || too_far ? last + 1 : last;
  }

  /// Hands the oldest terms to partial rows until the rest fits.
  void shorten(std::vector<term>& terms) {
    const auto room = static_cast<std::size_t>(capacity_);
    for (std::size_t outer = outer_terms(terms); outer > room && !failed_; outer = outer_terms(terms)) {
      std::sort(terms.begin(), terms.end(), [](const term& a, const term& b) { return a.place < b.place; });
      const std::size_t parts = std::min((outer - room + room - 2) / (room - 1), outer / room);
      std::vector<term> rest;
      std::vector<term> part;
      for (std::size_t k = 0; k < parts; ++k) {
        part.assign(terms.begin() + static_cast<std::ptrdiff_t>(k * room),
                    terms.begin() + static_cast<std::ptrdiff_t>((k + 1) * room));
        const std::uint32_t place = place_row({no_row, no_row}, part);
        rest.push_back({place, link_bit | static_cast<std::uint32_t>(p_.link_places.size())});
        p_.link_places.push_back(0);
      }
      rest.insert(rest.end(), terms.begin() + static_cast<std::ptrdiff_t>(parts * room), terms.end());
      terms.swap(rest);
    }
  }
  /// Terms that the row would take from earlier steps if it were placed now.
  [[nodiscard]] std::size_t outer_terms(const std::vector<term>& terms) const {
    const std::int64_t step = step_for(terms);
    return static_cast<std::size_t>(
        std::count_if(terms.begin(), terms.end(), [&](const term& t) { return step_of(t.place) < step; }));
  }

  /// Replaces terms that will have left the window in `step`; true if the row can no longer stand in `step`:
  /// fetched rows may have taken its place, and then one more term may be an outer one.
  bool bring_back(std::vector<term>& terms, std::int64_t step) {
    for (term& t : terms) {
      if (step - step_of(t.place) >= window_steps_) {
        t.place = fetch(t.place, step);
      }
    }
    return failed_ || step_for(terms) != step || outer_terms(terms) > static_cast<std::size_t>(capacity_);
  }

  std::uint32_t fetch(std::uint32_t place, std::int64_t step) {
    const std::int32_t x_row = p_.rows[place].target;
    if (x_row == no_row) {  // a partial row
      failed_ = true;
      return place;
    }
    const auto known = fetched_.find(x_row);
    if (known != fetched_.end() && step - step_of(known->second) < window_steps_) {
      return known->second;
    }
    const std::uint32_t made = put({fetched(x_row), no_row}, {}, step_for({}));
    ++p_.fetches;
    return fetched_[x_row] = made;
  }

  std::uint32_t put(const walk_row& row, const std::vector<term>& terms, std::int64_t step) {
    if (step == p_.steps) {
      add_step();
    }
    const auto place = static_cast<std::uint32_t>(step * rows_ + filled_++);
    p_.rows[place] = row;
    std::uint32_t outer = 0;
    for (const term& t : terms) {
      std::uint32_t to = 0;
      if (step_of(t.place) == step) {
        to = inner_bit |
             (place * static_cast<std::uint32_t>(rows_) + t.place % static_cast<std::uint32_t>(rows_));
      } else {
        to = p_.shape.slot(place, outer);
        p_.operands[to] = static_cast<std::uint16_t>(1 + t.place % p_.window);
        ++outer;
      }
      ((t.entry & link_bit) != 0 ? p_.link_places[t.entry & ~link_bit] : p_.entry_places[t.entry]) = to;
    }
    return place;
  }

  void add_step() {
    ++p_.steps;
    filled_ = 0;
    failed_ = failed_ || p_.steps * rows_ * std::max(capacity_, rows_) >= inner_bit;
    p_.rows.resize(static_cast<std::size_t>(p_.steps * rows_), {no_row, no_row});
    p_.operands.resize(static_cast<std::size_t>(p_.steps * rows_ * capacity_), 0);
  }

  const host_rows<Index, Offset>& in_;
  int rows_;
  int capacity_;
  std::int64_t window_steps_;
  bool reversed_;
  int filled_;  ///< rows that the last step holds
  bool failed_ = false;
  walk_program p_;
  std::unordered_map<std::int32_t, std::uint32_t> fetched_;  ///< by row of x: where it came back last
};

}  // namespace sptrsv::detail::dataflow
