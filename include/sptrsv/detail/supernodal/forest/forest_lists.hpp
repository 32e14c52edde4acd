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
    view_.count = static_cast<std::int64_t>(list.forests.size());
    view_.forests = make(forest{}, view_.count);
    on.begin_upload(view_.forests, list.forests.data(), list.forests.size() * sizeof(forest));
    const auto places = begin_upload(list.places, on, resource);
    view_.outside_rows = make(Offset{}, list.outside_rows);
    view_.level_begin = make(std::int32_t{}, list.levels);
    // Bulk copies read up to the next multiple of 16 bytes.
    const auto make_padded = [&](auto element, std::int64_t count) {
      constexpr std::int64_t padding = 16 / std::int64_t{sizeof(element)} - 1;
      auto* const made = make(element, count + padding);
      on.fill_bytes(made + count, 0, padding * sizeof(element));
      return made;
    };
    if (backward) {
      view_.columns = make_padded(forest_column{}, list.items);
      view_.nodes = make(forest_node{}, list.nodes);
      view_.local_rows = make_padded(std::uint16_t{}, list.rows);
    } else {
      view_.products = make_padded(forest_product{}, list.items);
    }
    const auto scratch = make_buffer<std::uint64_t>(2 * list.items, on, resource);
    const auto last_level = make_buffer<std::int32_t>(backward ? 0 : size, on, resource);
    const auto build = [&](auto agent) {
      on.template launch<decltype(agent)>(simt::block_count(view_.count, 1),
                                          {of, view_, places.data(), scratch.data(), last_level.data()});
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
