// Every public call that takes several arguments checks all of them before it enqueues or changes anything.
// One table has the calls of all classes; after each of them the object, its status and its arguments are as
// before.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/any/any_batch.hpp"
#include "sptrsv/any/any_factors.hpp"
#include "sptrsv/any/any_incomplete.hpp"
#include "sptrsv/any/any_solver.hpp"
#include "sptrsv/batched.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "sptrsv/sweeps.hpp"
#include "support/emulator_target.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

constexpr std::int64_t rows = 4;
constexpr std::int64_t entries = 10;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// A call that must be refused.
struct refused_call {
  std::string name;
  errc code;
  std::function<void()> call;
};
/// An object and its calls.
struct subject {
  std::string name;
  /// Leaves a status that is not ok.
  std::function<void()> spoil;
  /// The status as numbers.
  std::function<std::vector<double>()> status;
  /// Makes the good calls and returns their results.
  std::function<std::vector<double>()> results;
  std::vector<refused_call> calls;
};

template <class Status>
std::vector<double> numbers(const Status& s) {
  return {static_cast<double>(s.code), s.row ? static_cast<double>(*s.row) : -1.0};
}
std::vector<double> numbers(const factors_status& s) {
  return {static_cast<double>(s.code), s.row ? static_cast<double>(*s.row) : -1.0,
          s.part ? static_cast<double>(*s.part) : -1.0};
}

/// A target with a tridiagonal matrix and vectors of two right-hand sides.
template <class Target>
class table : public ::testing::Test {
 public:
  using policy_type =
      std::conditional_t<std::is_same_v<Target, host_target>, policy::host_serial, policy::sync_free_thread>;
  using stream_type = typename Target::stream_type;
  using array = typename Target::template array<double>;
  using view = dense_view<double>;
  static constexpr bool is_on_host = std::is_same_v<Target, host_target>;

