// memory_resource_adapter: the signatures of the generations of RMM and libcu++, by classes that have them.
#include "sptrsv/interop/memory_resource_adapter.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <ostream>
#include <string>
#include <vector>

namespace sptrsv::testing {
namespace {

/// Constructed from a cudaStream_t, as rmm::cuda_stream_view and cuda::stream_ref are.
class stream_view {
 public:
  stream_view(stream_handle stream) : stream_(stream) {}  // NOLINT: implicit, as in RMM
  stream_view(int) = delete;
  stream_view(std::nullptr_t) = delete;
  [[nodiscard]] stream_handle value() const { return stream_; }

 private:
  stream_handle stream_;
};

/// What a resource was asked for.
struct request {
  std::string call;
  std::size_t bytes;
  std::size_t alignment;  ///< 0: not named
  stream_handle stream;
};
bool operator==(const request& a, const request& b) {
  return a.call == b.call && a.bytes == b.bytes && a.alignment == b.alignment && a.stream == b.stream;
}
std::ostream& operator<<(std::ostream& out, const request& r) {
  return out << r.call << ", " << r.bytes << " bytes, alignment " << r.alignment << ", stream " << r.stream;
}

/// Notes the requests; refuses more than a thousand bytes.
class recorder {
 public:
  std::vector<request> requests;

 protected:
  void* take(const request& asked) {
    if (asked.bytes > 1000) {
      throw std::bad_alloc();
    }
    requests.push_back(asked);
    return ::operator new (asked.bytes, std::align_val_t{256});
  }
  void give(void* p, const request& asked) {
    requests.push_back(asked);
    ::operator delete (p, std::align_val_t{256});
  }
};

/// rmm::mr::device_memory_resource before RMM 23.12.
struct rmm_stream_last : recorder {
  void* allocate(std::size_t bytes, stream_view stream) {
    return take({"allocate", bytes, 0, stream.value()});
  }
  void deallocate(void* p, std::size_t bytes, stream_view stream) {
    give(p, {"deallocate", bytes, 0, stream.value()});
  }
};

/// rmm::mr::device_memory_resource until RMM 25.10; the resources of CCCL 2 and 3.0.
struct rmm_async : rmm_stream_last {
  using rmm_stream_last::allocate;
  using rmm_stream_last::deallocate;
  void* allocate(std::size_t bytes, std::size_t alignment) {  // synchronous
    return take({"allocate without stream", bytes, alignment, nullptr});
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment) {
    give(p, {"deallocate without stream", bytes, alignment, nullptr});
  }
  void* allocate_async(std::size_t bytes, std::size_t alignment, stream_view stream) {
    return take({"allocate_async", bytes, alignment, stream.value()});
  }
  void* allocate_async(std::size_t bytes, stream_view stream) {
    return take({"allocate_async without alignment", bytes, 0, stream.value()});
  }
  void deallocate_async(void* p, std::size_t bytes, std::size_t alignment, stream_view stream) {
    give(p, {"deallocate_async", bytes, alignment, stream.value()});
  }
};

/// rmm::mr::device_memory_resource since RMM 25.12; the resources of CCCL 3.1.
struct rmm_stream_first : recorder {
  void* allocate(stream_view stream, std::size_t bytes, std::size_t alignment = 256) {
    return take({"allocate", bytes, alignment, stream.value()});
  }
  void deallocate(stream_view stream, void* p, std::size_t bytes, std::size_t alignment = 256) noexcept {
    give(p, {"deallocate", bytes, alignment, stream.value()});
  }
  void* allocate_sync(std::size_t bytes, std::size_t alignment = 256) {
    return take({"allocate_sync", bytes, alignment, nullptr});
  }
};

template <class Resource>
std::vector<request> requests_of_one_buffer(stream_handle stream) {
  Resource resource;
  memory_resource_adapter adapter(resource);
  { const buffer<double> b(5, adapter, stream); }
  return resource.requests;
}

int anything = 0;
const auto some_stream = reinterpret_cast<stream_handle>(&anything);

TEST(MemoryResourceAdapter, PassesOnBytesAlignmentAndStream) {
  EXPECT_EQ(requests_of_one_buffer<rmm_stream_last>(some_stream),
            (std::vector<request>{{"allocate", 40, 0, some_stream}, {"deallocate", 40, 0, some_stream}}));
  EXPECT_EQ(requests_of_one_buffer<rmm_async>(some_stream),
            (std::vector<request>{{"allocate_async", 40, 256, some_stream},
                                  {"deallocate_async", 40, 256, some_stream}}));
  EXPECT_EQ(requests_of_one_buffer<rmm_stream_first>(some_stream),
            (std::vector<request>{{"allocate", 40, 256, some_stream}, {"deallocate", 40, 256, some_stream}}));
}

TEST(MemoryResourceAdapter, TakesTheNullStream) {
  EXPECT_EQ(requests_of_one_buffer<rmm_stream_first>(nullptr).front(),
            (request{"allocate", 40, 256, nullptr}));
}

TEST(MemoryResourceAdapter, ReportsThatMemoryIsExhausted) {
  rmm_async resource;
  memory_resource_adapter adapter(resource);
  try {
    const buffer<double> b(1000, adapter, nullptr);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
  }
}

/// A reference to a resource, as cuda::mr::resource_ref: copyable, and const where it is used.
class const_reference {
 public:
  explicit const_reference(rmm_stream_first& to) : to_(&to) {}
  void* allocate(stream_view stream, std::size_t bytes, std::size_t alignment) const {
    return to_->allocate(stream, bytes, alignment);
  }
  void deallocate(stream_view stream, void* p, std::size_t bytes, std::size_t alignment) const noexcept {
    to_->deallocate(stream, p, bytes, alignment);
  }

 private:
  rmm_stream_first* to_;
};

TEST(MemoryResourceAdapter, TakesReferencesToResources) {
  rmm_stream_first resource;
  const const_reference reference(resource);
  memory_resource_adapter adapter(reference);
  { const buffer<double> b(5, adapter, some_stream); }
  EXPECT_EQ(resource.requests.size(), 2u);
}

}  // namespace
}  // namespace sptrsv::testing
