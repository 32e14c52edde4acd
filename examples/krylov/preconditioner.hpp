// The preconditioners of the Krylov programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alternatives.hpp"
#include "places.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/krylov.hpp"
#include "sptrsv/sweeps.hpp"

namespace sptrsv_examples {

/// A preconditioner; its level of fill (ILU(k) and IC(k)) and whether its factors are in single precision,
/// which ilu0 and ic0 have; and the steps of chebyshev and ilu_sweeps.
struct preconditioner_choice {
  preconditioner_choice(preconditioning of, std::int64_t level = 0) : kind(of), fill_level(level) {}

  preconditioning kind;
  std::int64_t fill_level;
  bool single = false;
  int steps = 3;
};

/// Returns the name for messages and tables.
inline std::string name_of(const preconditioner_choice& of) {
  const std::string level =
      "(" + std::to_string(of.fill_level) + ")" + (of.single ? " in single precision" : "");
  switch (of.kind) {
    case preconditioning::none:
      return "no preconditioner";
    case preconditioning::ssor:
      return "SSOR";
    case preconditioning::dilu:
      return "DILU";
    case preconditioning::ilu0:
      return "ILU" + level;
    case preconditioning::ic0:
      return "IC" + level;
    case preconditioning::jacobi:
      return "Jacobi";
    case preconditioning::spai0:
      return "SPAI(0)";
    case preconditioning::block_jacobi:
      return "block Jacobi";
    case preconditioning::chebyshev:
      return "Chebyshev(" + std::to_string(of.steps) + ")";
    case preconditioning::ilu_sweeps:
      return "ILU(0) by " + std::to_string(of.steps) + " Jacobi sweeps";
    default:
      return "ISAI";
  }
}

/// Applies M^-1, where M approximates A.
template <class Place>
class preconditioner {
  using policy = typename Place::policy;
  using single_policy = typename Place::single_policy;
  using stream_type = typename Place::stream_type;

 public:
  /// Throws sptrsv::error if a factorisation breaks down. `on` must outlive this.
  preconditioner(const preconditioner_choice& choice, const Place& on) {
    const auto fill = sptrsv::incomplete_options::fill(choice.fill_level);
    switch (choice.kind) {
      case preconditioning::none:
        break;
      case preconditioning::ssor:
      case preconditioning::dilu: {
        sptrsv::sweep_options options;
        options.is_smoother = false;
        sptrsv::csr_view<double> a = on.a.view();
        std::optional<typename Place::vector> values;
        if (choice.kind == preconditioning::dilu) {
          values.emplace(dilu_values(on));
          a.values = values->data();
        }
        sweeps_.emplace(sptrsv::analyze_sweeps(policy{}, a, options, on.stream()));
        on.synchronize();  // before the values are freed
        break;
      }
      case preconditioning::ilu0: {
        const auto ilu = sptrsv::analyze_incomplete_lu(on.a, fill, on.stream());
        expect_sound(name_of(choice), ilu.status(on.stream()));
        factor_entries_ = ilu.info().factor_entries;
        take_factors(choice, ilu.view(on.a), {}, on);
        break;
      }
      case preconditioning::ic0: {
        const auto ic = sptrsv::analyze_incomplete_cholesky(on.a, fill, on.stream());
        expect_sound(name_of(choice), ic.status(on.stream()));
        factor_entries_ = entries_of_triangle(ic.info());
        take_factors(choice, ic.view(on.a), sptrsv::factors_options<double>::cholesky(), on);
        break;
      }
      default:
        alternative_.emplace(choice.kind, choice.steps, on);
    }
    on.synchronize();
  }

  /// z = M^-1 r. Only enqueues.
  void apply(sptrsv::span<const double> r, sptrsv::span<double> z, stream_type stream) {
    if (factors_) {
      factors_->apply(r, z, stream);
    } else if (single_factors_) {
      single_factors_->apply(r, z, stream);
    } else if (sweeps_) {
      sweeps_->apply(r, z, stream);
    } else {
      alternative_->apply(r, z, stream);
    }
  }
  /// Calls `use` with this, or with no_preconditioner.
  template <class Use>
  auto visit(const Use& use) {
    return factors_ || single_factors_ || sweeps_ || alternative_ ? use(*this)
                                                                  : use(sptrsv::krylov::no_preconditioner{});
  }

  /// Returns the entries of ILU's factors together, or of IC's one factor; 0 for other preconditioners.
  [[nodiscard]] std::int64_t factor_entries() const { return factor_entries_; }

  /// Returns the levels of the solves; empty if there are none.
  [[nodiscard]] std::vector<std::int64_t> levels() const {
    std::vector<std::int64_t> made;
    const auto add = [&](const auto& of) {
      if (of) {
        for (const sptrsv::solver_info& s : of->info().solvers) {
          made.push_back(s.levels);
        }
      }
    };
    add(factors_);
    add(single_factors_);
    add(sweeps_);
    return made;
  }

 private:
  template <class Policy>
  using factors_by = sptrsv::factors<Policy, double, std::int32_t, std::int32_t, stream_type>;

  /// Analyses the factors, and waits before their values, which the solvers copy, are freed.
  template <class Factors>
  void take_factors(const preconditioner_choice& choice, const Factors& of,
                    const sptrsv::factors_options<double>& options, const Place& on) {
    SPTRSV_EXPECTS(Place::has_single || !choice.single, sptrsv::errc::unsupported,
                   "factors in single precision need a GPU");
    if (choice.single) {
      single_factors_.emplace(sptrsv::analyze_factors(single_policy{}, of, options, on.stream()));
    } else {
      factors_.emplace(sptrsv::analyze_factors(policy{}, of, options, on.stream()));
    }
    on.synchronize();
  }
  /// Returns the entries of the lower triangle of the factors of a symmetric matrix.
  static std::int64_t entries_of_triangle(const sptrsv::incomplete_info& info) {
    return info.fill_level > 0 ? info.factor_entries : (info.factor_entries + info.rows) / 2;
  }
  std::int64_t factor_entries_ = 0;
  std::optional<alternative<Place>> alternative_;
  std::optional<factors_by<policy>> factors_;
  std::optional<factors_by<single_policy>> single_factors_;
  std::optional<sptrsv::sweeps<policy, double, std::int32_t, std::int32_t, stream_type>> sweeps_;
};

}  // namespace sptrsv_examples
