// SPDX-License-Identifier: Apache-2.0
// Selects a scheme with a learned model. Perceptrons with two hidden layers estimate for each scheme the
// probability that it is within 15 per cent of the best (Hu et al. 2024, section 4.5), by the features of the
// system (Table 3), which are computed on the device. Several perceptrons were trained from different random
// starts; their mean counts. The weights are in model_table.hpp, which `benchmarks/python train-schemes`
// writes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/papers/scheme/model_table.hpp"
#include "sptrsv/scheme/text.hpp"

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

/// The perceptrons (members), which have the same shape.
struct scheme_model {
  struct layer {
    std::vector<float> weights;  ///< by member, output and input
    std::vector<float> biases;   ///< by member and output
  };

  std::vector<const char*> schemes;  ///< as text; by output of the last layer
  std::size_t members;
  std::vector<float> mean;       ///< of the logarithms, by feature
  std::vector<float> deviation;  ///< likewise their standard deviation
  std::array<layer, 3> layers;
};

/// Reads numbers m / 10^e of a packed text. Digits have base 62. The first three of a number are
/// 20000 e + 10000 + m with -10000 < m < 10000; if e would be 10, three more digits hold e.
class packed_numbers {
 public:
  explicit packed_numbers(const char* text) : at_(text) {}

  std::vector<float> take(std::size_t count) {
    std::vector<float> made(count);
    for (float& value : made) {
      const int code = digits();
      int exponent = code / 20000;
      exponent = exponent == 10 ? digits() : exponent;
      double power = 1;
      for (; exponent > 0; --exponent) {
        power *= 10;
      }
      value = static_cast<float>((code % 20000 - 10000) / power);
    }
    return made;
  }

 private:
  int digits() {
    int code = 0;
    for (const char* const end = at_ + 3; at_ != end; ++at_) {
      code = 62 * code + (*at_ <= '9' ? *at_ - '0' : *at_ <= 'Z' ? *at_ - 'A' + 10 : *at_ - 'a' + 36);
    }
    return code;
  }

  const char* at_;
};

inline const scheme_model& trained_model() {
  static const scheme_model model = [] {
    packed_numbers numbers(model_table::numbers);
    const auto width = [](std::size_t i) { return static_cast<std::size_t>(model_table::widths[i]); };
    scheme_model made{{std::begin(model_table::schemes), std::end(model_table::schemes)},
                      static_cast<std::size_t>(model_table::members),
                      numbers.take(width(0)),
                      numbers.take(width(0)),
                      {}};
    for (std::size_t i = 0; i < made.layers.size(); ++i) {
      made.layers[i].weights = numbers.take(made.members * width(i + 1) * width(i));
      made.layers[i].biases = numbers.take(made.members * width(i + 1));
    }
    return made;
  }();
  return model;
}

/// Returns, for each scheme of the model, the sum of the perceptrons' probabilities.
inline std::vector<double> scores(const scheme_model& model, const system_features& features) {
  const auto values = features.values();
  std::vector<double> start(values.begin(), values.end());
  for (std::size_t i = 0; i < start.size(); ++i) {
    start[i] =
        (std::log1p(start[i]) - static_cast<double>(model.mean[i])) / static_cast<double>(model.deviation[i]);
  }
  std::vector<double> sums(model.schemes.size());
  for (std::size_t member = 0; member < model.members; ++member) {
    std::vector<double> in = start;
    for (const scheme_model::layer& layer : model.layers) {
      const bool is_last = &layer == &model.layers.back();
      std::vector<double> out(layer.biases.size() / model.members);
      for (std::size_t o = 0; o < out.size(); ++o) {
        const std::size_t unit = member * out.size() + o;
        double sum = layer.biases[unit];
        for (std::size_t i = 0; i < in.size(); ++i) {
          sum += static_cast<double>(layer.weights[unit * in.size() + i]) * in[i];
        }
        out[o] = is_last ? sum : std::max(sum, 0.0);
      }
      in = std::move(out);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += 1 / (1 + std::exp(-in[i]));
    }
  }
  return sums;
}

/// Returns the schemes that the model knows, the most probable first.
inline std::vector<scheme> likeliest_schemes(const system_features& features,
                                             const scheme_model& model = trained_model()) {
  const std::vector<double> score = scores(model, features);
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  std::vector<scheme> made;
  made.reserve(order.size());
  for (const std::size_t i : order) {
    made.push_back(parse_scheme(model.schemes[i]));
  }
  return made;
}

/// Returns the most probable scheme that needs at most `max_launches` launches.
inline scheme choose_scheme(const system_features& features, std::int64_t max_launches,
                            const scheme_model& model = trained_model()) {
  const std::vector<scheme> known = likeliest_schemes(features, model);
  const auto found = std::find_if(known.begin(), known.end(), [&](const scheme& s) {
    return s.alpha_level == scheme::unlimited || features.levels <= static_cast<double>(max_launches);
  });
  return found != known.end() ? *found : scheme{};
}

/// Sorts `space`: the most probable schemes of the model come first; the others keep their order.
inline std::vector<scheme> likeliest_first(const system_features& features, std::vector<scheme> space) {
  const std::vector<scheme> known = likeliest_schemes(features);
  const auto rank = [&](const scheme& s) { return std::find(known.begin(), known.end(), s) - known.begin(); };
  std::stable_sort(space.begin(), space.end(),
                   [&](const scheme& a, const scheme& b) { return rank(a) < rank(b); });
  return space;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
