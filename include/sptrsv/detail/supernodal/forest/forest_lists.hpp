// SPDX-License-Identifier: Apache-2.0
// The arrays of the forests of a plan, built on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/supernodal/forest/list_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

template <class Index, class Offset>
struct forest_lists : device_arrays {
  forests_view<Offset> view{};

  forest_lists() = default;

  /// Only enqueues. `list` stays as it is until a call synchronises.
  template <class Executor>
  forest_lists(const forest_list& list, const supernodes<Index>& of, std::int64_t size, bool backward,
               const Executor& on, memory_resource& resource) {
    if (list.forests.empty()) {
      return;
    }
    const auto make = [&](auto element, std::int64_t count) {
      return this->template make<decltype(element)>(count, on, resource);
    };
    view.count = static_cast<std::int64_t>(list.forests.size());
    view.forests = make(forest{}, view.count);
    on.begin_upload(view.forests, list.forests.data(), list.forests.size() * sizeof(forest));
    const auto places = begin_upload(list.places, on, resource);
    view.outside_rows = make(Offset{}, list.outside_rows);
    view.level_begin = make(std::int32_t{}, list.levels);
    // Bulk copies read up to the next multiple of 16 bytes.
    const auto make_padded = [&](auto element, std::int64_t count) {
      constexpr std::int64_t padding = 16 / std::int64_t{sizeof(element)} - 1;
      auto* const made = make(element, count + padding);
      on.fill_bytes(made + count, 0, padding * sizeof(element));
      return made;
    };
    if (backward) {
      view.columns = make_padded(forest_column{}, list.items);
      view.nodes = make(forest_node{}, list.nodes);
      view.local_rows = make_padded(std::uint16_t{}, list.rows);
    } else {
      view.products = make_padded(forest_product{}, list.items);
    }
    const auto scratch = make_buffer<std::uint64_t>(2 * list.items, on, resource);
    const auto last_level = make_buffer<std::int32_t>(backward ? 0 : size, on, resource);
    const auto build = [&](auto agent) {
      on.template launch<decltype(agent)>(simt::block_count(view.count, 1),
                                          {of, view, places.data(), scratch.data(), last_level.data()});
    };
    if (backward) {
      build(forest_list_agent<Index, Offset, true>{});
    } else {
      build(forest_list_agent<Index, Offset, false>{});
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
