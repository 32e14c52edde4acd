// Prints tables, and numbers with their units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sptrsv_common {

/// A table. Each row has a left-aligned label and right-aligned cells.
class table {
 public:
  void add_row(std::string label, std::vector<std::string> cells) {
    rows_.push_back({std::move(label), std::move(cells)});
  }

  void print() const {
    std::size_t label_width = 0;
    std::vector<std::size_t> widths;
    for (const row& r : rows_) {
      label_width = std::max(label_width, r.label.size());
      widths.resize(std::max(widths.size(), r.cells.size()));
      for (std::size_t c = 0; c < r.cells.size(); ++c) {
        widths[c] = std::max(widths[c], r.cells[c].size());
      }
    }
    for (const row& r : rows_) {
      std::string line = r.label + std::string(label_width - r.label.size(), ' ');
      for (std::size_t c = 0; c < r.cells.size(); ++c) {
        line += "   " + std::string(widths[c] - r.cells[c].size(), ' ') + r.cells[c];
      }
      std::printf("%s\n", line.c_str());
    }
  }

 private:
  struct row {
    std::string label;
    std::vector<std::string> cells;
  };
  std::vector<row> rows_;
};

/// Returns the text that printf would print; at most 255 characters.
template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  char text[256];
  std::snprintf(text, sizeof(text), format, arguments...);
  return text;
}

/// Returns the formatted value, or "-" if there is none.
inline std::string cell(std::optional<double> value, const char* format) {
  return value ? formatted(format, *value) : "-";
}

/// Returns 1234567 as "1,234,567".
inline std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// Returns a time with its unit; a shorter time has more decimals.
inline std::string in_milliseconds(double milliseconds) {
  const char* const format = milliseconds < 0.01  ? "%.6f ms"
                             : milliseconds < 1   ? "%.4f ms"
                             : milliseconds < 100 ? "%.2f ms"
                                                  : "%.0f ms";
  return formatted(format, milliseconds);
}

/// Returns a size in B, kB, MB or GB (powers of 1000).
inline std::string in_bytes(std::size_t bytes) {
  const auto b = static_cast<double>(bytes);
  return b < 1e3   ? formatted("%.0f B", b)
         : b < 1e6 ? formatted("%.1f kB", b / 1e3)
         : b < 1e9 ? formatted("%.1f MB", b / 1e6)
                   : formatted("%.2f GB", b / 1e9);
}

}  // namespace sptrsv_common
