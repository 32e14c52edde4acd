// SPDX-License-Identifier: Apache-2.0
// The host side of batched solves, on the device and on the host: analysis of the pattern, values and
// launches.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/batched/batched_agent.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/policy/host_serial.hpp"

namespace sptrsv::SPTRSV_ABI::detail::batched {

/// Returns the status of a solve in which this component is the first one that is not finite.
inline batch_status status_of(std::int64_t system, std::int64_t row, bool is_zero_pivot) {
  return {is_zero_pivot ? solve_status::kind::zero_pivot : solve_status::kind::non_finite, row, {}, system};
}

/// Returns, for find_largest, how many systems follow a system with a component that is not finite, itself
/// included; 0 for other systems.
struct systems_from_fault {
  const std::uint32_t* first_nonfinite;
  std::int64_t systems;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t system) const {
    return ctx.load_constant(first_nonfinite + system) == no_row ? 0 : systems - system;
  }
};

/// The engine on a device.
template <class Scalar, class Index, class Offset, class Executor>
class engine {
  static constexpr int most_systems = max_group_systems(sizeof(Scalar));  ///< of a group

 public:
  /// Checks and analyses the pattern. Synchronises.
  engine(const pattern_view<Index, Offset>& a, const triangle_form& form, const batch_options& batch,
         const Executor& on, memory_resource& resource) {
    to_pack_.systems = batch.systems;
    to_pack_.size = a.size;
    const std::size_t shared_limit = on.shared_limit();
    SPTRSV_EXPECTS(size() <= max_rows && at(size()) * sizeof(Scalar) <= shared_limit, errc::unsupported,
                   too_large(shared_limit));
    const pattern_copy<Index, Offset> copy(a, on);
    validate_on_host(copy.view(), form);
    const host_triangle<Index, Offset> t = build_on_host(copy.view(), form);
    auto levels = levels_on_host<Index>(t.row_offsets, t.columns);
    levels_ = levels.count();
    longest_row_ = t.longest_row();
    entries_ = static_cast<std::int64_t>(t.columns.size() + t.diagonal_sources.size());
    const plan<Offset> made = make_plan(std::move(levels), t, {batch, sizeof(Scalar), shared_limit});
    SPTRSV_EXPECTS(made.lanes != 0, errc::unsupported, too_large(shared_limit));
    const auto slots = count_of(made.sources);
    SPTRSV_EXPECTS(slots <= INT32_MAX, errc::unsupported, slots,
                   " entries in a system of a batch exceed 2^31 - 1");
    constexpr auto aligned = static_cast<std::int64_t>(stream_align / sizeof(Scalar));
    const std::int64_t stream_slots = simt::ceil_div(slots, aligned) * aligned;
    lanes_ = made.lanes;
    group_systems_ = made.group_systems;
    const std::int64_t values = checked_product(groups() * group_systems_, stream_slots);
    const std::int64_t pivots = form.unit ? 0 : checked_product(systems(), size());
    to_pack_.slots = slots;
    to_pack_.stream_slots = stream_slots;
    to_pack_.blocks_of_group = simt::block_count(stream_slots, pack_agent<Scalar, Offset, 1>::block_slots);
    to_pack_.conjugated = form.conjugated;
    to_pack_.sources = arrays_.add(made.sources, on, resource);
    to_pack_.rows = arrays_.add(made.rows, on, resource);
    to_pack_.values = arrays_.make<Scalar>(values, on, resource);
    to_pack_.pivots = arrays_.make<Scalar>(pivots, on, resource);
    to_solve_.systems = systems();
    to_solve_.size = static_cast<std::int32_t>(size());
    to_solve_.steps = static_cast<std::int32_t>(made.steps);
    to_solve_.reversed = form.reversed;
    to_solve_.unit = form.unit;
    to_solve_.shared_bytes = static_cast<std::int32_t>(bytes_of_group());
    to_solve_.stream_slots = stream_slots;
    to_solve_.lane_steps = arrays_.add(made.lane_steps, on, resource);
    to_solve_.values = to_pack_.values;
    to_solve_.pivots = to_pack_.pivots;
    to_solve_.first_nonfinite = arrays_.make<std::uint32_t>(systems(), on, resource);
    scratch_ = arrays_.make<std::int64_t>(1, on, resource);
    on.fill_bytes(to_solve_.first_nonfinite, 0xff, at(systems()) * sizeof(std::uint32_t));
  }

  /// Enqueues the copy of the values.
  void update_values(const Scalar* values, std::int64_t stride, const Executor& on) {
    if (systems() == 0 || to_pack_.stream_slots == 0) {
      return;
    }
    pack_params<Scalar, Offset> p = to_pack_;
    p.stored = values;
    p.stored_stride = stride;
    with_one_of<1, most_systems>(group_systems_, [&](auto systems) {
      on.template launch<pack_agent<Scalar, Offset, decltype(systems)::value>>(
          simt::block_count(checked_product(groups(), p.blocks_of_group), 1), p);
    });
  }

