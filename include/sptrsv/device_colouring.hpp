// SPDX-License-Identifier: Apache-2.0
// Multicolouring of a matrix in device memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/check_entries_agent.hpp"
#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/orderings/colour_kernels.hpp"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv::SPTRSV_ABI {

/// A partition of the rows into colours, in device memory: rows of one colour do not need each other.
template <class Index>
struct device_colouring {
  buffer<Index> colour_of_row;  ///< by row, from 0
  buffer<Index> order;          ///< the rows sorted by colour; rows of one colour keep their order
  std::int64_t colours = 0;     ///< number of colours
};

/// Returns a colouring by the method of Jones and Plassmann (1993): each row takes the smallest colour that
/// no neighbour of higher priority has. Priorities are hashed row numbers, so the colours of a pattern are
/// always the same. A grid needs a few colours more than greedy_colouring on the host finds. Synchronises.
///
/// @param a csr_view, csc_view or owning matrix in device memory whose pattern is symmetric.
/// @param stream the stream that the work is enqueued on.
/// @param resource source of memory; null: the default of the stream's device. It must outlive the result.
/// @throws error errc::not_square, errc::offsets_not_monotone, errc::index_out_of_range;
///   errc::invalid_argument, errc::wrong_memory_space; errc::unsupported with a row if the pattern is found
///   not to be symmetric; errc::out_of_memory, errc::cuda_error.
template <class Matrix, class Stream = stream_handle>
auto colour_on_device(const Matrix& a, Stream stream = {}, memory_resource* resource = nullptr) {
  using namespace detail::orderings;
  const auto view = detail::view_of(a);
  const auto pattern = detail::pattern_of(view);
  using index = typename Matrix::view_type::index_type;
  using offset = typename Matrix::view_type::offset_type;
  using value = typename Matrix::view_type::value_type;
  detail::check_shape<value>(view.rows, view.columns, pattern, system_options{});
  detail::check_spaces<detail::executor_t<Stream>>(pattern, "colour_on_device");
  const detail::executor_t<Stream> on(stream);
  memory_resource& from = detail::resource_or_default(resource, on);
  device_colouring<index> made;
  made.colour_of_row = detail::make_buffer<index>(pattern.size, on, from);
  if (pattern.size == 0) {
    return made;
  }
  colour_report found;
  const auto report = detail::upload_array(&found, 1, on, from);
  const auto read_report = [&] { on.download(&found, report.data(), sizeof(found)); };

  // All steps use the same arrays, so they stand in one function.
  // 1. Check the storage, as an analysis does. The lengths of rows that it counts are not needed.
  using check = detail::triangle_kernels::check_entries_agent<index, offset>;
  const auto lengths = detail::make_zeros<offset>(pattern.size, on, from);
  typename check::params checked{pattern, {}};
  checked.triangles[0].to.row_offsets = lengths.data();
  checked.triangles[0].found = &report.data()->storage;
  on.template launch<check>(
      detail::simt::block_count(std::max(pattern.size, pattern.entries), check::block_items), checked);
  read_report();
  for (const auto& [fault, row] : {std::pair(detail::pattern_fault::offsets, found.storage.offsets),
                                   std::pair(detail::pattern_fault::index, found.storage.index)}) {
    if (row < pattern.size) {
      detail::throw_pattern_fault(fault, row, pattern.by_columns);
    }
  }

  // 2. Colour rows until none is left. The host looks after several rounds: rounds without work are short.
  constexpr int rounds = 4;
  on.fill_bytes(made.colour_of_row.data(), 0xff, made.colour_of_row.bytes());
  do {
    for (int round = 0; round < rounds; ++round) {
      on.fill_bytes(&report.data()->pending, 0, sizeof(found.pending));
      detail::simt::for_each(on, pattern.size,
                             colour_rows<index, offset>{pattern, made.colour_of_row.data(), report.data()});
    }
    read_report();
  } while (found.pending != 0);

  // 3. Check that the colours of neighbours differ.
  detail::simt::for_each(on, pattern.entries,
                         check_colours<index, offset>{pattern, made.colour_of_row.data(), report.data()});
  read_report();
  detail::expect_of_row(found.conflict >= pattern.size, errc::unsupported, found.conflict,
                        "the pattern is not symmetric: a neighbour of row ", found.conflict,
                        " does not have this row as its neighbour");
  made.colours = found.colours;

  // 4. Sort the rows by colour.
  const auto first_rows = detail::make_buffer<index>(made.colours + 1, on, from);
  made.order = detail::sort_by_column(made.colour_of_row.data(), pattern.size, made.colours,
                                      first_rows.data(), on, from);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI
