// SPDX-License-Identifier: Apache-2.0
// Memory from a resource of RMM or libcu++ (cuda::mr). Includes neither of them.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/error.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI {
namespace detail {

inline constexpr std::size_t adapter_alignment = 256;  ///< of `memory_resource`, in bytes

/// Whether a resource has allocate(stream, bytes, alignment): CCCL 3.1 and newer, RMM 25.12 and newer.
template <class Upstream, class = void>
inline constexpr bool allocates_stream_first = false;
template <class Upstream>
inline constexpr bool allocates_stream_first<
    Upstream, std::void_t<decltype(static_cast<void*>(std::declval<Upstream&>().allocate(
                  std::declval<stream_handle>(), std::size_t{}, std::size_t{})))>> = true;

/// Whether a resource has allocate_async(bytes, alignment, stream): older CCCL and RMM.
template <class Upstream, class = void>
inline constexpr bool allocates_async = false;
template <class Upstream>
inline constexpr bool allocates_async<
    Upstream, std::void_t<decltype(static_cast<void*>(std::declval<Upstream&>().allocate_async(
                  std::size_t{}, std::size_t{}, std::declval<stream_handle>())))>> = true;

/// Whether a resource has allocate(bytes, stream): older RMM.
template <class Upstream, class = void>
inline constexpr bool allocates_stream_last = false;
template <class Upstream>
inline constexpr bool allocates_stream_last<
    Upstream, std::void_t<decltype(static_cast<void*>(
                  std::declval<Upstream&>().allocate(std::size_t{}, std::declval<stream_handle>())))>> = true;

}  // namespace detail

/// A `memory_resource` that takes its memory from a stream-ordered resource of RMM or libcu++:
/// `rmm::mr::device_memory_resource` and the classes derived from it, `rmm::device_async_resource_ref`, or a
/// resource or resource reference of `cuda::mr`. Its memory must be accessible on the device.
///
/// The adapter keeps a reference to `upstream`, which must outlive it and, as the adapter itself, everything
/// that was allocated. Where the resource throws std::bad_alloc, the adapter throws `error` with
/// errc::out_of_memory; other exceptions pass through.
///
/// @tparam Upstream the resource; deduced.
template <class Upstream>
class memory_resource_adapter final : public memory_resource {
  static_assert(detail::allocates_stream_first<Upstream> || detail::allocates_async<Upstream> ||
                    detail::allocates_stream_last<Upstream>,
                "not a stream-ordered resource: it has none of allocate(stream, bytes, alignment), "
                "allocate_async(bytes, alignment, stream) and allocate(bytes, stream)");

 public:
  /// Constructs an adapter of `upstream`.
  explicit memory_resource_adapter(Upstream& upstream) noexcept : upstream_(upstream) {}

 private:
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    try {
      if constexpr (detail::allocates_stream_first<Upstream>) {
        return upstream_.allocate(stream, bytes, detail::adapter_alignment);
      } else if constexpr (detail::allocates_async<Upstream>) {
        return upstream_.allocate_async(bytes, detail::adapter_alignment, stream);
      } else {
        return upstream_.allocate(bytes, stream);
      }
    } catch (const std::bad_alloc& e) {
      throw error(errc::out_of_memory,
                  "the memory resource has no " + std::to_string(bytes) + " bytes left: " + e.what());
    }
  }

  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    if constexpr (detail::allocates_stream_first<Upstream>) {
      upstream_.deallocate(stream, p, bytes, detail::adapter_alignment);
    } else if constexpr (detail::allocates_async<Upstream>) {
      upstream_.deallocate_async(p, bytes, detail::adapter_alignment, stream);
    } else {
      upstream_.deallocate(p, bytes, stream);
    }
  }

  Upstream& upstream_;
};

}  // namespace sptrsv::SPTRSV_ABI
