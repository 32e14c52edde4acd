// SPDX-License-Identifier: Apache-2.0
// Plans: the best scheme that was found for a system on a GPU, for keeping it in a file.
//
//   const scheme_key key = scheme_key_of(A, options, stream);
//   save_scheme_plan("system.plan", {best, key, milliseconds});
//   auto solver = analyze(policy::scheme{load_scheme_plan("system.plan", key).use}, A, options, stream);
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/scheme/text.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail::schemes {

/// The mixing function of splitmix64.
SPTRSV_HOST_DEVICE std::uint64_t mixed(std::uint64_t v) {
  v += 0x9e3779b97f4a7c15u;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

/// Replaces each element by its contribution to the hash. The sum does not depend on the order of additions.
template <class Integer>
struct hash_elements {
  std::uint64_t seed;
  std::int64_t count;
  const Integer* from;
  std::uint64_t* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const auto v = i < count ? static_cast<std::uint64_t>(ctx.load_constant(from + i)) : 0;
    ctx.store(to + i, i < count ? mixed(v ^ mixed(seed + static_cast<std::uint64_t>(i))) : 0);
  }
};

/// Returns the sum of the elements' contributions. Synchronises.
template <class Integer, class Executor>
std::uint64_t hash_of(const Integer* elements, std::int64_t count, std::uint64_t seed, const Executor& on,
                      memory_resource& resource) {
  const auto terms = make_buffer<std::uint64_t>(count + 1, on, resource);
  simt::for_each(on, count + 1, hash_elements<Integer>{seed, count, elements, terms.data()});
  on.exclusive_scan(terms.data(), terms.data(), count + 1, resource);
  return last_of(terms, on);
}

/// Returns a hash of the stored pattern, the triangle, and the widths of the types. Synchronises.
template <class Index, class Offset, class Executor>
std::uint64_t pattern_hash(const pattern_view<Index, Offset>& a, const system_options& options,
                           std::size_t value_bytes, const Executor& on, memory_resource& resource) {
  const triangle_form form(options, a.by_columns);
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(a.size));
  for (const std::uint64_t fact :
       {static_cast<std::uint64_t>(a.entries), std::uint64_t{form.transposed}, std::uint64_t{form.reversed},
        std::uint64_t{form.unit}, static_cast<std::uint64_t>(value_bytes),
        static_cast<std::uint64_t>(sizeof(Index)), static_cast<std::uint64_t>(options.max_rhs)}) {
    hash = mixed(hash ^ fact);
  }
  hash = mixed(hash ^ hash_of(a.offsets, a.size > 0 ? a.size + 1 : 0, 1, on, resource));
  return mixed(hash ^ hash_of(a.indices, a.entries, 2, on, resource));
}

inline constexpr const char* plan_title = "sptrsv scheme plan";
/// Version of the format. It changes with the meaning of the settings of schemes.
inline constexpr int plan_version = 1;

inline std::string hexadecimal(std::uint64_t v) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(v));
  return text.data();
}

/// Returns the FNV-1a hash of a text.
inline std::uint64_t checksum(const std::string& text) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : text) {
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return sum;
}

}  // namespace detail::schemes

/// The system and the GPU that a plan is for.
struct scheme_key {
  std::uint64_t pattern = 0;  ///< hash of the stored pattern, the options of the system and the types
  std::string device;         ///< name of the GPU's model

  /// Returns whether two keys are for the same system and the same model.
  friend bool operator==(const scheme_key& a, const scheme_key& b) {
    return a.pattern == b.pattern && a.device == b.device;
  }
  /// Returns whether two keys differ.
  friend bool operator!=(const scheme_key& a, const scheme_key& b) { return !(a == b); }
};

/// A scheme for a system on a GPU.
struct scheme_plan {
  scheme use;               ///< the scheme
  scheme_key key;           ///< the system and the GPU
  double milliseconds = 0;  ///< time of a solve in milliseconds when the scheme was found
};

