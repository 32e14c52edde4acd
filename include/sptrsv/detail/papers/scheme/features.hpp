// SPDX-License-Identifier: Apache-2.0
// The features of a system for the model: Table 3 of Hu et al. 2024, computed on the device.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::schemes {

/// The features. Entries include the diagonal. Names at the right are the paper's.
struct system_features {
  double rows = 0;             ///< m
  double entries = 0;          ///< nnz
  double row_mean = 0;         ///< rnnz
  double row_max = 0;          ///< rnnz max
  double row_variation = 0;    ///< rnnz cov: standard deviation over mean
  double level_mean = 0;       ///< lnnz
  double level_max = 0;        ///< lnnz max
  double level_variation = 0;  ///< lnnz cov
  double levels = 0;           ///< level num
  double dependency = 0;       ///< dep dist: mean of 1 / distance to the nearest row that a row needs

  static constexpr std::size_t count = 10;
  [[nodiscard]] std::array<double, count> values() const {
    return {rows,       entries,   row_mean,        row_max, row_variation,
            level_mean, level_max, level_variation, levels,  dependency};
  }
};

/// Computes the terms of the sums. Runs once per row in level order and once for the end.
template <class Index, class Offset>
struct measure_features {
  static constexpr double unit = 4294967296.0;  ///< scale of the dependencies, which are added as integers

  std::int64_t size;
  const Offset* row_offsets;   ///< by row
  const Index* columns;        ///< by entry
  const Index* rows;           ///< by solve index: the row
  std::int64_t* lengths;       ///< output by solve index: entries of the row
  std::int64_t* squares;       ///< output by solve index: square of it
  std::int64_t* dependencies;  ///< output by solve index: 1 / distance, scaled by `unit`

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    std::int64_t length = 0;
    double dependency = 0;
    if (k < size) {
      const Index row = ctx.load_constant(rows + k);
      const Offset end = ctx.load_constant(row_offsets + row + 1);
      length = static_cast<std::int64_t>(end - ctx.load_constant(row_offsets + row)) + 1;
      dependency = length > 1 ? unit / static_cast<double>(row - ctx.load_constant(columns + end - 1)) : 0.0;
    }
    ctx.store(lengths + k, length);
    ctx.store(squares + k, length * length);
    ctx.store(dependencies + k, static_cast<std::int64_t>(dependency));
  }
};

/// Returns the standard deviation divided by the mean.
inline double variation(double sum, double squares, double count) {
  const double mean = sum / count;
  return std::sqrt(std::max(squares / count - mean * mean, 0.0)) / mean;
}

/// Returns the features of `t`, which is in the order of substitution with ascending columns. Synchronises.
template <class Index, class Offset, class Executor>
system_features features_of(const device_triangle<Index, Offset>& t, const device_levels<Index>& levels,
                            const Executor& on, memory_resource& resource) {
  system_features found;
  if (t.size == 0) {
    return found;
  }
  const auto lengths = make_buffer<std::int64_t>(t.size + 1, on, resource);
  const auto squares = make_buffer<std::int64_t>(t.size + 1, on, resource);
  const auto dependencies = make_buffer<std::int64_t>(t.size + 1, on, resource);
  const auto total = [&](const buffer<std::int64_t>& terms) {
    on.exclusive_scan(terms.data(), terms.data(), t.size + 1, resource);
    return static_cast<double>(last_of(terms, on));
  };
  using measure = measure_features<Index, Offset>;
  simt::for_each(on, t.size + 1,
                 measure{t.size, t.row_offsets.data(), t.columns.data(), levels.rows.data(), lengths.data(),
                         squares.data(), dependencies.data()});
  found.rows = static_cast<double>(t.size);
  found.entries = total(lengths);
  found.row_mean = found.entries / found.rows;
  found.row_max = static_cast<double>(t.longest_row + 1);
  found.row_variation = variation(found.entries, total(squares), found.rows);
  found.dependency = total(dependencies) / measure::unit / found.rows;

  const auto level_entries = make_buffer<std::int64_t>(levels.count + 1, on, resource);
  simt::for_each(on, levels.count + 1,
                 array_kernels::take_in_order<std::int64_t, Index>{
                     lengths.data(), levels.level_offsets.data(), level_entries.data()});
  const std::vector<std::int64_t> before = download_array(level_entries, on);
  double level_squares = 0;
  for (std::size_t level = 0; level + 1 < before.size(); ++level) {
    const auto entries = static_cast<double>(before[level + 1] - before[level]);
    level_squares += entries * entries;
    found.level_max = std::max(found.level_max, entries);
  }
  found.levels = static_cast<double>(levels.count);
  found.level_mean = found.entries / found.levels;
  found.level_variation = variation(found.entries, level_squares, found.levels);
  return found;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
