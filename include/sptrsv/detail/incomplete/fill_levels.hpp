// SPDX-License-Identifier: Apache-2.0
// The symbolic part of an incomplete factorisation with fill-in: which entries the factors have, by their
// level of fill. It runs on the host, by several threads if A is large. And the matrix that is factorised: A
// with the zeros that fill in.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/host_team.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/detail/incomplete/method.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Returns the lists with all pairs reversed: v is in the list of w if w was in that of v. They ascend.
template <class Index, class Lists>
vertex_lists<Index> reversed(const Lists& lists) {
  return lists_of<Index>(lists.size(), [&](const auto& add) {
    for (std::int64_t v = 0; v < lists.size(); ++v) {
      for (const Index* w = lists.begin(v); w != lists.end(v); ++w) {
        add(*w, static_cast<Index>(v));
      }
    }
  });
}

/// The entries of a stored matrix as edges, without a copy.
template <class Index, class Offset>
struct stored_edges {
  const pattern_view<Index, Offset>& a;

  [[nodiscard]] std::int64_t size() const { return a.size; }
  [[nodiscard]] const Index* begin(std::int64_t v) const { return a.indices + a.offsets[v]; }
  [[nodiscard]] const Index* end(std::int64_t v) const { return a.indices + a.offsets[v + 1]; }
};

/// Searches a graph for the fill-in above the diagonal. An entry (i, j) of the factors has the level of fill
/// d if the shortest path from i to j whose inner vertices are smaller than both has d + 1 edges (Hysom and
/// Pothen, Level-based incomplete LU factorization: graph model and algorithms, 2002). For j > i the inner
/// vertices are below i, so a breadth-first search from i finds all such j, and no row needs another one.
template <class Index>
class fill_search {
 public:
  explicit fill_search(std::int64_t size) : seen_from_(at(size), Index{-1}) {}

  /// Appends the vertices j > i up to `fill_level` to `found`, ascending.
  template <class Edges>
  void search(const Edges& edges, Index i, std::int64_t fill_level, std::vector<Index>& found) {
    const auto first = static_cast<std::ptrdiff_t>(found.size());
    seen_from_[at(i)] = i;
    here_.assign(1, i);
    for (std::int64_t level = 0; level <= fill_level && !here_.empty(); ++level) {
      next_.clear();
      for (const Index v : here_) {
        for (const Index* w = edges.begin(v); w != edges.end(v); ++w) {
          Index& seen = seen_from_[at(*w)];
          if (seen != i) {
            seen = i;
            (*w > i ? found : next_).push_back(*w);
          }
        }
      }
      std::swap(here_, next_);
    }
    std::sort(found.begin() + first, found.end());
  }

 private:
  std::vector<Index> seen_from_;  ///< by vertex: the last i whose search has met it
  std::vector<Index> here_;       ///< the vertices below i whose edges are followed
  std::vector<Index> next_;
};

/// Entries of a matrix whose fill-in takes much longer to find than threads need to begin and to end
/// together, also on a machine whose cores are busy.
inline constexpr std::int64_t many_filled_entries = 200'000;

/// Returns how many threads search at the same time for a matrix with so many entries.
inline int fill_threads(std::int64_t entries) {
  return entries >= many_filled_entries ? host_team::allowed_threads() : 1;
}

/// Rows that a thread takes at a time.
inline constexpr std::int64_t chunk_rows = 4096;

/// Returns for each vertex i, ascending, the j > i for which (i, j) is an entry of the factors.
template <class Index, class Edges>
vertex_lists<Index> fill_above(const Edges& edges, std::int64_t fill_level) {
  const std::int64_t size = edges.size();
  const std::int64_t chunks = (size + chunk_rows - 1) / chunk_rows;
  const int threads =
      chunks > 1 ? fill_threads(static_cast<std::int64_t>(edges.end(size - 1) - edges.begin(0))) : 1;
  vertex_lists<Index> made;
  made.offsets.assign(at(size) + 1, 0);
  std::vector<std::vector<Index>> found(at(chunks));
  std::vector<fill_search<Index>> searches(at(threads), fill_search<Index>(size));
  for_each_taken_in_chunks(size, chunk_rows, threads, [&](std::int64_t i, std::size_t thread) {
    auto& of_chunk = found[at(i / chunk_rows)];
    const std::size_t before = of_chunk.size();
    searches[thread].search(edges, static_cast<Index>(i), fill_level, of_chunk);
    made.offsets[at(i) + 1] = static_cast<std::int64_t>(of_chunk.size() - before);
  });
  for (std::size_t i = 1; i < made.offsets.size(); ++i) {
    made.offsets[i] += made.offsets[i - 1];
  }
  made.vertices.resize(at(made.offsets.back()));
  for_each_taken(chunks, threads, [&](std::int64_t chunk, std::size_t) {
    const auto& of_chunk = found[at(chunk)];
    const auto begin = made.offsets[at(chunk * chunk_rows)];
    std::copy(of_chunk.begin(), of_chunk.end(), made.vertices.begin() + begin);
  });
  return made;
}

/// The pattern of the factors, stored as A is.
template <class Index, class Offset>
struct filled_pattern {
  std::vector<Offset> offsets;  ///< by row (column), size + 1
  std::vector<Index> indices;   ///< ascending in each row (column)
  std::vector<Offset> sources;  ///< by entry: its index in A; -1: A has no such entry
};

/// Finds the pattern of the factors up to a level of fill: for LU of both, for Cholesky of the lower one.
template <method Method, class Index, class Offset>
class fill_in {
  static constexpr bool is_lu = Method == method::lu;