/// Returns the key of a system on the current GPU. Synchronises `stream`.
///
/// @param a csr_view, csc_view or owning matrix in device memory.
/// @param options the system.
/// @param stream the stream of the work.
/// @param resource source of device memory; null: the default of the stream's device.
/// @throws error errc::out_of_memory, errc::cuda_error.
template <class Matrix, class Stream = stream_handle>
scheme_key scheme_key_of(const Matrix& a, const system_options& options = {}, Stream stream = {},
                         memory_resource* resource = nullptr) {
  const auto view = detail::view_of(a);
  const detail::executor_t<Stream> on(stream);
  return {detail::schemes::pattern_hash(detail::pattern_of(view), options, sizeof(*view.values), on,
                                        detail::resource_or_default(resource, on)),
          on.device_name()};
}

/// Returns the text of a plan: one line for each member, and a checksum.
inline std::string to_string(const scheme_plan& plan) {
  std::array<char, 40> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), plan.milliseconds);
  const std::string milliseconds(digits.data(), written.ptr);
  const std::string text =
      detail::text_from(detail::schemes::plan_title, " ", detail::schemes::plan_version, "\ndevice ",
                        plan.key.device, "\npattern ", detail::schemes::hexadecimal(plan.key.pattern),
                        "\nscheme ", to_string(plan.use), "\nmilliseconds ", milliseconds, "\n");
  return text + "checksum " + detail::schemes::hexadecimal(detail::schemes::checksum(text)) + "\n";
}

/// Returns the plan in a text that to_string returned. Throws `parse_error` if the text is damaged or not a
/// plan, and `error` with errc::unsupported if it is a plan of another version of the format.
inline scheme_plan parse_scheme_plan(const std::string& text) {
  namespace schemes = detail::schemes;
  std::istringstream in(text);
  std::int64_t number = 0;  // of the last line that was read
  const auto fail = [&](const std::string& what) {
    throw parse_error("a scheme plan is damaged: " + what, number);
  };
  const auto value_of = [&](const std::string& name) {
    std::string line;
    ++number;
    if (!std::getline(in, line) || line.substr(0, name.size() + 1) != name + " ") {
      fail("'" + name + " ...' is missing");
    }
    return line.substr(name.size() + 1);
  };
  const std::string version = value_of(schemes::plan_title);
  if (version.empty() || version.find_first_not_of("0123456789") != std::string::npos) {
    fail("'" + version + "' is not a version");
  }
  SPTRSV_EXPECTS(version == std::to_string(schemes::plan_version), errc::unsupported,
                 "a scheme plan has version " + version + " of the format, this library reads version " +
                     std::to_string(schemes::plan_version) + ": search again");
  scheme_plan plan;
  plan.key.device = value_of("device");
  const std::string pattern = value_of("pattern");
  const std::string use = value_of("scheme");
  const std::string milliseconds = value_of("milliseconds");
  const std::string sum = value_of("checksum");
  const std::size_t summed = text.rfind("checksum ");
  if (sum != schemes::hexadecimal(schemes::checksum(text.substr(0, summed))) ||
      in.peek() != std::istringstream::traits_type::eof()) {
    fail("its checksum is wrong");
  }
  if (pattern.size() != 16 || !detail::read_number(pattern, plan.key.pattern, 16) ||
      !detail::read_number(milliseconds, plan.milliseconds)) {
    fail("a number is malformed");
  }
  plan.use = parse_scheme(use);
  return plan;
}

/// Writes a plan to a file. An existing file of this name is replaced as a whole or not at all. Throws
/// `error` with errc::io_error if the file cannot be written.
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

/// Returns the plan in a file. Throws as parse_scheme_plan, and `error` with errc::io_error if the file
/// cannot be read, or with errc::invalid_argument if the plan is for another system or another GPU than
/// `key`.
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

}  // namespace sptrsv::SPTRSV_ABI
