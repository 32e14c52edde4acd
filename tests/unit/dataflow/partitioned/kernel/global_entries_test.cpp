// Global entries of the partitioned path in systems of nearly 2^31 rows: the addresses of their components.
// The components lie nowhere; a context records the addresses and returns zeros.
#include "sptrsv/detail/dataflow/partitioned/kernel/pipeline.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {
namespace {

struct recording_context {
  std::vector<std::uintptr_t> loaded;

  template <int Words, class Word>
  void load_words(const Word* from, Word* to) {
    loaded.push_back(reinterpret_cast<std::uintptr_t>(from));
    for (int w = 0; w < Words; ++w) {
      to[w] = 0;
    }
  }
  template <int Words, class Word>
  void load_relaxed_words(const Word* from, Word* to) {
    load_words<Words>(from, to);
  }
  template <class T>
  T load_constant(const T* from) const {
    return *from;
  }
  void spin(const void*) const {}
};

struct lane_alone {
  [[nodiscard]] bool all(bool condition) const { return condition; }
};

template <class Scalar>
class global_entries_of_large_systems : public ::testing::Test {};
using scalars = ::testing::Types<float, double, cplx<float>, cplx<double>>;
TYPED_TEST_SUITE(global_entries_of_large_systems, scalars);

/// Expects that the entries of one row with these solve indices read the components there.
template <class Scalar, class Shape>
void expect_addresses(const std::vector<std::int32_t>& solve_indices) {
  using unknown = typename shared_layout<Scalar, Shape>::unknown;
  using flag = value_flag<unknown>;
  constexpr slice_format format = slice_format::of<Scalar>(values_of<Shape>());
  const auto width = static_cast<std::uint32_t>(solve_indices.size());
  slice_head head{};
  head.counts = slice_head::pack_counts(1, 0, width, 1);
  head.sizes = format.sizes(1);
  const slice_offsets offsets = format.offsets(head);
  std::vector<std::uint64_t> memory(static_cast<std::size_t>(offsets.bytes(static_cast<int>(width))) / 8 + 2);
  auto* const slice = reinterpret_cast<unsigned char*>(memory.data());
  for (std::uint32_t k = 0; k < width; ++k) {
    unsigned char* const column =
        slice + offsets.global_columns + static_cast<int>(k) * offsets.global_column_bytes;
    *reinterpret_cast<std::int32_t*>(column) = solve_indices[k];
  }
  recording_context ctx;
  constexpr std::uintptr_t base = std::uintptr_t{1} << 44;
  const global_entries<Scalar, Shape, recording_context, lane_alone> entries(
      ctx, lane_alone{}, 0, reinterpret_cast<const typename flag::word*>(base));
  entries.products(slice, slice, head, offsets);
  std::vector<std::uintptr_t> expected;
  for (const std::int32_t index : solve_indices) {
    for (int w = 0; w < flag::words; w += flag::words_at_once) {
      expected.push_back(base + static_cast<std::uintptr_t>(index) * sizeof(unknown) +
                         static_cast<std::uintptr_t>(w) * sizeof(typename flag::word));
    }
  }
  EXPECT_EQ(ctx.loaded, expected) << sizeof(Scalar);
}

TYPED_TEST(global_entries_of_large_systems, have_addresses_of_64_bits) {
  for (const std::int32_t near :
       {std::int32_t{1} << 28, std::int32_t{1} << 29, std::int32_t{1} << 30, INT32_MAX - 63}) {
    expect_addresses<TypeParam, kernel_shape<1, 32, 2, 4, 1, false, 1>>({near - 1, near});
    expect_addresses<TypeParam, kernel_shape<1, 32, 2, 4, 1, false, 4>>({near - 1, near});
    expect_addresses<TypeParam, kernel_shape<1, 32, 2, 4, 1, false, 4>>({0, near, near - 2, near + 1});
  }
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