 public:
  /// `a` is in host memory. Throws for the first offending row as `analyze` does, for LU for both triangles,
  /// and errc::invalid_argument if the entries exceed the offset type.
  static filled_pattern<Index, Offset> of(const pattern_view<Index, Offset>& a, std::int64_t fill_level) {
    validate_storage_on_host(a, a.size);
    const fill_in found(a, fill_level);
    filled_pattern<Index, Offset> made;
    if (!found.merge_into(made)) {  // a diagonal entry is missing, or an entry is stored twice
      validate_on_host(a, triangle_form(system_options{uplo::lower}, a.by_columns));
      validate_on_host(a, triangle_form(system_options{uplo::upper}, a.by_columns));
    }
    return made;
  }

 private:
  fill_in(const pattern_view<Index, Offset>& a, std::int64_t fill_level) : a_(a) {
    if constexpr (is_lu) {
      const stored_edges<Index, Offset> edges{a};
      above_ = fill_above<Index>(edges, fill_level);
      below_ = reversed<Index>(fill_above<Index>(reversed<Index>(edges), fill_level));
    } else {
      const auto edges = undirected_edges<Index, std::int64_t>(
          a, [&](std::int64_t m, Index minor) { return is_used(m, minor); });
      above_ = fill_above<Index>(edges, fill_level);
      below_ = lists_of<Index>(a.size, [](const auto&) {});
      if (!a.by_columns) {
        std::swap(below_, above_);
        below_ = reversed<Index>(below_);
      }
    }
  }

  /// Returns whether the method uses the entry of major index m.
  [[nodiscard]] bool is_used(std::int64_t m, Index minor) const {
    return is_lu || (a_.by_columns ? minor >= m : minor <= m);
  }

  /// Writes the entries below the diagonal, the diagonal, those above it, and their sources. Returns false if
  /// A lacks a diagonal entry or has an entry twice.
  bool merge_into(filled_pattern<Index, Offset>& made) const {
    const auto offset_of = [&](std::int64_t m) { return m + below_.offsets[at(m)] + above_.offsets[at(m)]; };
    const std::int64_t entries = offset_of(a_.size);
    SPTRSV_EXPECTS(
        entries <= max_count<Offset>, errc::invalid_argument,
        "the factors have " + std::to_string(entries) + " entries, which do not fit the offset type");
    made.offsets.resize(at(a_.size) + 1);
    made.indices.resize(at(entries));
    made.sources.assign(at(entries), Offset{-1});
    made.offsets.back() = static_cast<Offset>(entries);
    std::atomic<bool> is_valid{true};
    for_each_taken_in_chunks(a_.size, chunk_rows, fill_threads(a_.entries), [&](std::int64_t m, std::size_t) {
      const auto begin = at(offset_of(m));
      made.offsets[at(m)] = static_cast<Offset>(begin);
      const auto first = made.indices.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto diagonal = std::copy(below_.begin(m), below_.end(m), first);
      *diagonal = static_cast<Index>(m);
      const auto end = std::copy(above_.begin(m), above_.end(m), diagonal + 1);
      simt::host_context ctx;
      const auto sources = made.sources.begin() + static_cast<std::ptrdiff_t>(begin);
      for (Offset e = a_.offsets[m]; e < a_.offsets[m + 1]; ++e) {
        if (is_used(m, a_.indices[e])) {
          Offset& source = sources[std::lower_bound(first, end, a_.indices[e]) - first];
          if (source >= 0) {
            is_valid = false;
          }
          source = a_.value_index(ctx, m, e);
        }
      }
      if (sources[diagonal - first] < 0) {
        is_valid = false;
      }
    });
    return is_valid;
  }

  const pattern_view<Index, Offset>& a_;
  vertex_lists<Index> below_;  ///< before the diagonal of each major index
  vertex_lists<Index> above_;  ///< behind it
};

/// The pattern of the factors, and the values of A on it, where the executor computes. Both are stored as A
/// is.
template <method Method, class Scalar, class Index, class Offset, class Executor>
class filled_matrix {
 public:
  /// Finds the pattern of the factors of `a`; at level 0 it is that of `a`. Synchronises. Throws as
  /// fill_in::of.
  filled_matrix(const pattern_view<Index, Offset>& a, std::int64_t fill_level, const Executor& on,
                memory_resource& resource)
      : pattern_(a) {
    if (fill_level == 0) {
      return;
    }
    const auto found = fill_in<Method, Index, Offset>::of(pattern_copy(a, on).view(), fill_level);
    pattern_.block = 1;  // the values of the factors are by entry
    pattern_.entries = static_cast<std::int64_t>(found.indices.size());
    pattern_.offsets = arrays_.add(found.offsets, on, resource);
    pattern_.indices = arrays_.add(found.indices, on, resource);
    sources_ = arrays_.add(found.sources, on, resource);
    values_ = arrays_.make<Scalar>(pattern_.entries, on, resource);
  }

  /// Returns whether the pattern may have entries that `a` has not: then its arrays are those of this object.
  /// Otherwise they are those of `a`.
  [[nodiscard]] bool has_fill() const { return arrays_.bytes() > 0; }
  [[nodiscard]] const pattern_view<Index, Offset>& pattern() const { return pattern_; }
  [[nodiscard]] std::size_t bytes() const { return arrays_.bytes(); }

  /// Enqueues the copy of the values of A and returns where they are, by entry of the factors.
  const Scalar* take_values(const Scalar* a, const Executor& on) const {
    if (!has_fill()) {
      return a;
    }
    simt::for_each(on, pattern_.entries,
                   triangle_kernels::gather_values<Scalar, Offset>{a, sources_, values_, false});
    return values_;
  }

 private:
  pattern_view<Index, Offset> pattern_;
  device_arrays arrays_;
  const Offset* sources_ = nullptr;  ///< by entry, see filled_pattern
  Scalar* values_ = nullptr;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
