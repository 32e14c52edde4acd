// The version of the library. CMake reads it from this file.
#pragma once

/// Major version.
#define SPTRSV_VERSION_MAJOR 0
/// Minor version; before 1.0.0, it changes with the interface.
#define SPTRSV_VERSION_MINOR 1
/// Patch version.
#define SPTRSV_VERSION_PATCH 0

namespace sptrsv {

/// The major version as a constant.
inline constexpr int version_major = SPTRSV_VERSION_MAJOR;
/// The minor version as a constant.
inline constexpr int version_minor = SPTRSV_VERSION_MINOR;
/// The patch version as a constant.
inline constexpr int version_patch = SPTRSV_VERSION_PATCH;

}  // namespace sptrsv
