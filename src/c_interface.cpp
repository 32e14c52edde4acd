// The C interface on top of any_solver.
#include <complex>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "sptrsv.h"
#include "sptrsv/any_policy.hpp"

struct sptrsv_workspace {
  virtual ~sptrsv_workspace() = default;
};

/// A solver of any type of values and of indices.
struct sptrsv_solver {
  virtual ~sptrsv_solver() = default;
  virtual void update_values(const void* values, std::int64_t entries, sptrsv::stream_handle stream) = 0;
  virtual void solve(const void* alpha, const sptrsv_vectors& b, const sptrsv_vectors& x,
                     sptrsv_workspace* workspace, sptrsv::stream_handle stream) = 0;
  virtual std::unique_ptr<sptrsv_workspace> make_workspace(sptrsv::stream_handle stream) const = 0;
  virtual sptrsv::solve_status status(sptrsv_workspace* workspace, sptrsv::stream_handle stream) = 0;
  virtual sptrsv::solver_info info() const = 0;

  sptrsv::solver_info described;  ///< owns the texts of sptrsv_info
};

namespace {

static_assert(static_cast<int>(sptrsv::errc::cuda_error) + 1 == SPTRSV_CUDA_ERROR);
static_assert(static_cast<int>(sptrsv::errc::size_mismatch) + 1 == SPTRSV_SIZE_MISMATCH);
static_assert(static_cast<int>(sptrsv::solve_status::kind::growth) == SPTRSV_GROWTH);

struct last_error {
  std::string text;
  std::int64_t row = -1;
};
thread_local last_error error_of_this_thread;

sptrsv_code record(sptrsv_code code, const char* text, std::int64_t row = -1) noexcept {
  error_of_this_thread.row = row;
  try {
    error_of_this_thread.text = text;
  } catch (...) {
    error_of_this_thread.text.clear();
  }
  return code;
}

/// Returns the code of what `call` throws, and records the text.
template <class Call>
sptrsv_code guarded(const Call& call) noexcept {
  try {
    call();
    return SPTRSV_SUCCESS;
  } catch (const sptrsv::error& e) {
    return record(static_cast<sptrsv_code>(static_cast<int>(e.code()) + 1), e.what(), e.row().value_or(-1));
  } catch (const std::bad_alloc&) {
    return record(SPTRSV_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception& e) {
    return record(SPTRSV_INTERNAL_ERROR, e.what());
  } catch (...) {
    return record(SPTRSV_INTERNAL_ERROR, "an exception of an unknown type");
  }
}

void expect_not_null(const void* argument, const char* name) {
  SPTRSV_EXPECTS(argument != nullptr, sptrsv::errc::invalid_argument,
                 std::string(name) + " is a null pointer");
}

template <class Enum>
Enum checked(int value, int last, const char* name) {
  SPTRSV_EXPECTS(value >= 0 && value <= last, sptrsv::errc::invalid_argument,
                 std::to_string(value) + " is no " + name);
  return static_cast<Enum>(value);
}

sptrsv::stream_handle stream_of(void* stream) { return static_cast<sptrsv::stream_handle>(stream); }

template <class Value, class Index>
class solver_of final : public sptrsv_solver {
  using any_solver = sptrsv::any_solver<Value, Index>;

 public:
  explicit solver_of(any_solver&& made) : solver_(std::move(made)) {}

  void update_values(const void* values, std::int64_t entries, sptrsv::stream_handle stream) override {
    SPTRSV_EXPECTS(entries >= 0, sptrsv::errc::size_mismatch, "a negative number of values");
    solver_.update_values({static_cast<const Value*>(values), static_cast<std::size_t>(entries)}, stream);
  }
  void solve(const void* alpha, const sptrsv_vectors& b, const sptrsv_vectors& x, sptrsv_workspace* workspace,
             sptrsv::stream_handle stream) override {
    const Value factor = alpha != nullptr ? *static_cast<const Value*>(alpha) : Value(1);
    if (workspace == nullptr) {
      solver_.solve(view(b), view(x), factor, stream);
    } else {
      solver_.solve(view(b), view(x), factor, own(*workspace), stream);
    }
  }
  std::unique_ptr<sptrsv_workspace> make_workspace(sptrsv::stream_handle stream) const override {
    return std::make_unique<held_workspace>(solver_.make_workspace(stream));
  }
  sptrsv::solve_status status(sptrsv_workspace* workspace, sptrsv::stream_handle stream) override {
    return workspace == nullptr ? solver_.status(stream) : solver_.status(own(*workspace), stream);
  }
  [[nodiscard]] sptrsv::solver_info info() const override { return solver_.info(); }

 private:
  struct held_workspace final : sptrsv_workspace {
    explicit held_workspace(typename any_solver::workspace&& made) : held(std::move(made)) {}
    typename any_solver::workspace held;
  };

  static typename any_solver::workspace& own(sptrsv_workspace& workspace) {
    auto* const held = dynamic_cast<held_workspace*>(&workspace);
    SPTRSV_EXPECTS(held != nullptr, sptrsv::errc::invalid_argument,
                   "the workspace belongs to another solver");
    return held->held;
  }
  [[nodiscard]] sptrsv::dense_view<Value> view(const sptrsv_vectors& v) const {
    return {static_cast<Value*>(v.data), solver_.rows(), v.columns, v.row_stride, v.column_stride};
  }

  any_solver solver_;
};

template <class Value, class Index>
std::unique_ptr<sptrsv_solver> analyze_as(const sptrsv_matrix& a, const sptrsv_options& options,
                                          void* stream) {
  sptrsv::system_options system;
  system.part = checked<sptrsv::uplo>(options.part, SPTRSV_UPPER, "sptrsv_part");
  system.diagonal = checked<sptrsv::diag>(options.diagonal, SPTRSV_UNIT, "sptrsv_diagonal");
  system.operation = checked<sptrsv::op>(options.operation, SPTRSV_CONJ_TRANSPOSE, "sptrsv_operation");
  system.max_rhs = options.max_rhs;
  const sptrsv::any_policy policy(options.policy != nullptr ? options.policy : "");
  const auto* const offsets = static_cast<const Index*>(a.offsets);
  const auto* const indices = static_cast<const Index*>(a.indices);
  const auto* const values = static_cast<const Value*>(a.values);
  const auto solver_for = [&](const auto& view) {
    return std::make_unique<solver_of<Value, Index>>(
        sptrsv::analyze(policy, view, system, stream_of(stream)));
  };
  if (checked<sptrsv_storage>(a.storage, SPTRSV_CSC, "sptrsv_storage") == SPTRSV_CSC) {
    return solver_for(sptrsv::csc_view<Value, Index>{a.rows, a.columns, a.entries, offsets, indices, values});
  }
  return solver_for(sptrsv::csr_view<Value, Index>{a.rows, a.columns, a.entries, offsets, indices, values});
}

template <class Value>
std::unique_ptr<sptrsv_solver> analyze_as(const sptrsv_matrix& a, const sptrsv_options& options,
                                          void* stream) {
  return checked<sptrsv_index_type>(a.index_type, SPTRSV_INT64, "sptrsv_index_type") == SPTRSV_INT64
             ? analyze_as<Value, std::int64_t>(a, options, stream)
             : analyze_as<Value, std::int32_t>(a, options, stream);
}

std::unique_ptr<sptrsv_solver> analyze_any(const sptrsv_matrix& a, const sptrsv_options& options,
                                           void* stream) {
  switch (checked<sptrsv_value_type>(a.value_type, SPTRSV_COMPLEX_DOUBLE, "sptrsv_value_type")) {
    case SPTRSV_FLOAT:
      return analyze_as<float>(a, options, stream);
    case SPTRSV_DOUBLE:
      return analyze_as<double>(a, options, stream);
    case SPTRSV_COMPLEX_FLOAT:
      return analyze_as<std::complex<float>>(a, options, stream);
    default:
      return analyze_as<std::complex<double>>(a, options, stream);
  }
}

}  // namespace

int sptrsv_version(void) { return SPTRSV_VERSION; }
const char* sptrsv_last_error(void) { return error_of_this_thread.text.c_str(); }
int64_t sptrsv_last_error_row(void) { return error_of_this_thread.row; }

const char* sptrsv_policy_names(void) {
  static const std::string names = [] {
    std::string text;
    for (const std::string& name : sptrsv::any_policy_names()) {
      text += (text.empty() ? "" : ",") + name;
    }
    return text;
  }();
  return names.c_str();
}

sptrsv_code sptrsv_analyze(const sptrsv_matrix* matrix, const sptrsv_options* options, void* stream,
                           sptrsv_solver** solver) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    *solver = nullptr;
    expect_not_null(matrix, "matrix");
    const sptrsv_options defaults{SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, nullptr};
    *solver = analyze_any(*matrix, options != nullptr ? *options : defaults, stream).release();
  });
}
void sptrsv_destroy(sptrsv_solver* solver) { delete solver; }

