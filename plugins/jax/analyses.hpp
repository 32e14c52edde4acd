// SPDX-License-Identifier: Apache-2.0
// What the calls of sptrsv.jax share: their attributes and matrices, and the analyses that are kept for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "sptrsv.h"
#include "xla/ffi/api/ffi.h"

namespace sptrsv_jax {

namespace ffi = xla::ffi;

/// An error for XLA, which raises it in Python.
struct failure {
  ffi::Error error;
};

[[noreturn]] inline void fail(const std::string& sentence) {
  throw failure{ffi::Error::InvalidArgument(sentence)};
}

/// Throws the error of a call of the library, if it has failed.
inline void check(sptrsv_code code) {
  switch (code) {
    case SPTRSV_SUCCESS:
      return;
    case SPTRSV_OUT_OF_MEMORY:
      throw failure{{ffi::ErrorCode::kResourceExhausted, sptrsv_last_error()}};
    case SPTRSV_CUDA_ERROR:
    case SPTRSV_INTERNAL_ERROR:
      throw failure{ffi::Error::Internal(sptrsv_last_error())};
    default:
      fail(sptrsv_last_error());
  }
}

/// The attributes of a call, as sptrsv.jax passes them: all that an analysis depends on, apart from sizes.
struct attributes {
  std::string pattern;  ///< a digest of the pattern
  std::string policy;   ///< of sptrsv_options; empty: the default
  std::int64_t storage, part, diagonal, operation, max_rhs;
  std::int64_t method;  ///< sptrsv_incomplete_method; -1: the call is a solve

  explicit attributes(const ffi::Dictionary& from)
      : pattern(get<std::string_view>(from, "pattern")),
        policy(get<std::string_view>(from, "policy")),
        storage(get<std::int64_t>(from, "storage")),
        part(get<std::int64_t>(from, "part")),
        diagonal(get<std::int64_t>(from, "diagonal")),
        operation(get<std::int64_t>(from, "operation")),
        max_rhs(get<std::int64_t>(from, "max_rhs")),
        method(get<std::int64_t>(from, "method")) {
    if (max_rhs < 1) {
      fail("the attribute max_rhs is less than 1");
    }
  }
  friend bool operator<(const attributes& a, const attributes& b) { return a.tied() < b.tied(); }

 private:
  template <class T>
  static T get(const ffi::Dictionary& from, const char* name) {
    const ffi::ErrorOr<T> found = from.get<T>(name);
    return found.has_value() ? *found : throw failure{found.error()};
  }
  std::tuple<const std::string&, const std::string&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
             std::int64_t, std::int64_t>
  tied() const {
    return {pattern, policy, storage, part, diagonal, operation, max_rhs, method};
  }
};

/// The matrices of a call: one pattern, and values of `systems` matrices, one after the other.
struct matrices {
  sptrsv_matrix first;  ///< the first of them
  std::int64_t systems;
  std::size_t value_bytes;  ///< of one value

  matrices(const attributes& of, const ffi::AnyBuffer& offsets, const ffi::AnyBuffer& indices,
           const ffi::AnyBuffer& values) {
    const auto entries = static_cast<std::int64_t>(indices.element_count());
    const auto rows = static_cast<std::int64_t>(offsets.element_count()) - 1;
    const bool has_int64 = offsets.element_type() == ffi::S64;
    const auto shape = values.dimensions();
    if (rows < 0 || shape.size() == 0 || shape.back() != entries ||
        offsets.element_type() != indices.element_type() ||
        (!has_int64 && offsets.element_type() != ffi::S32)) {
      fail("the pattern and the values of the call do not fit together");
    }
    systems = 1;
    std::for_each(shape.begin(), shape.end() - 1, [&](std::int64_t count) { systems *= count; });
    first = {static_cast<sptrsv_storage>(of.storage),
             value_type_of(values.element_type()),
             has_int64 ? SPTRSV_INT64 : SPTRSV_INT32,
             rows,
             rows,
             entries,
             offsets.untyped_data(),
             indices.untyped_data(),
             values.untyped_data()};
    value_bytes = ffi::ByteWidth(values.element_type());
  }

  const void* values_of(std::int64_t system) const {
    return static_cast<const std::byte*>(first.values) +
           static_cast<std::size_t>(system * first.entries) * value_bytes;
  }

