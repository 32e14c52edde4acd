// Order statistics and means of samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
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

/// Geometric mean and minimum of ratios. Each ratio has the name of its problem.
class ratio_summary {
 public:
  void add(double ratio, const std::string& name) {
    log_sum_ += std::log(ratio);
    ++count_;
    if (count_ == 1 || ratio < worst_) {
      worst_ = ratio;
      worst_name_ = name;
    }
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : std::exp(log_sum_ / count_); }
  [[nodiscard]] double worst() const { return worst_; }
  [[nodiscard]] const std::string& worst_name() const { return worst_name_; }

 private:
  double log_sum_ = 0;
  int count_ = 0;
  double worst_ = 0;
  std::string worst_name_;
};

}  // namespace sptrsv_common
