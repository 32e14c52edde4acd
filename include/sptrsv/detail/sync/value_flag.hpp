// SPDX-License-Identifier: Apache-2.0
// A value that is its own flag: a component of x holds a reserved NaN until it is solved. A consumer polls
// flag and value in one round trip to memory, without a fence. Each word of a complex number is its own flag.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Reads and writes flagged components of type Scalar, which is a scalar or an rhs_pack.
template <class Scalar>
struct value_flag {
  using real = real_t<Scalar>;
  using word = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int words = sizeof(Scalar) / sizeof(word);
  /// Words that one instruction moves: as many as the alignment of a component allows.
  static constexpr int words_at_once = alignof(Scalar) > sizeof(real)
                                           ? static_cast<int>(alignof(Scalar) / sizeof(word))
                                           : 1;
  /// Content of a word that is not solved: a quiet NaN that the arithmetic of the GPU does not produce. All
  /// bits are set, so that a memset can write it.
  static constexpr word pending = ~word{0};
  /// Replaces a computed NaN that has the reserved bits.
  static constexpr word canonical_nan = sizeof(real) == 4 ? word{0x7fc00000u} : word(0x7ff8000000000000u);

  /// Returns the address of component `index` of an array. The offset has 64 bits, because the words of
  /// 2^31 components are more than 32 bits can count.
  template <class Word>
  SPTRSV_HOST_DEVICE static Word* address(Word* components, std::int64_t index) {
    return components + index * words;
  }

  /// What was read from the words of a component.
  struct reading {
    array_of<word, words> bits;

    SPTRSV_HOST_DEVICE Scalar value() const { return bit_cast<Scalar>(*this); }
  };

  /// Returns a known zero, for a component that nothing waits for.
  SPTRSV_HOST_DEVICE static reading zero() { return bit_cast<reading>(Scalar{}); }

  /// Returns the reading of a component that has not been read.
  SPTRSV_HOST_DEVICE static reading unseen() {
    reading r;
    for (int w = 0; w < words; ++w) {
      r.bits[w] = pending;
    }
    return r;
  }

  /// Returns whether no word is pending.
  SPTRSV_HOST_DEVICE static bool is_known(const reading& seen) {
    bool known = true;
    for (int w = 0; w < words; ++w) {
      known = known && seen.bits[w] != pending;
    }
    return known;
  }

  /// Loads a component once.
  template <class Context>
  SPTRSV_DEVICE static reading try_load(Context& ctx, const word* component) {
    reading seen;
    for (int w = 0; w < words; w += words_at_once) {
      ctx.template load_relaxed_words<words_at_once>(component + w, seen.bits + w);
    }
    return seen;
  }

  /// Loads a component once through the cache of the SM, which saves a trip to memory if another thread of
  /// the SM has loaded it before. The cache may hold an old value and keep it, so poll with poll().
  template <class Context>
  SPTRSV_DEVICE static reading try_load_cached(Context& ctx, const word* component) {
    reading seen;
    for (int w = 0; w < words; w += words_at_once) {
      ctx.template load_words<words_at_once>(component + w, seen.bits + w);
    }
    return seen;
  }

  /// Loads a component that is known to be published, by an earlier launch or before a barrier.
  template <class Context>
  SPTRSV_DEVICE static reading read(Context& ctx, const word* component) {
    return try_load_cached(ctx, component);
  }

  /// Loads the words that are pending in `seen` once more.
  template <class Context>
  SPTRSV_DEVICE static void poll(Context& ctx, const word* component, reading& seen) {
    for (int w = 0; w < words; w += words_at_once) {
      if (is_any_pending(seen.bits + w)) {
        ctx.template load_relaxed_words<words_at_once>(component + w, seen.bits + w);
      }
    }
  }

  /// Returns the address of a word that is pending in `seen`; null if none is.
  SPTRSV_DEVICE static const word* missing(const word* component, const reading& seen) {
    const word* pending_word = nullptr;
    for (int w = 0; w < words; ++w) {
      pending_word = seen.bits[w] == pending ? component + w : pending_word;
    }
    return pending_word;
  }

  /// Polls the words that are pending in `seen` until none is, with back-off. Returns the component.
  template <class Context>
  SPTRSV_DEVICE static Scalar wait(Context& ctx, const word* component, reading seen) {
    for (int w = 0; w < words; ++w) {
      while (seen.bits[w] == pending) {
        ctx.pause(component + w);
        seen.bits[w] = ctx.load_relaxed(component + w);
      }
    }
    return seen.value();
  }

  /// Stores a component, which then is not pending any more.
  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, word* component, Scalar value) {
    auto seen = bit_cast<reading>(value);
    for (int w = 0; w < words; ++w) {
      seen.bits[w] = seen.bits[w] == pending ? canonical_nan : seen.bits[w];
    }
    store(ctx, component, seen);
  }

  /// Marks a component pending.
  template <class Context>
  SPTRSV_DEVICE static void reset(Context& ctx, word* component) {
    store(ctx, component, unseen());
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static void store(Context& ctx, word* component, const reading& bits) {
    for (int w = 0; w < words; w += words_at_once) {
      ctx.template store_relaxed_words<words_at_once>(component + w, bits.bits + w);
    }
  }

  /// Returns whether a word is pending among those that one instruction loads with *bits.
  SPTRSV_DEVICE static bool is_any_pending(const word* bits) {
    bool any = false;
    for (int w = 0; w < words_at_once; ++w) {
      any = any || bits[w] == pending;
    }
    return any;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail
