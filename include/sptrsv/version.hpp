// SPDX-License-Identifier: Apache-2.0
// The version of the library. CMake reads it from this file, and C programs include it.
#pragma once

/// Major version.
#define SPTRSV_VERSION_MAJOR 0
/// Minor version; before 1.0.0, it changes with the interface.
#define SPTRSV_VERSION_MINOR 2
/// Patch version.
#define SPTRSV_VERSION_PATCH 0
/// The version as one number, 10203 for 1.2.3: comparisons `#if SPTRSV_VERSION >= 10203`.
#define SPTRSV_VERSION (SPTRSV_VERSION_MAJOR * 10000 + SPTRSV_VERSION_MINOR * 100 + SPTRSV_VERSION_PATCH)

#ifdef __cplusplus
/// The inline namespace of the library: objects that were compiled with two versions link into one program,
/// and each has its own. Its name has the parts of the version that change with the interface, v1_2
/// for 1.2.3, and is no part of the name of anything.
#define SPTRSV_ABI SPTRSV_ABI_OF(SPTRSV_VERSION_MAJOR, SPTRSV_VERSION_MINOR)
/// The name for numbers, which this macro expands.
#define SPTRSV_ABI_OF(major, minor) SPTRSV_ABI_JOIN(major, minor)
/// The name for numbers that are expanded.
#define SPTRSV_ABI_JOIN(major, minor) v##major##_##minor

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