  Target where;
  csr_matrix<double> on_host{
      rows, rows, {0, 2, 5, 8, 10}, {0, 1, 0, 1, 2, 1, 2, 3, 2, 3}, {4, 1, 1, 5, 1, 1, 6, 1, 1, 7}};
  csr_matrix<double> smaller_on_host{3, 3, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1}};
  decltype(where.upload(on_host)) a = where.upload(on_host);
  decltype(where.upload(on_host)) smaller = where.upload(smaller_on_host);
  array b = where.upload(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  array nan_b = where.upload(std::vector<double>{1, std::nan(""), 3, 4, 5, 6, 7, 8});
  array x = where.upload(std::vector<double>(12, 0.5));
  array other_values = where.upload(std::vector<double>(2 * entries, 3.0));
  std::vector<double> far = std::vector<double>(2 * entries, 1.0);  ///< host memory

  stream_type stream() { return where.stream(); }
  policy_type chosen;

  view of(array& memory, std::int64_t row_count = rows, std::int64_t columns = 2) {
    return view::column_major(memory.data(), row_count, columns, row_count);
  }
  std::vector<double> solved(const std::function<void(view, view)>& solve, std::vector<double> more = {}) {
    array to = where.upload(std::vector<double>(2 * rows, 0.25));
    solve(of(b), of(to));
    const std::vector<double> made = where.download(to);
    more.insert(more.end(), made.begin(), made.end());
    return more;
  }

  /// Adds a refused call for each pair of operands that do not fit.
  void add_operands(subject& to, const std::string& name, const std::function<void(view, view)>& call) {
    const auto add = [&](const char* why, errc code, view from, view result) {
      to.calls.push_back({name + ", " + why, code, [=] { call(from, result); }});
    };
    add("b has few rows", errc::size_mismatch, of(b, 3), of(x));
    add("x has few rows", errc::size_mismatch, of(b), of(x, 3));
    add("x has negative rows", errc::size_mismatch, of(b), of(x, -4));
    add("columns differ", errc::size_mismatch, of(b), of(x, rows, 1));
    add("negative columns", errc::size_mismatch, of(b, rows, -1), of(x, rows, -1));
    add("too many columns", errc::too_many_rhs, of(b, rows, 3), of(x, rows, 3));
    add("most columns", errc::too_many_rhs, of(b, rows, most), of(x, rows, most));
    add("b is null", errc::invalid_argument, {nullptr, rows, 2, 1, rows}, of(x));
    add("x is null", errc::invalid_argument, of(b), {nullptr, rows, 2, 1, rows});
    add("x overlaps", errc::invalid_argument, of(b), {x.data(), rows, 2, 1, 3});
    add("x is too far", errc::invalid_argument, of(b), {x.data(), rows, 2, 1, most / 4});
    add("b is too far", errc::invalid_argument, {b.data(), rows, 2, most, 1}, of(x));
    if (!is_on_host) {
      add("x on the host", errc::wrong_memory_space, of(b), {far.data(), rows, 2, 1, rows});
    }
  }
  /// Adds a refused call for each array of values that does not fit.
  void add_values(subject& to, const std::string& name, const std::function<void(span<const double>)>& call,
                  std::size_t count = entries) {
    const auto add = [&](const char* why, errc code, const double* p, std::size_t size) {
      to.calls.push_back({name + ", " + why, code, [=] { call({p, size}); }});
    };
    add("few values", errc::size_mismatch, other_values.data(), count - 1);
    add("no values", errc::size_mismatch, nullptr, 0);
    add("null values", errc::invalid_argument, nullptr, count);
    if (!is_on_host) {
      add("values on the host", errc::wrong_memory_space, far.data(), count);
    }
  }

  [[nodiscard]] std::uint64_t launches() {
    if constexpr (is_on_host) {
      return 0;
    } else {
      return where.device().counters.launches;
    }
  }

  void expect_strong(const subject& s) {
    const std::vector<double> results = s.results();
    for (const refused_call& c : s.calls) {
      const std::string name = s.name + ": " + c.name;
      s.spoil();
      const std::vector<double> status = s.status();
      const std::vector<double> vectors = where.download(x);
      const std::uint64_t before = launches();
      const auto seen = failure::of(c.call);
      if (!seen.has_value()) {
        ADD_FAILURE() << name << ": accepted";
      } else {
        EXPECT_EQ(seen->code, c.code) << name << ": " << seen->message;
      }
      EXPECT_EQ(launches(), before) << name << ": a launch";
      EXPECT_TRUE(same_bits(where.download(x), vectors)) << name << ": x is changed";
      EXPECT_EQ(s.status(), status) << name << ": the status is another one";
      EXPECT_TRUE(same_bits(s.results(), results)) << name << ": the object is changed";
    }
  }

  factors_options<double> both_ways(const array& scale) {
    factors_options<double> options;
    options.transposed = op::transpose;
    options.max_rhs = 2;
    options.column_scale = scale;
    return options;
  }

  template <class Solver>
  subject of_solver(const std::string& name, Solver& solver, Solver& another) {
    subject s;
    s.name = name;
    s.spoil = [&] { solver.solve(of(nan_b), of(x), stream()); };
    s.status = [&] { return numbers(solver.status(stream())); };
    s.results = [&] { return solved([&](view from, view to) { solver.solve(from, to, stream()); }); };
    add_values(s, "update_values", [&](span<const double> v) { solver.update_values(v, stream()); });
    add_operands(s, "solve", [&](view from, view to) { solver.solve(from, to, stream()); });
    add_operands(s, "solve with alpha", [&](view from, view to) { solver.solve(from, to, 2.0, stream()); });
    using workspace = typename Solver::workspace;
    const auto own = std::make_shared<workspace>(solver.make_workspace(stream()));
    const auto foreign = std::make_shared<workspace>(another.make_workspace(stream()));
    const auto moved =
        std::make_shared<workspace>(std::move(*std::make_shared<workspace>(solver.make_workspace(stream()))));
    const auto target = std::make_shared<workspace>(std::move(*moved));
    add_operands(s, "solve on a workspace",
                 [&, own](view from, view to) { solver.solve(from, to, 1.0, *own, stream()); });
    for (const auto& bad : {foreign, moved}) {
      s.calls.push_back({"wrong workspace", errc::invalid_argument,
                         [this, &solver, bad, target] { solver.solve(of(b), of(x), 1.0, *bad, stream()); }});
      s.calls.push_back({"status of a wrong workspace", errc::invalid_argument,
                         [this, &solver, bad] { static_cast<void>(solver.status(*bad, stream())); }});
    }
    return s;
  }

  template <class Factors>
  subject of_factors(const std::string& name, Factors& f, Factors& another, bool in_one_matrix) {
    subject s;
    s.name = name;
    s.spoil = [&] {
      f.apply(of(b), of(x), stream());
      f.apply_transpose(of(nan_b), of(x), stream());
    };
    s.status = [&] { return numbers(f.status(stream())); };
    s.results = [&] {
      return solved([&](view from, view to) { f.apply_transpose(from, to, stream()); },
                    solved([&](view from, view to) { f.apply(from, to, stream()); }));
    };
    const span<const double> good(other_values.data(), entries);
    add_values(s, "first values", [=, &f](span<const double> v) { f.update_values(v, good, stream()); });
    add_values(s, "second values", [=, &f](span<const double> v) { f.update_values(good, v, stream()); });
    if (in_one_matrix) {
      add_values(s, "values", [&](span<const double> v) { f.update_values(v, stream()); });
    } else {
      s.calls.push_back({"one array for two matrices", errc::invalid_argument,
                         [=, &f] { f.update_values(good, stream()); }});
    }
    add_operands(s, "apply", [&](view from, view to) { f.apply(from, to, stream()); });
    add_operands(s, "apply_transpose", [&](view from, view to) { f.apply_transpose(from, to, stream()); });
    using workspace = typename Factors::workspace;
    const auto own = std::make_shared<workspace>(f.make_workspace(stream()));
    const auto foreign = std::make_shared<workspace>(another.make_workspace(stream()));
    add_operands(s, "apply on a workspace",
                 [&, own](view from, view to) { f.apply(from, to, *own, stream()); });
    add_operands(s, "apply_transpose on a workspace",
                 [&, own](view from, view to) { f.apply_transpose(from, to, *own, stream()); });
    s.calls.push_back({"apply, foreign workspace", errc::invalid_argument,
                       [=, &f] { f.apply(of(b), of(x), *foreign, stream()); }});
    s.calls.push_back({"apply_transpose, foreign workspace", errc::invalid_argument,
                       [=, &f] { f.apply_transpose(of(b), of(x), *foreign, stream()); }});
    s.calls.push_back({"status, foreign workspace", errc::invalid_argument,
                       [=, &f] { static_cast<void>(f.status(*foreign, stream())); }});
    return s;
  }

  template <class Factorization>
  subject of_incomplete(const std::string& name, Factorization& f) {
    subject s;
    s.name = name;
    s.spoil = [&] { f.factorize(where_nan(), stream()); };
    s.status = [&] { return numbers(f.status(stream())); };
    s.results = [&] {
      f.factorize(a.values, stream());
      array copy = where.upload(std::vector<double>(f.values().size()));
      where.on().copy(copy.data(), f.values().data(), copy.size() * sizeof(double));
      return where.download(copy);
    };
    add_values(s, "factorize", [&](span<const double> v) { f.factorize(v, stream()); });
    const auto add = [&](const char* why, auto&& call) {
      s.calls.push_back({why, errc::invalid_argument, call});
    };
    add("factorize its own values", [&] {
      f.factorize({f.values().data(), static_cast<std::size_t>(entries)}, stream());
    });
    for (const pivot_options& bad : {pivot_options{-1, 0, 0}, pivot_options{0, std::nan(""), 0},
                                     pivot_options{0, 0, std::numeric_limits<double>::infinity()}}) {
      add("pivots", [&f, bad, this] { f.factorize({other_values.data(), entries}, bad, stream()); });
    }
    s.calls.push_back(
        {"view of a smaller matrix", errc::size_mismatch, [&] { static_cast<void>(f.view(smaller)); }});
    const csc_view<double> by_columns{
        rows, rows, entries, a.row_offsets.data(), a.column_indices.data(), a.values.data()};
    add("view of a matrix by columns", [&f, by_columns] { static_cast<void>(f.view(by_columns)); });
    return s;
  }
  span<const double> where_nan() {
    if (nan_values.size() == 0) {
      std::vector<double> values = on_host.values;
      values[3] = std::nan("");
      nan_values = where.upload(values);
    }
    return nan_values;
  }
  array nan_values{};

  template <class Batch>
  subject of_batch(const std::string& name, Batch& batch) {
    using batch_of = batch_view<double>;
    subject s;
    s.name = name;
    s.spoil = [&] {
      batch.solve(batch_of::contiguous(nan_b.data(), 2, rows), batch_of::contiguous(x.data(), 2, rows), 1.0,
                  stream());
    };
    s.status = [&] {
      const batch_status met = batch.status(stream());
      return std::vector<double>{static_cast<double>(met.code), static_cast<double>(met.system.value_or(-1)),
                                 static_cast<double>(met.row.value_or(-1))};
    };
    s.results = [&] {
      return solved([&](view from, view to) {
        batch.solve(batch_of::contiguous(from.data, 2, rows), batch_of::contiguous(to.data, 2, rows), 1.0,
                    stream());
      });
    };
    add_values(
        s, "update_values", [&](span<const double> v) { batch.update_values(v, stream()); }, 2 * entries);
    const auto add = [&](const char* why, errc code, const batch_of& from, const batch_of& to) {
      s.calls.push_back({why, code, [&batch, from, to, this] { batch.solve(from, to, 1.0, stream()); }});
    };
    const batch_of good = batch_of::contiguous(b.data(), 2, rows);
    add("few systems in x", errc::size_mismatch, good, batch_of::contiguous(x.data(), 1, rows));
    add("few rows in x", errc::size_mismatch, good, batch_of::contiguous(x.data(), 2, 3));
    add("negative rows", errc::size_mismatch, good, batch_of::contiguous(x.data(), 2, -rows));
    add("huge rows", errc::size_mismatch, good, batch_of::contiguous(x.data(), 2, most, most));
    add("columns differ", errc::size_mismatch, good, batch_of::contiguous(x.data(), 2, rows, 0));
    add("too many columns", errc::too_many_rhs, batch_of::contiguous(b.data(), 2, rows, 2),
        batch_of::contiguous(x.data(), 2, rows, 2));
    add("x is null", errc::invalid_argument, good, batch_of::contiguous(nullptr, 2, rows));
    add("x overlaps", errc::invalid_argument, good, {x.data(), 2, rows, 1, 1, 4, 3});
    add("x is too far", errc::invalid_argument, good, {x.data(), 2, rows, 1, 1, 4, most / 2});
    if (!is_on_host) {
      add("x on the host", errc::wrong_memory_space, good, batch_of::contiguous(far.data(), 2, rows));
    }
    return s;
  }
};
using targets = ::testing::Types<host_target, emulator_target>;
TYPED_TEST_SUITE(table, targets);

