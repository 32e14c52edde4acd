// SPDX-License-Identifier: Apache-2.0
// Access to scalars that several threads update: real and imaginary part separately.
#pragma once

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Number of real words of a scalar.
template <class Scalar>
inline constexpr int real_words = is_complex_v<Scalar> ? 2 : 1;

/// Returns the address of the first real word of a scalar.
template <class Scalar>
SPTRSV_HOST_DEVICE auto* real_words_of(Scalar* p) {
  using real = real_t<Scalar>;
  return reinterpret_cast<std::conditional_t<std::is_const_v<Scalar>, const real, real>*>(p);
}

/// The real words of a scalar.
template <class Scalar>
struct scalar_words {
  real_t<Scalar> word[real_words<Scalar>];
};

/// Adds `term` to *sum atomically. Additions of several threads happen in any order, so the last bits of the
/// sum vary from run to run. On the GPU a subnormal sum of floats becomes zero.
template <class Context, class Scalar>
SPTRSV_DEVICE void add_words(Context& ctx, Scalar* sum, Scalar term) {
  const auto words = bit_cast<scalar_words<Scalar>>(term);
  for (int w = 0; w < real_words<Scalar>; ++w) {
    ctx.reduce_add(real_words_of(sum) + w, words.word[w]);
  }
}

/// Loads a scalar word by word with relaxed loads. `IsShared`: it is in shared memory.
template <bool IsShared = false, class Context, class Scalar>
SPTRSV_DEVICE Scalar load_words_relaxed(Context& ctx, const Scalar* p) {
  scalar_words<Scalar> words;
  for (int w = 0; w < real_words<Scalar>; ++w) {
    const auto* const word = real_words_of(p) + w;
    words.word[w] = IsShared ? ctx.load_shared(word) : ctx.load_relaxed(word);
  }
  return bit_cast<Scalar>(words);
}

/// Stores a scalar word by word with relaxed stores.
template <class Context, class Scalar>
SPTRSV_DEVICE void store_words_relaxed(Context& ctx, Scalar* p, Scalar value) {
  const auto words = bit_cast<scalar_words<Scalar>>(value);
  for (int w = 0; w < real_words<Scalar>; ++w) {
    ctx.store_relaxed(real_words_of(p) + w, words.word[w]);
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail
