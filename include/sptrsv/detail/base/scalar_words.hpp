// A scalar in memory that other threads update: it is read and added to word by word, a complex number in
// two.
#pragma once

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::detail {

template <class Scalar>
inline constexpr int real_words = is_complex_v<Scalar> ? 2 : 1;

template <class Scalar>
SPTRSV_HOST_DEVICE const real_t<Scalar>* real_words_of(const Scalar* p) {
  return reinterpret_cast<const real_t<Scalar>*>(p);
}
template <class Scalar>
SPTRSV_HOST_DEVICE real_t<Scalar>* real_words_of(Scalar* p) {
  return reinterpret_cast<real_t<Scalar>*>(p);
}

/// The words as one scalar.
template <class Scalar>
struct scalar_words {
  real_t<Scalar> word[real_words<Scalar>];
};

/// Adds in any order with what others add: the sum is not the same in every bit from run to run. On the GPU
/// sums of floats that are subnormal become zero.
template <class Context, class Scalar>
SPTRSV_DEVICE void add_words(Context& ctx, Scalar* sum, Scalar term) {
  const auto words = bit_cast<scalar_words<Scalar>>(term);
  for (int w = 0; w < real_words<Scalar>; ++w) {
    ctx.reduce_add(real_words_of(sum) + w, words.word[w]);
  }
}

template <class Context, class Scalar>
SPTRSV_DEVICE Scalar load_words_relaxed(Context& ctx, const Scalar* p) {
  scalar_words<Scalar> words;
  for (int w = 0; w < real_words<Scalar>; ++w) {
    words.word[w] = ctx.load_relaxed(real_words_of(p) + w);
  }
  return bit_cast<Scalar>(words);
}

/// `p` is in shared memory.
template <class Context, class Scalar>
SPTRSV_DEVICE Scalar load_words_shared(Context& ctx, const Scalar* p) {
  scalar_words<Scalar> words;
  for (int w = 0; w < real_words<Scalar>; ++w) {
    words.word[w] = ctx.load_shared(real_words_of(p) + w);
  }
  return bit_cast<Scalar>(words);
}

template <class Context, class Scalar>
SPTRSV_DEVICE void store_words_relaxed(Context& ctx, Scalar* p, Scalar value) {
  const auto words = bit_cast<scalar_words<Scalar>>(value);
  for (int w = 0; w < real_words<Scalar>; ++w) {
    ctx.store_relaxed(real_words_of(p) + w, words.word[w]);
  }
}

}  // namespace sptrsv::detail
