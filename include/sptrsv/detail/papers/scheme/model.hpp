// SPDX-License-Identifier: Apache-2.0
// Selects a scheme with a learned model. Perceptrons with two hidden layers estimate for each scheme the
// probability that it is within 15 per cent of the best (Hu et al. 2024, section 4.5). Several perceptrons
// were trained from different random starts; their mean counts. The weights are in model_table.hpp, which
// `benchmarks/python train-schemes` writes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "sptrsv/detail/papers/scheme/features.hpp"
#include "sptrsv/detail/papers/scheme/model_table.hpp"
#include "sptrsv/scheme/text.hpp"

namespace sptrsv::detail::schemes {

/// Returns weights * in + biases of one of `Members` perceptrons, with negative elements set to zero if
/// `rectify`. `weights` is by member, output and input, `biases` by member and output.
template <std::size_t Members, std::size_t Weights, std::size_t Biases>
std::vector<double> layer(const float (&weights)[Weights], const float (&biases)[Biases], std::size_t member,
                          const std::vector<double>& in, bool rectify) {
  std::vector<double> out(Biases / Members);
  for (std::size_t o = 0; o < out.size(); ++o) {
    const std::size_t at = member * out.size() + o;
    double sum = biases[at];
    for (std::size_t i = 0; i < in.size(); ++i) {
      sum += static_cast<double>(weights[at * in.size() + i]) * in[i];
    }
    out[o] = rectify ? std::max(sum, 0.0) : sum;
  }
  return out;
}

/// Returns, for each scheme of Table, the sum of the perceptrons' probabilities.
template <class Table>
std::vector<double> scores(const system_features& features) {
  const auto values = features.values();
  std::vector<double> in(values.begin(), values.end());
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] =
        (std::log1p(in[i]) - static_cast<double>(Table::mean[i])) / static_cast<double>(Table::deviation[i]);
  }
  std::vector<double> sums(std::size(Table::schemes));
  constexpr std::size_t members = Table::members;
  for (std::size_t member = 0; member < members; ++member) {
    const auto first = layer<members>(Table::weights_1, Table::bias_1, member, in, true);
    const auto second = layer<members>(Table::weights_2, Table::bias_2, member, first, true);
    const auto last = layer<members>(Table::weights_3, Table::bias_3, member, second, false);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += 1 / (1 + std::exp(-last[i]));
    }
  }
  return sums;
}

/// Returns the schemes that the model knows, the most probable first.
template <class Table = model_table>
std::vector<scheme> likeliest_schemes(const system_features& features) {
  const std::vector<double> score = scores<Table>(features);
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  std::vector<scheme> made;
  made.reserve(order.size());
  for (const std::size_t i : order) {
    made.push_back(parse_scheme(Table::schemes[i]));
  }
  return made;
}

/// Returns the most probable scheme that needs at most `max_launches` launches.
template <class Table = model_table>
scheme choose_scheme(const system_features& features, std::int64_t max_launches) {
  const std::vector<scheme> known = likeliest_schemes<Table>(features);
  const auto found = std::find_if(known.begin(), known.end(), [&](const scheme& s) {
    return s.alpha_level == scheme::unlimited || features.levels <= static_cast<double>(max_launches);
  });
  return found != known.end() ? *found : scheme{};
}

/// Sorts `space`: the schemes that the model knows come first, the most probable one at the start; the others
/// keep their order.
template <class Table = model_table>
std::vector<scheme> likeliest_first(const system_features& features, std::vector<scheme> space) {
  const std::vector<scheme> known = likeliest_schemes<Table>(features);
  const auto rank = [&](const scheme& s) { return std::find(known.begin(), known.end(), s) - known.begin(); };
  std::stable_sort(space.begin(), space.end(),
                   [&](const scheme& a, const scheme& b) { return rank(a) < rank(b); });
  return space;
}

}  // namespace sptrsv::detail::schemes
