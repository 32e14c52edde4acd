// SPDX-License-Identifier: Apache-2.0
// The version of the library. CMake reads it from this file, and C programs include it.
#pragma once

/// Major version.
#define SPTRSV_VERSION_MAJOR 0
/// Minor version; before 1.0.0, it changes with the interface.
#define SPTRSV_VERSION_MINOR 1
/// Patch version.
#define SPTRSV_VERSION_PATCH 0
/// The version as one number, 100 for 0.1.0: comparisons `#if SPTRSV_VERSION >= 100`.
#define SPTRSV_VERSION (SPTRSV_VERSION_MAJOR * 10000 + SPTRSV_VERSION_MINOR * 100 + SPTRSV_VERSION_PATCH)

#ifdef __cplusplus
/// The inline namespace of the library: objects that were compiled with two versions link into one program,
/// and each has its own. It changes with the interface and is no part of the name of anything.
#define SPTRSV_ABI v0_1

namespace sptrsv {
inline namespace SPTRSV_ABI {}

/// The major version as a constant.
inline constexpr int version_major = SPTRSV_VERSION_MAJOR;
/// The minor version as a constant.
inline constexpr int version_minor = SPTRSV_VERSION_MINOR;
/// The patch version as a constant.
inline constexpr int version_patch = SPTRSV_VERSION_PATCH;

}  // namespace sptrsv
#endif

// C++17 has no short form that reopens an inline namespace and says so again.
#ifdef __clang__
#pragma clang diagnostic ignored "-Winline-namespace-reopened-noninline"
#endif