TYPED_TEST(table, solvers) {
  const auto made = [&] {
    return analyze(this->chosen, this->a, {uplo::lower, diag::non_unit, op::none, 2}, this->stream());
  };
  auto solver = made();
  auto another = made();
  this->expect_strong(this->of_solver("solver", solver, another));
  using erased = any_solver<double, std::int32_t, std::int32_t, typename TestFixture::stream_type>;
  erased any(std::move(solver));
  erased another_any(std::move(another));
  this->expect_strong(this->of_solver("any_solver", any, another_any));
}

TYPED_TEST(table, factors) {
  const auto scale = this->where.upload(std::vector<double>{1, 2, 4, 8});
  const auto options = this->both_ways(scale);
  for (const bool in_one_matrix : {true, false}) {
    const auto made = [&] {
      return in_one_matrix ? analyze_factors(this->chosen, this->a, options, this->stream())
                           : analyze_factors(this->chosen, this->a, this->a, options, this->stream());
    };
    auto f = made();
    auto another = made();
    this->expect_strong(this->of_factors("factors", f, another, in_one_matrix));
    using erased = any_factors<double, std::int32_t, std::int32_t, typename TestFixture::stream_type>;
    erased any(std::move(f));
    erased another_any(std::move(another));
    this->expect_strong(this->of_factors("any_factors", any, another_any, in_one_matrix));
  }
}

