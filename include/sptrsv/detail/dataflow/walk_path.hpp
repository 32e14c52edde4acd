// The host side of a walk: its program in device memory, its numbers, its launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/dataflow/walk_agent.hpp"
#include "sptrsv/detail/dataflow/walk_values.hpp"
#include "sptrsv/memory_resource.hpp"

namespace sptrsv::detail::dataflow {

/// What one solve in flight leaves for the host.
class walk_memory {
 public:
  template <class Executor>
  walk_memory(std::int64_t max_columns, const Executor& on, memory_resource& resource)
      : words_(static_cast<std::size_t>(1 + max_columns), resource, on.stream()) {
    on.fill_bytes(words_.data(), 0, words_.bytes());
  }

  [[nodiscard]] std::int64_t* used_columns() const { return words_.data(); }
  [[nodiscard]] std::int64_t* first_bad() const { return words_.data() + 1; }

  /// Of the last solve; -1 if none. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_bad_position(const Executor& on) const {
    std::int64_t columns = 0;
    on.download(&columns, used_columns(), sizeof(columns));
    std::vector<std::int64_t> bad(static_cast<std::size_t>(columns) + 1, walk_all_finite);
    on.download(bad.data(), first_bad(), static_cast<std::size_t>(columns) * sizeof(std::int64_t));
    const std::int64_t first = *std::min_element(bad.begin(), bad.end());
    return first == walk_all_finite ? -1 : first;
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t max_columns) {
    return static_cast<std::size_t>(1 + max_columns) * sizeof(std::int64_t);
  }

 private:
  buffer<std::int64_t> words_;
};

template <class Shapes, class Scalar, class Offset, class Executor>
class walk_path {
 public:
  /// `sources` and `diagonal_sources`: by entry and by row of the triangle, where its number is stored.
  walk_path(const walk_program& program, int shape_index, buffer<Offset>&& sources,
            buffer<Offset>&& diagonal_sources, const triangle_form& form, const Executor& on,
            memory_resource& resource)
      : shape_(program.shape),
        shape_index_(shape_index),
        form_(form),
        steps_(program.steps),
        window_(program.window),
        fetches_(program.fetches),
        size_(static_cast<std::int64_t>(program.row_places.size())),
        operands_(upload(program.operands, on, resource)),
        rows_(upload(program.rows, on, resource)),
        entry_places_(upload(program.entry_places, on, resource)),
        link_places_(upload(program.link_places, on, resource)),
        row_places_(upload(program.row_places, on, resource)),
        sources_(std::move(sources)),
        diagonal_sources_(std::move(diagonal_sources)),
        values_(operands_.size(), resource, on.stream()),
        inner_(static_cast<std::size_t>(steps_ * shape_.inner_entries), resource, on.stream()),
        reciprocals_(rows_.size(), resource, on.stream()),
        pivots_(form.unit ? 0 : rows_.size(), resource, on.stream()),
        zero_and_sink_(2, resource, on.stream()) {
    on.fill_bytes(values_.data(), 0, values_.bytes());
    on.fill_bytes(inner_.data(), 0, inner_.bytes());
    on.fill_bytes(zero_and_sink_.data(), 0, zero_and_sink_.bytes());
    for (const buffer<Scalar>* ones : {&reciprocals_, &pivots_}) {
      simt::for_each(on, static_cast<std::int64_t>(ones->size()),
                     triangle_kernels::fill_with<Scalar>{pivot_divisor<Scalar>::one(), ones->data()});
    }
  }

  void update_values(const Scalar* stored, const Executor& on) {
    simt::for_each(on, static_cast<std::int64_t>(diagonal_sources_.size()),
                   place_pivots<Scalar, Offset>{stored, diagonal_sources_.data(), row_places_.data(),
                                                pivots_.data(), reciprocals_.data(), form_.conjugated});
    for (int pass = 0; pass < 2; ++pass) {
      place_entries<Scalar, Offset> body{
          stored,        sources_.data(),     entry_places_.data(), shape_,   values_.data(),
          inner_.data(), reciprocals_.data(), form_.conjugated,     pass == 1};
      simt::for_each(on, static_cast<std::int64_t>(entry_places_.size()), body);
      body.stored = nullptr;
      body.places = link_places_.data();
      simt::for_each(on, static_cast<std::int64_t>(link_places_.size()), body);
    }
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const walk_memory& scratch,
             const Executor& on) const {
    const walk_params<Scalar> p{static_cast<std::int32_t>(steps_),
                                static_cast<std::int32_t>(window_),
                                static_cast<std::int32_t>(size_),
                                form_.reversed,
                                values_.data(),
                                operands_.data(),
                                inner_.data(),
                                reciprocals_.data(),
                                pivots_.data(),
                                rows_.data(),
                                zero_and_sink_.data(),
                                zero_and_sink_.data() + 1,
                                scratch.used_columns(),
                                scratch.first_bad(),
                                alpha,
                                b,
                                x};
    Shapes::for_each([&](auto shape, int index) {
      if (index == shape_index_) {
        on.template launch<walk_agent<Scalar, decltype(shape)>>(
            static_cast<std::uint32_t>(x.columns), p, walk_layout<Scalar>::of(shape_, window_).bytes);
      }
    });
  }

  /// Synchronises.
  [[nodiscard]] bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    if (pivots_.size() == 0) {
      return false;
    }
    std::uint32_t place = 0;
    Scalar pivot;
    on.download(&place, row_places_.data() + position, sizeof(place));
    on.download(&pivot, pivots_.data() + place, sizeof(pivot));
    return pivot == Scalar{};
  }

  [[nodiscard]] std::size_t bytes() const {
    return operands_.bytes() + rows_.bytes() + entry_places_.bytes() + link_places_.bytes() +
           zero_and_sink_.bytes() + row_places_.bytes() + sources_.bytes() + diagonal_sources_.bytes() +
           values_.bytes() + inner_.bytes() + reciprocals_.bytes() + pivots_.bytes();
  }

  [[nodiscard]] std::string describe() const {
    return "dataflow: one block walks " + std::to_string(steps_) + " steps of " +
           std::to_string(shape_.rows) + " rows, " + std::to_string(shape_.lanes) + " lanes each, " +
           std::to_string(shape_.entries) + " entries a lane" + ", rows of a step coupled; window of " +
           std::to_string(window_) + " components, " + std::to_string(fetches_) + " fetched back, " +
           std::to_string(link_places_.size()) + " partial rows";
  }

 private:
  template <class T>
  static buffer<T> upload(const std::vector<T>& from, const Executor& on, memory_resource& resource) {
    buffer<T> made(from.size(), resource, on.stream());
    on.upload(made.data(), from.data(), made.bytes());
    return made;
  }

  walk_shape_values shape_;
  int shape_index_;
  triangle_form form_;
  std::int64_t steps_;
  std::int64_t window_;
  std::int64_t fetches_;
  std::int64_t size_;
  buffer<std::uint16_t> operands_;
  buffer<walk_row> rows_;
  buffer<std::uint32_t> entry_places_;
  buffer<std::uint32_t> link_places_;
  buffer<std::uint32_t> row_places_;
  buffer<Offset> sources_;
  buffer<Offset> diagonal_sources_;
  buffer<Scalar> values_;
  buffer<Scalar> inner_;
  buffer<Scalar> reciprocals_;
  buffer<Scalar> pivots_;
  buffer<Scalar> zero_and_sink_;
};

}  // namespace sptrsv::detail::dataflow