 private:
  static sptrsv_value_type value_type_of(ffi::DataType type) {
    switch (type) {
      case ffi::F32:
        return SPTRSV_FLOAT;
      case ffi::F64:
        return SPTRSV_DOUBLE;
      case ffi::C64:
        return SPTRSV_COMPLEX_FLOAT;
      case ffi::C128:
        return SPTRSV_COMPLEX_DOUBLE;
      default:
        fail("the values are of a type that the library does not have");
    }
  }
};

/// An analysis for one stream. The first call makes the one object that all its calls need; the others stay
/// null.
struct analysis {
  std::mutex in_use;  ///< from new values to the last solve with them: calls share values and scratch memory
  sptrsv_solver* solver = nullptr;
  sptrsv_batch* batch = nullptr;
  sptrsv_incomplete* incomplete = nullptr;

  analysis() = default;
  analysis(const analysis&) = delete;
  analysis& operator=(const analysis&) = delete;
  ~analysis() {
    sptrsv_destroy(solver);
    sptrsv_destroy_batch(batch);
    sptrsv_destroy_incomplete(incomplete);
  }

  /// Makes the object for solves. A batch of systems that are too large for a block of the GPU has a solver.
  void prepare_solve(const attributes& of, const matrices& a, void* stream) {
    if (is_made()) {
      return;
    }
    sptrsv_options options{sizeof options,
                           static_cast<sptrsv_part>(of.part),
                           static_cast<sptrsv_diagonal>(of.diagonal),
                           static_cast<sptrsv_operation>(of.operation),
                           of.max_rhs,
                           nullptr,
                           0};
    if (a.systems > 1) {
      const sptrsv_batch_options systems{sizeof systems, a.systems, 0, 0};
      const sptrsv_code code = sptrsv_analyze_batch(&a.first, &systems, &options, stream, &batch);
      if (code != SPTRSV_UNSUPPORTED) {
        check(code);
      }
    }
    if (batch == nullptr) {
      options.policy = of.policy.empty() ? nullptr : of.policy.c_str();
      check(sptrsv_analyze(&a.first, &options, stream, &solver));
    }
  }
  void prepare_factorization(const attributes& of, const matrices& a, void* stream) {
    if (!is_made()) {
      sptrsv_incomplete_options options{};
      options.size = sizeof options;
      options.method = static_cast<sptrsv_incomplete_method>(of.method);
      check(sptrsv_analyze_incomplete(&a.first, &options, stream, &incomplete));
    }
  }

 private:
  bool is_made() const { return solver != nullptr || batch != nullptr || incomplete != nullptr; }
};

/// The analyses that the calls of all executables have used last, up to a number.
///
/// Each stream has its own: their scratch memory serves one solve at a time, and streams are not ordered. A
/// stream belongs to one GPU; on the host it is null.
class analyses {
 public:
  static constexpr std::size_t limit = 128;

  /// Returns the analysis for a call, which need not be made yet.
  std::shared_ptr<analysis> at(const attributes& of, const matrices& a, void* stream) {
    std::shared_ptr<analysis> dropped;  // destroyed after the lock, and after the calls that use it
    const std::lock_guard lock(changes_);
    entry& found = kept_[key{of, stream, a.first.value_type, a.systems}];
    found.last_use = ++uses_;
    if (found.held == nullptr) {
      found.held = std::make_shared<analysis>();
      if (kept_.size() > limit) {
        const auto oldest = std::min_element(
            kept_.begin(), kept_.end(),
            [](const auto& one, const auto& other) { return one.second.last_use < other.second.last_use; });
        dropped = std::move(oldest->second.held);
        kept_.erase(oldest);
      }
    }
    return found.held;
  }
  std::int64_t count() {
    const std::lock_guard lock(changes_);
    return static_cast<std::int64_t>(kept_.size());
  }
  void clear() {
    std::map<key, entry> dropped;
    const std::lock_guard lock(changes_);
    dropped.swap(kept_);
  }

 private:
  using key = std::tuple<attributes, void*, int, std::int64_t>;
  struct entry {
    std::shared_ptr<analysis> held;
    std::uint64_t last_use = 0;
  };

  std::mutex changes_;
  std::map<key, entry> kept_;
  std::uint64_t uses_ = 0;
};

/// Returns the analyses of the process. They are not destroyed at its end, when CUDA may be gone.
inline analyses& all_analyses() {
  static auto& all = *new analyses;
  return all;
}

}  // namespace sptrsv_jax
