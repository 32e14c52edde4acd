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
    forests_ = begin_upload(list.forests, on, resource);
    const auto places = begin_upload(list.places, on, resource);
    outside_rows_ = make_buffer<Offset>(list.outside_rows, on, resource);
    level_begin_ = make_buffer<std::int32_t>(list.levels, on, resource);
    if (backward) {
      // Bulk copies read up to the next multiple of 16 bytes.
      columns_ = make_buffer<forest_column>(list.items + 3, on, resource);
      on.fill_bytes(columns_.data() + list.items, 0, 3 * sizeof(forest_column));
      nodes_ = make_buffer<forest_node>(list.nodes, on, resource);
      local_rows_ = make_buffer<std::uint16_t>(list.rows + 7, on, resource);
      on.fill_bytes(local_rows_.data() + list.rows, 0, 7 * sizeof(std::uint16_t));
    } else {
      products_ = make_buffer<forest_product>(list.items + 1, on, resource);
      on.fill_bytes(products_.data() + list.items, 0, sizeof(forest_product));
    }
    const auto scratch = make_buffer<std::uint64_t>(2 * list.items, on, resource);
    const auto last_level = make_buffer<std::int32_t>(backward ? 0 : size, on, resource);
    const auto build = [&](auto agent) {
      on.template launch<decltype(agent)>(
          simt::block_count(static_cast<std::int64_t>(list.forests.size()), 1),
          {of, forests_.data(), places.data(), scratch.data(), last_level.data(), products_.data(),
           columns_.data(), nodes_.data(), local_rows_.data(), level_begin_.data(), outside_rows_.data()});
    };
    if (backward) {
      build(forest_list_agent<Index, Offset, true>{});
    } else {
      build(forest_list_agent<Index, Offset, false>{});
    }
  }

  [[nodiscard]] forests_view<Offset> view() const {
    return {forests_.data(),     static_cast<std::int64_t>(forests_.size()),
            products_.data(),    columns_.data(),
            nodes_.data(),       local_rows_.data(),
            level_begin_.data(), outside_rows_.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return forests_.bytes() + products_.bytes() + columns_.bytes() + nodes_.bytes() + local_rows_.bytes() +
           level_begin_.bytes() + outside_rows_.bytes();
  }

 private:
  buffer<forest> forests_;
  buffer<forest_product> products_;
  buffer<forest_column> columns_;
  buffer<forest_node> nodes_;
  buffer<std::uint16_t> local_rows_;
  buffer<std::int32_t> level_begin_;
  buffer<Offset> outside_rows_;
};

}  // namespace sptrsv::detail::supernodal
