// Order statistics and means of samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sptrsv_common {

/// Returns the value below which `fraction` of the samples lie, interpolated between two samples; 0 without
/// samples.
inline double quantile(std::vector<double> samples, double fraction) {
  if (samples.empty()) {
    return 0;
  }
  std::sort(samples.begin(), samples.end());
  const double rank = fraction * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (rank - static_cast<double>(below)) * (samples[above] - samples[below]);
}

inline double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

/// Returns a time or a ratio of times, or no value if it is not positive and finite: the difference of two
/// measured times may be zero or negative, and then it says nothing.
inline std::optional<double> if_positive(double value) {
  return value > 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Returns `time / other`, or no value if one of them has none.
inline std::optional<double> ratio_of(std::optional<double> time, std::optional<double> other) {
  return time && other && if_positive(*time) && if_positive(*other) ? if_positive(*time / *other)
                                                                    : std::nullopt;
}

/// Geometric mean and minimum of ratios. Each ratio has the name of its problem. Ratios without a value are
/// left out and counted.
class ratio_summary {
 public:
  void add(std::optional<double> ratio, const std::string& name) {
    if (!ratio || !if_positive(*ratio)) {
      ++left_out_;
      return;
    }
    log_sum_ += std::log(*ratio);
    ++count_;
    if (!worst_ || *ratio < *worst_) {
      worst_ = ratio;
      worst_name_ = name;
    }
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int left_out() const { return left_out_; }
  [[nodiscard]] std::optional<double> mean() const {
    return count_ == 0 ? std::nullopt : std::optional(std::exp(log_sum_ / count_));
  }
  [[nodiscard]] std::optional<double> worst() const { return worst_; }
  [[nodiscard]] const std::string& worst_name() const { return worst_name_; }

 private:
  double log_sum_ = 0;
  int count_ = 0;
  int left_out_ = 0;
  std::optional<double> worst_;
  std::string worst_name_;
};

}  // namespace sptrsv_common
