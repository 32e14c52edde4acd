// SPDX-License-Identifier: Apache-2.0
// The arrays of the forests of a plan, built on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/supernodal/forest/list_agent.hpp"

namespace sptrsv::detail::supernodal {

/// Owns the arrays of the forests.
template <class Index, class Offset>
class forest_lists {
 public:
  forest_lists() = default;

  /// Only enqueues. `list` stays as it is until a call synchronises.
  template <class Executor>
  forest_lists(const forest_list& list, const supernodes<Index>& of, std::int64_t size, bool backward,
               const Executor& on, memory_resource& resource) {
    if (list.forests.empty()) {
      return;
    }
    const auto make = [&](auto element, std::int64_t count) {
      return arrays_.make<decltype(element)>(count, on, resource);
    };
    const auto forest_count = static_cast<std::int64_t>(list.forests.size());
    auto* const forests = make(forest{}, forest_count);
    on.begin_upload(forests, list.forests.data(), list.forests.size() * sizeof(forest));
    const auto places = begin_upload(list.places, on, resource);
    auto* const outside_rows = make(Offset{}, list.outside_rows);
    auto* const level_begin = make(std::int32_t{}, list.levels);
    forest_product* products = nullptr;
    forest_column* columns = nullptr;
    forest_node* nodes = nullptr;
    std::uint16_t* local_rows = nullptr;
    if (backward) {
      // Bulk copies read up to the next multiple of 16 bytes.
      columns = make(forest_column{}, list.items + 3);
      on.fill_bytes(columns + list.items, 0, 3 * sizeof(forest_column));
      nodes = make(forest_node{}, list.nodes);
      local_rows = make(std::uint16_t{}, list.rows + 7);
      on.fill_bytes(local_rows + list.rows, 0, 7 * sizeof(std::uint16_t));
    } else {
      products = make(forest_product{}, list.items + 1);
      on.fill_bytes(products + list.items, 0, sizeof(forest_product));
    }
    view_ = {forests, forest_count, products, columns, nodes, local_rows, level_begin, outside_rows};
    const auto scratch = make_buffer<std::uint64_t>(2 * list.items, on, resource);
    const auto last_level = make_buffer<std::int32_t>(backward ? 0 : size, on, resource);
    const auto build = [&](auto agent) {
      on.template launch<decltype(agent)>(simt::block_count(forest_count, 1),
                                          {of, forests, places.data(), scratch.data(), last_level.data(),
                                           products, columns, nodes, local_rows, level_begin, outside_rows});
    };
    if (backward) {
      build(forest_list_agent<Index, Offset, true>{});
    } else {
      build(forest_list_agent<Index, Offset, false>{});
    }
  }

  [[nodiscard]] const forests_view<Offset>& view() const { return view_; }
  [[nodiscard]] std::size_t bytes() const { return arrays_.bytes(); }

 private:
  device_arrays arrays_;
  forests_view<Offset> view_{};
};

}  // namespace sptrsv::detail::supernodal
