// SPDX-License-Identifier: Apache-2.0
// Text for predictions of the cost model, as solver_info reports it.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Returns the name of the prediction and its time in milliseconds.
inline std::string to_text(const predicted_time& prediction) {
  std::array<char, 32> milliseconds{};
  std::snprintf(milliseconds.data(), milliseconds.size(), " %.3g ms", prediction.nanoseconds * 1e-6);
  return prediction.name + milliseconds.data();
}

/// Returns the predictions, separated by commas.
inline std::string to_text(const std::vector<predicted_time>& predictions) {
  std::string text;
  for (const predicted_time& prediction : predictions) {
    text += (text.empty() ? "" : ", ") + to_text(prediction);
  }
  return text;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