TYPED_TEST(table, sweeps) {
  for (const bool is_smoother : {true, false}) {
    auto s = analyze_sweeps(this->chosen, this->a, {1.25, is_smoother, 2}, this->stream());
    using vectors = dense_view<double>;
    subject of_sweeps;
    of_sweeps.name = "sweeps";
    of_sweeps.spoil = [&] { s.apply(this->of(this->nan_b), this->of(this->x), this->stream()); };
    of_sweeps.status = [&] { return numbers(s.status(this->stream())); };
    of_sweeps.results = [&] {
      return this->solved([&](vectors from, vectors to) {
        s.apply(from, to, this->stream());
        if (is_smoother) {
          s.relax(sweep_direction::symmetric, from, to, 2, this->stream());
        }
      });
    };
    this->add_values(of_sweeps, "update_values",
                     [&](span<const double> v) { s.update_values(v, this->stream()); });
    this->add_operands(of_sweeps, "apply",
                       [&](vectors from, vectors to) { s.apply(from, to, this->stream()); });
    const auto add = [&](const char* why, auto&& call) {
      of_sweeps.calls.push_back({why, errc::invalid_argument, call});
    };
    const vectors good = this->of(this->b);
    const vectors to = this->of(this->x);
    if (!is_smoother) {
      add("relax", [&, good, to] { s.relax(sweep_direction::forward, good, to, 1, this->stream()); });
      this->expect_strong(of_sweeps);
      continue;
    }
    for (const sweep_direction direction :
         {sweep_direction::forward, sweep_direction::backward, sweep_direction::symmetric}) {
      this->add_operands(of_sweeps, "relax", [&, direction](vectors from, vectors result) {
        s.relax(direction, from, result, 2, this->stream());
      });
      for (const int count : {-1, std::numeric_limits<int>::min()}) {
        add("relax, negative count",
            [&, direction, count, good, to] { s.relax(direction, good, to, count, this->stream()); });
      }
      add("relax in place", [&, direction, to] { s.relax(direction, to, to, 1, this->stream()); });
      add("relax, x overlaps b", [&, direction, to] {
        s.relax(direction, {to.data + 3, rows, 2, 1, rows}, to, 1, this->stream());
      });
      add("relax, x is b upside down", [&, direction, to] {
        s.relax(direction, {to.data + 7, rows, 2, -1, -rows}, to, 1, this->stream());
      });
    }
    this->expect_strong(of_sweeps);
    // Vectors that alternate in memory do not overlap.
    auto both = this->where.upload(std::vector<double>(16, 1.0));
    EXPECT_NO_THROW(s.relax(sweep_direction::forward, vectors(both.data(), rows, 2, 4, 1),
                            vectors(both.data() + 2, rows, 2, 4, 1), 1, this->stream()));
    EXPECT_NO_THROW(s.relax(sweep_direction::forward, vectors(both.data(), rows, 2, 1, rows),
                            vectors(both.data() + 8, rows, 2, 1, rows), 0, this->stream()));
  }
}