  /// Enqueues the solve of all systems. There are systems, rows and right-hand sides.
  void solve(Scalar alpha, const batch_view<const Scalar>& b, const batch_view<Scalar>& x,
             const Executor& on) const {
    solve_params<Scalar> p = to_solve_;
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    with_one_of<1, most_systems>(group_systems_, [&](auto systems) {
      constexpr int count = decltype(systems)::value;
      with_one_of<4, 8, 16, 32>(lanes_, [&](auto lanes) {
        using agent = solve_agent<Scalar, decltype(lanes)::value, count>;
        on.template launch<agent>(simt::block_count(groups(), agent::block_groups), p,
                                  agent::block_groups * bytes_of_group());
      });
    });
  }

  /// Returns what the last solve met. Synchronises.
  [[nodiscard]] batch_status status(const Executor& on) const {
    on.fill_bytes(scratch_, 0, sizeof(*scratch_));
    simt::find_largest(on, systems(), systems_from_fault{to_solve_.first_nonfinite, systems()}, scratch_);
    const std::int64_t left = download_value(scratch_, on);
    if (left == 0) {
      return {};
    }
    const std::int64_t system = systems() - left;
    const std::int64_t index = download_value(to_solve_.first_nonfinite + system, on);
    return status_of(
        system, to_solve_.reversed ? size() - 1 - index : index,
        !to_solve_.unit && download_value(to_solve_.pivots + system * size() + index, on) == Scalar{});
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.kernels.resize(1);
    info.kernels[0].text =
        text_from(lanes_, " lanes for ", group_systems_ == 1 ? "each system, " : "two systems, ",
                  to_solve_.steps, " steps, ", bytes_of_group(), " bytes of shared memory");
    info.kernels[0].levels = levels_;
    info.kernels[0].warps = simt::ceil_div(groups() * lanes_, std::int64_t{32});
    info.entries = entries_;
    info.levels = levels_;
    info.levels_solved = levels_;
    info.longest_row = longest_row_;
    info.solver_bytes = arrays_.bytes();
  }

 private:
  [[nodiscard]] std::string too_large(std::size_t shared_limit) const {
    return text_from("a batch solves each system in the shared memory of one thread block, which has ",
                     shared_limit, " bytes here: ", size(),
                     " rows are too many; solve large systems one after the other, with analyze()");
  }

  [[nodiscard]] std::int64_t systems() const { return to_pack_.systems; }
  [[nodiscard]] std::int64_t size() const { return to_pack_.size; }
  [[nodiscard]] std::int64_t groups() const {
    return simt::ceil_div(systems(), std::int64_t{group_systems_});
  }
  [[nodiscard]] std::size_t bytes_of_group() const {
    return shared_bytes(lanes_, size(), at(group_systems_) * sizeof(Scalar));
  }

  std::int64_t levels_ = 0;
  std::int64_t longest_row_ = 0;
  std::int64_t entries_ = 0;  ///< with the diagonal unless it is unit
  int lanes_ = 0;             ///< of a group
  int group_systems_ = 1;     ///< systems of a group
  device_arrays arrays_;
  pack_params<Scalar, Offset> to_pack_{};  ///< without the values of the stored matrices
  solve_params<Scalar> to_solve_{};        ///< without the operands
  std::int64_t* scratch_ = nullptr;        ///< of status()
};

/// The engine on the host, which solves one system after the other.
template <class Scalar, class Index, class Offset>
class engine<Scalar, Index, Offset, host_executor> {
  using one_system = detail::engine<policy::host_serial, Scalar, Index, Offset, host_executor>;

 public:
  engine(const pattern_view<Index, Offset>& a, const triangle_form& form, const batch_options& batch,
         const host_executor& on, memory_resource& resource)
      : systems_(batch.systems),
        size_(a.size),
        entries_(a.entries),
        reversed_(form.reversed),
        values_(at(checked_product(systems_, entries_))),
        one_(policy::host_serial{}, a, form, 1, on, resource) {}

  void update_values(const Scalar* values, std::int64_t stride, const host_executor&) {
    for (std::int64_t s = 0; s < (entries_ > 0 ? systems_ : 0); ++s) {
      for (std::int64_t e = 0; e < entries_; ++e) {
        values_[at(s * entries_ + e)] = load_scalar(values + s * stride + e);
      }
    }
  }

  void solve(Scalar alpha, const batch_view<const Scalar>& b, const batch_view<Scalar>& x,
             const host_executor& on) {
    const auto of = [&](const auto& all, std::int64_t s) {
      return dense_view(all.data + s * all.system_stride, all.rows, all.columns, all.row_stride,
                        all.column_stride);
    };
    status_ = {};
    for (std::int64_t s = 0; s < systems_; ++s) {
      one_.update_values(values_.data() + s * entries_, on);
      one_.solve(alpha, of(b, s), of(x, s), scratch_, on);
      const std::int64_t index = one_.first_nonfinite_index(scratch_, on);
      if (index >= 0 && status_.ok()) {
        status_ =
            status_of(s, reversed_ ? size_ - 1 - index : index, one_.is_zero_pivot(index, scratch_, on));
      }
    }
  }

  [[nodiscard]] batch_status status(const host_executor&) const { return status_; }

  void describe(solver_info& info, const host_executor& on) const {
    one_.describe(info, on);
    info.policy = policy::host_serial::name;
    info.solver_bytes += values_.size() * sizeof(Scalar);
  }

 private:
  std::int64_t systems_;
  std::int64_t size_;
  std::int64_t entries_;
  bool reversed_;
  std::vector<Scalar> values_;  ///< by system and stored entry
  one_system one_;
  typename one_system::workspace scratch_;
  batch_status status_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::batched
