// The policy scheme.
#pragma once

#include <optional>

#include "sptrsv/detail/scheme/tuning.hpp"
#include "sptrsv/memory_resource.hpp"
#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv::policy {

/// Rows in tasks, tasks on warps, and the kernel that solves them, all as a scheme says (AG-SpTRSV: Hu, Sun,
/// Li and Sun, ACM TACO 21(4), 2024). Every scheme adds in a fixed order: the result is the same in every bit
/// from solve to solve, and differs between schemes. A scheme that needs too many launches for a system is
/// refused with `errc::unsupported`. Without a scheme a model chooses one by the system's features; a search
/// by measurements is in sptrsv/scheme_search.hpp.
template <class Tuning = scheme_tuning>
struct basic_scheme {
  static constexpr const char* name = "scheme";
  using default_stream = stream_handle;
  using tuning = Tuning;

  std::optional<sptrsv::scheme> use{};
};
using scheme = basic_scheme<>;

}  // namespace sptrsv::policy