TYPED_TEST(table, incomplete_factorisations) {
  for (const std::int64_t fill : {0, 1}) {
    auto f = analyze_incomplete_lu(this->a, incomplete_options::fill(fill), this->stream());
    subject s = this->of_incomplete("incomplete_lu", f);
    if (fill > 0) {
      s.calls.push_back({"factorize values within its own", errc::invalid_argument, [&] {
                           const auto more = f.values();
                           if (more.size() <= entries) {  // the matrix has no fill-in: the same array
                             f.factorize(more, this->stream());
                           }
                           f.factorize({more.data() + 1, entries}, this->stream());
                         }});
    }
    this->expect_strong(s);
    any_incomplete<double, std::int32_t, std::int32_t, typename TestFixture::stream_type> any(std::move(f));
    this->expect_strong(this->of_incomplete("any_incomplete", any));
  }
}

TYPED_TEST(table, batches) {
  std::vector<double> values = this->on_host.values;
  values.insert(values.end(), values.begin(), values.end());
  const auto both = this->where.upload(values);
  const auto of = [&](auto&& batch) {
    any_batch<double, std::int32_t, std::int32_t, typename TestFixture::stream_type> any(std::move(batch));
    this->expect_strong(this->of_batch("any_batch", any));
  };
  auto batch = analyze_batch(this->a, both, {2}, {}, this->stream());
  this->expect_strong(this->of_batch("batched_solver", batch));
  of(std::move(batch));
}

