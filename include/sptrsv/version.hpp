// The version of the library: the one place where it is written; CMake reads it from here.
#pragma once

#define SPTRSV_VERSION_MAJOR 0
#define SPTRSV_VERSION_MINOR 1
#define SPTRSV_VERSION_PATCH 0

namespace sptrsv {

inline constexpr int version_major = SPTRSV_VERSION_MAJOR;
inline constexpr int version_minor = SPTRSV_VERSION_MINOR;
inline constexpr int version_patch = SPTRSV_VERSION_PATCH;

}  // namespace sptrsv
