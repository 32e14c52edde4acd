// The value that is its own flag.
#include "sptrsv/detail/sync/value_flag.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/test/support.hpp"
#include "support/layout.hpp"

namespace sptrsv::SPTRSV_ABI::detail {
namespace {

using sptrsv::testing::from_bytes;

template <class Scalar>
class flags : public ::testing::Test {};
using scalars = ::testing::Types<float, double, cplx<float>, cplx<double>>;
TYPED_TEST_SUITE(flags, scalars);

/// The words of a component far behind the first one: nothing is read, only the address counts.
TYPED_TEST(flags, have_addresses_of_64_bits) {
  using flag = value_flag<TypeParam>;
  using word = typename flag::word;
  constexpr std::uintptr_t base = std::uintptr_t{1} << 44;
  for (const std::int32_t index : {0, 1, 1 << 29, 1 << 30, INT32_MAX}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(flag::address(reinterpret_cast<word*>(base), index)),
              base + static_cast<std::uintptr_t>(index) * sizeof(TypeParam));
  }
}

/// A published value never reads as pending, and passes unchanged unless it has the reserved bits.
TYPED_TEST(flags, pass_every_value_on) {
  using flag = value_flag<TypeParam>;
  using word = typename flag::word;
  using namespace sptrsv::emulator::testing;
  std::vector<TypeParam> values;
  for (const int byte : {0x00, 0x3f, 0x7f, 0x80, 0xbf, 0xfe, 0xff}) {
    values.push_back(from_bytes<TypeParam>(static_cast<unsigned char>(byte)));
  }
  TypeParam half_reserved = from_bytes<TypeParam>(0x3f);  // only the last word is reserved
  std::memset(reinterpret_cast<unsigned char*>(&half_reserved) + sizeof(TypeParam) - sizeof(word), 0xff,
              sizeof(word));
  values.push_back(half_reserved);

  emulator::device d(with_schedule(emulator::schedule::random, 0, 5));
  const emulator::executor on(&d);
  const std::size_t words = values.size() * flag::words;
  const auto memory = to_device(on, std::vector<word>(words, flag::pending));
  const auto in = to_device(on, values);
  const auto out = uninitialised<TypeParam>(on, values.size());
  launch<64>(on, 1,
             [=, memory = memory.data(), in = in.data(), out = out.data(), count = values.size()](auto& ctx,
                                                                                                  nothing&) {
               const auto i = static_cast<std::size_t>(ctx.thread_rank() / 2);
               if (i < count && ctx.thread_rank() % 2 == 0) {
                 flag::publish(ctx, memory + i * flag::words, ctx.load_constant(in + i));
               } else if (i < count) {
                 const auto seen = flag::try_load(ctx, memory + i * flag::words);
                 ctx.store(out + i, flag::wait(ctx, memory + i * flag::words, seen));
               }
             });
  const auto passed = to_host(on, out);
  const auto stored = to_host(on, memory);
  for (const word w : stored) {
    EXPECT_NE(w, flag::pending);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    word sent[flag::words];
    word got[flag::words];
    std::memcpy(sent, &values[i], sizeof(sent));
    std::memcpy(got, &passed[i], sizeof(got));
    for (int w = 0; w < flag::words; ++w) {
      EXPECT_EQ(got[w], sent[w] == flag::pending ? flag::canonical_nan : sent[w]) << i << ", word " << w;
    }
  }
  real_t<TypeParam> nan;
  const word canonical = flag::canonical_nan;
  std::memcpy(&nan, &canonical, sizeof(nan));
  EXPECT_TRUE(std::isnan(nan));
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail
