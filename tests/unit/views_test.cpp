// Spans, dense views, and buffers.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/host/executor.hpp"
#include "sptrsv/types.hpp"
#include "support/counting_resource.hpp"

namespace sptrsv::testing {
namespace {

static_assert(std::is_trivially_copyable_v<span<double>>);
static_assert(std::is_trivially_copyable_v<dense_view<double>>);
static_assert(std::is_convertible_v<std::vector<double>&, span<double>>);
static_assert(std::is_convertible_v<std::vector<double>&, span<const double>>);
static_assert(std::is_convertible_v<const std::vector<double>&, span<const double>>);
static_assert(!std::is_convertible_v<const std::vector<double>&, span<double>>);
static_assert(std::is_convertible_v<span<double>, span<const double>>);
static_assert(!std::is_convertible_v<span<const double>, span<double>>);
static_assert(!std::is_convertible_v<std::vector<float>&, span<const double>>);
static_assert(!std::is_convertible_v<std::vector<int>&, span<const long>>);
static_assert(std::is_convertible_v<std::vector<double>&, dense_view<double>>);
static_assert(std::is_convertible_v<const std::vector<double>&, dense_view<const double>>);
static_assert(!std::is_convertible_v<const std::vector<double>&, dense_view<double>>);
static_assert(std::is_convertible_v<dense_view<double>, dense_view<const double>>);
static_assert(!std::is_convertible_v<dense_view<const double>, dense_view<double>>);
static_assert(!std::is_convertible_v<dense_view<float>, dense_view<const double>>);
static_assert(std::is_convertible_v<span<double>, dense_view<const double>>);
static_assert(std::is_convertible_v<buffer<double>&, dense_view<double>>);
static_assert(std::is_convertible_v<const buffer<double>&, dense_view<const double>>);
// A temporary that owns its values is taken for constants only.
static_assert(std::is_convertible_v<std::vector<double>, span<const double>>);
static_assert(!std::is_convertible_v<std::vector<double>, span<double>>);
static_assert(!std::is_convertible_v<std::vector<double>, dense_view<double>>);
static_assert(!std::is_convertible_v<buffer<double>, dense_view<double>>);
static_assert(!std::is_copy_constructible_v<memory_resource>);

TEST(Span, ViewsContainersAndRanges) {
  std::vector<int> v{1, 2, 3};
  const span<int> all(v);
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(all.data(), v.data());
  all[1] = 5;
  EXPECT_EQ(v[1], 5);
  int sum = 0;
  for (const int i : span<const int>(all)) {
    sum += i;
  }
  EXPECT_EQ(sum, 9);
  const std::array<int, 2> fixed{4, 6};
  EXPECT_EQ(span<const int>(fixed)[1], 6);
  EXPECT_EQ(span<int>(v.data() + 1, 2)[0], 5);
  const span<int> none;
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.begin(), none.end());
}

TEST(DenseView, OfOneVector) {
  std::vector<double> v(7);
  const dense_view<double> view(v);
  EXPECT_EQ(view.data, v.data());
  EXPECT_EQ(view.rows, 7);
  EXPECT_EQ(view.columns, 1);
  EXPECT_EQ(view.row_stride, 1);
  const dense_view<const double> constant = view;
  EXPECT_EQ(constant.data, v.data());
  EXPECT_EQ(constant.rows, 7);
  EXPECT_EQ(constant.columns, 1);
}

TEST(DenseView, OfAMatrix) {
  std::vector<double> v(100);
  const auto by_columns = dense_view<double>::column_major(v.data(), 5, 3, 8);
  EXPECT_EQ(by_columns.row_stride, 1);
  EXPECT_EQ(by_columns.column_stride, 8);
  const auto by_rows = dense_view<double>::row_major(v.data(), 5, 3, 4);
  EXPECT_EQ(by_rows.row_stride, 4);
  EXPECT_EQ(by_rows.column_stride, 1);
  EXPECT_EQ(by_rows.rows, 5);
  EXPECT_EQ(by_rows.columns, 3);
  const dense_view<const double> constant = by_rows;
  EXPECT_EQ(constant.row_stride, 4);
  EXPECT_EQ(constant.column_stride, 1);
  const dense_view<double> nothing;
  EXPECT_EQ(nothing.rows, 0);
  EXPECT_EQ(nothing.columns, 0);
}

TEST(HostMemory, IsAlignedAndDistinct) {
  host_memory_resource resource;
  void* const a = resource.allocate(1, nullptr);
  void* const b = resource.allocate(1000, nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % 256, 0u);
  resource.deallocate(a, 1, nullptr);
  resource.deallocate(b, 1000, nullptr);
  EXPECT_EQ(resource.allocate(0, nullptr), nullptr);
  resource.deallocate(nullptr, 0, nullptr);
}

TEST(HostMemory, SaysWhenThereIsNone) {
  host_memory_resource resource;
  try {
    static_cast<void>(resource.allocate(std::size_t{1} << 62, nullptr));
    FAIL() << "2^62 bytes";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("4611686018427387904"), std::string::npos);
  }
}

TEST(Buffer, OwnsItsMemory) {
  host_memory_resource upstream;
  counting_resource counted(upstream);
  {
    buffer<double> a(10, counted, nullptr);
    EXPECT_EQ(a.size(), 10u);
    EXPECT_EQ(a.bytes(), 80u);
    EXPECT_EQ(counted.live_bytes(), 80u);
    buffer<double> b = std::move(a);
    EXPECT_EQ(b.size(), 10u);
    EXPECT_EQ(counted.live_bytes(), 80u);
    buffer<double> c(5, counted, nullptr);
    c = std::move(b);
    EXPECT_EQ(c.size(), 10u);
    EXPECT_EQ(counted.live_bytes(), 80u);
    c = buffer<double>();
    EXPECT_EQ(c.data(), nullptr);
    EXPECT_EQ(counted.live_bytes(), 0u);
    const buffer<double> none(0, counted, nullptr);
    EXPECT_EQ(none.data(), nullptr);
  }
  EXPECT_EQ(counted.live_bytes(), 0u);
  EXPECT_EQ(counted.mistakes(), 0u);
  static_assert(!std::is_copy_constructible_v<buffer<double>>);
  static_assert(std::is_nothrow_move_constructible_v<buffer<double>>);
}

TEST(Buffer, RefusesSizesThatNoAddressSpaceHas) {
  host_memory_resource resource;
  EXPECT_THROW(buffer<double>(static_cast<std::size_t>(-1), resource, nullptr), error);
}

TEST(Errors, CarryCodeRowAndMessage) {
  const error plain(errc::not_square, "no");
  EXPECT_EQ(plain.code(), errc::not_square);
  EXPECT_FALSE(plain.row().has_value());
  EXPECT_STREQ(plain.what(), "no");
  const error with_row(errc::missing_diagonal, "row 7", 7);
  EXPECT_EQ(with_row.row().value_or(-1), 7);
  int evaluated = 0;
  const auto message = [&] { return std::to_string(++evaluated); };
  SPTRSV_EXPECTS(true, errc::invalid_argument, message());
  EXPECT_EQ(evaluated, 0);
  EXPECT_THROW(SPTRSV_EXPECTS(false, errc::invalid_argument, message()), error);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace sptrsv::testing
