// The arrays of the forests of a plan, built on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/supernodal/forest/list_kernels.hpp"

namespace sptrsv::detail::supernodal {

/// Owns the arrays of the forests.
template <class Index, class Offset>
class forest_lists {
 public:
  forest_lists() = default;

  /// `rows`: rows in all lists of rows.
  template <class Executor>
  forest_lists(const forest_list& list, const supernodes<Index>& of, std::int64_t size, std::int64_t rows,
               bool backward, const Executor& on, memory_resource& resource) {
    if (list.forests.empty()) {
      return;
    }
    forests_ = upload(list.forests, on, resource);
    const auto places = upload(list.places, on, resource);
    outside_rows_ = make_buffer<std::int64_t>(list.outside_rows, on, resource);
    level_begin_ = make_buffer<std::int32_t>(list.levels, on, resource);
    const forest_builder<Index> b{of, forests_.data(), static_cast<std::int64_t>(list.forests.size()),
                                  places.data()};
    for_each_by_tile<8>(on, of.count, write_outside_rows<Index>{b, outside_rows_.data()});
    auto keys = make_buffer<std::uint64_t>(list.items, on, resource);
    // Bulk copies read up to the next multiple of 16 bytes.
    if (backward) {
      columns_ = make_buffer<forest_column>(list.items, on, resource);
      local_rows_ = make_buffer<std::uint16_t>(rows + 8, on, resource);
      on.fill_bytes(local_rows_.data(), 0, local_rows_.bytes());
      auto items = make_buffer<Index>(list.items, on, resource);
      simt::for_each(on, list.items, key_columns<Index>{b, keys.data(), items.data()});
      sort(keys, items, list, on, resource);
      simt::for_each(on, list.items, write_columns<Index>{b, keys.data(), columns_.data()});
      simt::for_each(on, rows, write_local_rows<Index>{b, local_rows_.data()});
    } else {
      products_ = make_buffer<forest_product>(list.items + 1, on, resource);
      on.fill_bytes(products_.data(), 0, products_.bytes());
      auto items = make_buffer<Offset>(list.items, on, resource);
      const auto last_level = make_buffer<std::int32_t>(size, on, resource);
      on.fill_bytes(last_level.data(), 0, last_level.bytes());
      simt::for_each(on, list.items,
                     key_products<Index, Offset>{b, keys.data(), items.data(), last_level.data()});
      sort(keys, items, list, on, resource);
      simt::for_each(
          on, list.items,
          write_products<Index, Offset>{b, keys.data(), items.data(), last_level.data(), products_.data()});
    }
    simt::for_each(on, list.levels, find_level_begin<Index>{b, keys.data(), list.items, level_begin_.data()});
  }

  [[nodiscard]] forests_view<Index> view() const {
    return {forests_.data(),     static_cast<std::int64_t>(forests_.size()),
            products_.data(),    columns_.data(),
            local_rows_.data(),  level_begin_.data(),
            outside_rows_.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return forests_.bytes() + products_.bytes() + columns_.bytes() + local_rows_.bytes() +
           level_begin_.bytes() + outside_rows_.bytes();
  }

 private:
  template <class T, class Executor>
  static void sort(buffer<std::uint64_t>& keys, buffer<T>& items, const forest_list& list, const Executor& on,
                   memory_resource& resource) {
    auto other_keys = make_buffer<std::uint64_t>(list.items, on, resource);
    auto other_items = make_buffer<T>(list.items, on, resource);
    on.sort_pairs_in_place(
        keys, other_keys, items, other_items,
        2 * forest_key::field_bits + bits_for(static_cast<std::uint64_t>(list.forests.size())), resource);
  }

  buffer<forest> forests_;
  buffer<forest_product> products_;
  buffer<forest_column> columns_;
  buffer<std::uint16_t> local_rows_;
  buffer<std::int32_t> level_begin_;
  buffer<std::int64_t> outside_rows_;
};

}  // namespace sptrsv::detail::supernodal
