// Writes JSON.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace sptrsv_benchmarks {

/// A text that is JSON.
struct json_text {
  std::string text;
};

inline std::string to_json(const json_text& value) { return value.text; }
inline std::string to_json(std::int64_t value) { return std::to_string(value); }
inline std::string to_json(std::size_t value) { return std::to_string(value); }
inline std::string to_json(int value) { return std::to_string(value); }

/// Returns null for infinities and NaN, which JSON does not have.
inline std::string to_json(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return std::isfinite(value) ? text : "null";
}

inline std::string to_json(const std::string& value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char text[8];
      std::snprintf(text, sizeof(text), "\\u%04x", static_cast<unsigned>(c));
      quoted += text;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}
inline std::string to_json(const char* value) { return to_json(std::string(value)); }

template <class T>
std::string to_json(const std::vector<T>& values, const char* separator = ", ") {
  std::string text = "[";
  for (const T& value : values) {
    text += (text.size() > 1 ? separator : "") + to_json(value);
  }
  return text + "]";
}

template <class T>
std::string to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : "null";
}

/// A JSON object; its members stand in the order in which they were added.
class json_object {
 public:
  template <class T>
  json_object& add(const char* key, const T& value) {
    members_ += (members_.empty() ? "" : ", ") + to_json(key) + ": " + to_json(value);
    return *this;
  }
  [[nodiscard]] json_text text() const { return {"{" + members_ + "}"}; }

 private:
  std::string members_;
};

}  // namespace sptrsv_benchmarks