/// The arguments of an analysis that need no kernel are checked before the first launch.
TYPED_TEST(table, analyses_of_factors) {
  const auto scale = this->where.upload(std::vector<double>{1, 2, 4, 8});
  const auto few = this->where.upload(std::vector<double>{1, 2, 4});
  using options_type = factors_options<double>;
  const auto refused = [&](const char* name, errc code, const options_type& options, const auto& second) {
    const std::uint64_t before = this->launches();
    const auto seen =
        failure::of([&] { analyze_factors(this->chosen, this->a, second, options, this->stream()); });
    ASSERT_TRUE(seen.has_value()) << name;
    EXPECT_EQ(seen->code, code) << name << ": " << seen->message;
    EXPECT_EQ(this->launches(), before) << name;
  };
  const csr_view<double> good = this->a;
  refused("another size", errc::size_mismatch, {}, this->smaller);
  csr_view<double> bad = good;
  bad.values = nullptr;
  refused("null values", errc::invalid_argument, {}, bad);
  bad = good;
  bad.row_offsets = nullptr;
  refused("null offsets", errc::invalid_argument, {}, bad);
  bad = good;
  bad.columns = 5;
  refused("not square", errc::not_square, {}, bad);
  options_type options;
  options.has_diagonal = true;
  refused("a diagonal between factors that are not unit", errc::invalid_argument, options, good);
  options = {};
  options.max_rhs = 0;
  refused("no right-hand sides", errc::invalid_argument, options, good);
  options = {};
  options.max_rhs = most;
  refused("too many right-hand sides", errc::invalid_argument, options, good);
  options = {};
  options.row_scale = scale;
  options.column_scale = few;
  refused("a short scaling", errc::size_mismatch, options, good);
  options.column_scale = span<const double>(nullptr, rows);
  refused("a null scaling", errc::invalid_argument, options, good);
}

/// A NaN, an infinity or a zero in D names the diagonal, not the factor that is solved after it.
TYPED_TEST(table, diagonals_are_named) {
  auto f = analyze_factors(this->chosen, this->a, factors_options<double>::ldl(), this->stream());
  for (const double bad : {std::nan(""), 0.0}) {
    std::vector<double> changed = this->on_host.values;
    changed[6] = bad;  // entry (2, 2)
    f.update_values(this->where.upload(changed), this->stream());
    f.apply(this->of(this->b, rows, 1), this->of(this->x, rows, 1), this->stream());
    const factors_status met = f.status(this->stream());
    EXPECT_EQ(met.code, bad == 0 ? solve_status::kind::zero_pivot : solve_status::kind::non_finite);
    EXPECT_EQ(met.part, factor_part::diagonal);
    EXPECT_EQ(met.row, 2);
  }
}

/// A batch without systems has no values. Without entries, any number of systems is analysed at once.
TYPED_TEST(table, batches_of_nothing) {
  const csr_matrix<double> diagonal_on_host{3, 3, {0, 0, 0, 0}, {}, {}};
  const auto diagonal = this->where.upload(diagonal_on_host);
  const span<const double> none(nullptr, 0);
  const auto solve = [&](auto&& batch, std::int64_t systems) {
    const batch_view<double> nothing(nullptr, systems, rows, 1, 1, rows, rows);
    batch.solve(nothing, nothing, 1.0, this->stream());
    EXPECT_TRUE(batch.status(this->stream()).ok());
    batch.update_values(none, this->stream());
  };
  solve(analyze_batch(this->a, none, {0}, {}, this->stream()), 0);
  csr_view<double> bare = this->a;
  bare.values = nullptr;
  solve(analyze_batch(bare, none, {0}, {}, this->stream()), 0);
  if constexpr (TestFixture::is_on_host) {
    const auto batch = analyze_batch(diagonal, none, {most}, {uplo::lower, diag::unit}, this->stream());
    EXPECT_EQ(batch.systems(), most);
  }
}

}  // namespace
}  // namespace sptrsv::testing
