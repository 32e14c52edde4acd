// Plans: the scheme that was found to be the best for a system on a GPU, to be kept in a file.
//
//   const scheme_key key = scheme_key_of(A, options, stream);
//   save_scheme_plan("system.plan", {best, key, milliseconds});
//   auto solver = analyze(policy::scheme{load_scheme_plan("system.plan", key).use}, A, options, stream);
#pragma once

#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "sptrsv/detail/scheme/pattern_hash.hpp"
#include "sptrsv/scheme/text.hpp"
#include "sptrsv/solver.hpp"

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif

namespace sptrsv {

/// What a plan is for: the pattern as it is stored and the triangle that is solved, and the GPU's model.
struct scheme_key {
  std::uint64_t pattern = 0;
  std::string device;

  friend bool operator==(const scheme_key& a, const scheme_key& b) {
    return a.pattern == b.pattern && a.device == b.device;
  }
  friend bool operator!=(const scheme_key& a, const scheme_key& b) { return !(a == b); }
};

struct scheme_plan {
  scheme use;
  scheme_key key;
  double milliseconds = 0;  ///< of a solve, when it was found
};

/// `a`: as for analyze, in device memory. Allocates from `resource` (null: the default of the stream's
/// device) and synchronises.
template <class Matrix, class Stream = stream_handle>
scheme_key scheme_key_of(const Matrix& a, const system_options& options = {}, Stream stream = {},
                         memory_resource* resource = nullptr) {
  const auto view = detail::view_of(a);
  const detail::executor_t<Stream> on(stream);
  return {detail::schemes::pattern_hash(detail::pattern_of(view), options, sizeof(*view.values), on,
                                        resource != nullptr ? *resource : on.default_resource()),
          on.device_name()};
}

namespace detail::schemes {

inline constexpr const char* plan_title = "sptrsv scheme plan";
/// Changes when schemes mean something else.
inline constexpr int plan_version = 1;

inline std::string hexadecimal(std::uint64_t v) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(v));
  return text.data();
}

/// FNV-1a.
inline std::uint64_t checksum(const std::string& text) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : text) {
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return sum;
}

/// Reads `name value` lines, and says which is wrong.
class plan_lines {
 public:
  explicit plan_lines(const std::string& text) : in_(text) {}

  std::string value_of(const std::string& name) {
    std::string line;
    ++number_;
    if (!std::getline(in_, line) || line.substr(0, name.size() + 1) != name + " ") {
      fail("'" + name + " ...' is wanted");
    }
    return line.substr(name.size() + 1);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw parse_error("a scheme plan is damaged: " + what, number_);
  }
  [[nodiscard]] bool at_end() { return in_.peek() == std::istringstream::traits_type::eof(); }

 private:
  std::istringstream in_;
  std::int64_t number_ = 0;
};

}  // namespace detail::schemes

inline std::string to_string(const scheme_plan& plan) {
  std::array<char, 40> milliseconds{};
  std::snprintf(milliseconds.data(), milliseconds.size(), "%.17g", plan.milliseconds);
  const std::string text = std::string(detail::schemes::plan_title) + " " +
                           std::to_string(detail::schemes::plan_version) + "\ndevice " + plan.key.device +
                           "\npattern " + detail::schemes::hexadecimal(plan.key.pattern) + "\nscheme " +
                           to_string(plan.use) + "\nmilliseconds " + milliseconds.data() + "\n";
  return text + "checksum " + detail::schemes::hexadecimal(detail::schemes::checksum(text)) + "\n";
}

/// Reads what to_string writes. Throws `parse_error` where the text is damaged or no plan at all, and
/// `errc::unsupported` for a plan of another version of the format.
inline scheme_plan parse_scheme_plan(const std::string& text) {
  namespace schemes = detail::schemes;
  schemes::plan_lines lines(text);
  const std::string version = lines.value_of(schemes::plan_title);
  if (version.empty() || version.find_first_not_of("0123456789") != std::string::npos) {
    lines.fail("'" + version + "' is no version");
  }
  SPTRSV_EXPECTS(version == std::to_string(schemes::plan_version), errc::unsupported,
                 "a scheme plan has version " + version + " of the format, this library reads version " +
                     std::to_string(schemes::plan_version) + ": search again");
  scheme_plan plan;
  plan.key.device = lines.value_of("device");
  const std::string pattern = lines.value_of("pattern");
  const std::string use = lines.value_of("scheme");
  const std::string milliseconds = lines.value_of("milliseconds");
  const std::string sum = lines.value_of("checksum");
  const std::size_t summed = text.rfind("checksum ");
  if (sum != schemes::hexadecimal(schemes::checksum(text.substr(0, summed))) || !lines.at_end()) {
    lines.fail("its checksum is another");
  }
  if (std::sscanf(pattern.c_str(), "%16" SCNx64, &plan.key.pattern) != 1 ||
      std::sscanf(milliseconds.c_str(), "%lf", &plan.milliseconds) != 1) {
    lines.fail("a number is none");
  }
  plan.use = parse_scheme(use);
  return plan;
}

/// Throws `errc::io_error` where the file cannot be written. A file of that name is replaced at once or not
/// at all.
inline void save_scheme_plan(const std::string& path, const scheme_plan& plan) {
  const std::string unfinished = path + ".unfinished";
  {
    std::ofstream out(unfinished, std::ios::binary);
    out << to_string(plan);
    SPTRSV_EXPECTS(out.flush().good(), errc::io_error, unfinished + " cannot be written");
  }
  SPTRSV_EXPECTS(std::rename(unfinished.c_str(), path.c_str()) == 0, errc::io_error,
                 path + " cannot be replaced");
}

/// Throws as parse_scheme_plan; `errc::io_error` where the file cannot be read; `errc::invalid_argument` for
/// the plan of another pattern or another GPU than `key`.
inline scheme_plan load_scheme_plan(const std::string& path, const scheme_key& key) {
  std::ifstream in(path, std::ios::binary);
  SPTRSV_EXPECTS(in.good(), errc::io_error, path + " cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  scheme_plan plan = parse_scheme_plan(text);
  SPTRSV_EXPECTS(plan.key.device == key.device, errc::invalid_argument,
                 path + " is a plan for " + plan.key.device + ", and this is " + key.device);
  SPTRSV_EXPECTS(plan.key.pattern == key.pattern, errc::invalid_argument,
                 path + " is a plan for another pattern of entries");
  return plan;
}

}  // namespace sptrsv
