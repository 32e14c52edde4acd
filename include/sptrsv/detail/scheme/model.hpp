// Select by a learned model: a perceptron of two hidden layers says of each scheme how likely it is within 15
// per cent of the best (Hu et al. 2024, section 4.5). Its numbers stand in model_table.hpp, which
// benchmarks/train_schemes.py writes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sptrsv/detail/scheme/features.hpp"
#include "sptrsv/detail/scheme/model_table.hpp"
#include "sptrsv/scheme_text.hpp"

namespace sptrsv::detail::schemes {

/// Logarithms of the features (of 1 + each), and the products of all pairs of these.
template <std::size_t Count>
std::vector<double> polynomial_features(const std::array<double, Count>& features) {
  std::vector<double> made;
  made.reserve(Count + Count * (Count + 1) / 2);
  for (const double feature : features) {
    made.push_back(std::log1p(feature));
  }
  for (std::size_t i = 0; i < Count; ++i) {
    for (std::size_t k = i; k < Count; ++k) {
      made.push_back(made[i] * made[k]);
    }
  }
  return made;
}

template <std::size_t Out, std::size_t In>
std::vector<double> layer(const float (&weights)[Out][In], const float (&bias)[Out],
                          const std::vector<double>& in, bool rectify) {
  std::vector<double> out(Out);
  for (std::size_t o = 0; o < Out; ++o) {
    double sum = bias[o];
    for (std::size_t i = 0; i < In; ++i) {
      sum += static_cast<double>(weights[o][i]) * in[i];
    }
    out[o] = rectify ? std::max(sum, 0.0) : sum;
  }
  return out;
}

/// By scheme of Table: the higher the likelier. What the sigmoid would make of it has the same order.
template <class Table>
std::vector<double> scores(const system_features& features) {
  std::vector<double> in = polynomial_features(features.values());
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = (in[i] - static_cast<double>(Table::mean[i])) / static_cast<double>(Table::deviation[i]);
  }
  const auto first = layer(Table::weights_1, Table::bias_1, in, true);
  const auto second = layer(Table::weights_2, Table::bias_2, first, true);
  return layer(Table::weights_3, Table::bias_3, second, false);
}

/// The schemes that the model knows, from the likeliest on.
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

/// The likeliest of those that need at most `most_launches` launches.
template <class Table = model_table>
scheme choose_scheme(const system_features& features, std::int64_t most_launches) {
  const std::vector<scheme> known = likeliest_schemes<Table>(features);
  const auto found = std::find_if(known.begin(), known.end(), [&](const scheme& s) {
    return s.alpha_level == scheme::unlimited || features.levels <= static_cast<double>(most_launches);
  });
  return found != known.end() ? *found : scheme{};
}

/// What the model knows of `space` comes first, from the likeliest on; all else keeps its order.
template <class Table = model_table>
std::vector<scheme> likeliest_first(const system_features& features, std::vector<scheme> space) {
  const std::vector<scheme> known = likeliest_schemes<Table>(features);
  const auto place = [&](const scheme& s) {
    return std::find(known.begin(), known.end(), s) - known.begin();
  };
  std::stable_sort(space.begin(), space.end(),
                   [&](const scheme& a, const scheme& b) { return place(a) < place(b); });
  return space;
}

}  // namespace sptrsv::detail::schemes