sptrsv_code sptrsv_update_values(sptrsv_solver* solver, const void* values, int64_t entries, void* stream) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    solver->update_values(values, entries, stream_of(stream));
  });
}

sptrsv_code sptrsv_solve(sptrsv_solver* solver, const void* b, void* x, void* stream) {
  const sptrsv_vectors from{const_cast<void*>(b), 1, 1, 0};  // solve() does not write to b
  const sptrsv_vectors to{x, 1, 1, 0};
  return sptrsv_solve_many(solver, nullptr, &from, &to, nullptr, stream);
}
sptrsv_code sptrsv_solve_many(sptrsv_solver* solver, const void* alpha, const sptrsv_vectors* b,
                              const sptrsv_vectors* x, sptrsv_workspace* workspace, void* stream) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    expect_not_null(b, "b");
    expect_not_null(x, "x");
    solver->solve(alpha, *b, *x, workspace, stream_of(stream));
  });
}

sptrsv_code sptrsv_make_workspace(const sptrsv_solver* solver, void* stream, sptrsv_workspace** workspace) {
  return guarded([&] {
    expect_not_null(workspace, "workspace");
    *workspace = nullptr;
    expect_not_null(solver, "solver");
    *workspace = solver->make_workspace(stream_of(stream)).release();
  });
}
void sptrsv_destroy_workspace(sptrsv_workspace* workspace) { delete workspace; }

sptrsv_code sptrsv_get_status(sptrsv_solver* solver, sptrsv_workspace* workspace, void* stream,
                              sptrsv_solve_status* status, int64_t* row) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    expect_not_null(status, "status");
    const sptrsv::solve_status met = solver->status(workspace, stream_of(stream));
    *status = static_cast<sptrsv_solve_status>(met.code);
    if (row != nullptr) {
      *row = met.row.value_or(-1);
    }
  });
}

sptrsv_code sptrsv_get_info(sptrsv_solver* solver, sptrsv_info* info) {
  return guarded([&] {
    expect_not_null(solver, "solver");
    expect_not_null(info, "info");
    solver->described = solver->info();
    const sptrsv::solver_info& from = solver->described;
    *info = {from.policy.c_str(),
             from.device.c_str(),
             from.chosen.c_str(),
             from.path.c_str(),
             from.plan.c_str(),
             from.bit_reproducible ? 1 : 0,
             from.rows,
             from.entries,
             from.ignored_entries,
             from.levels,
             from.solver_bytes,
             from.workspace_bytes,
             from.analysis_peak_bytes};
  });
}
