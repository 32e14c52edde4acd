// The host side of the relay path: its plan and numbers in device memory, its launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/dataflow/relay_agent.hpp"
#include "sptrsv/detail/dataflow/relay_plan.hpp"

namespace sptrsv::detail::dataflow {

template <class Shapes, class Scalar, class Executor>
class relay_path {
 public:
  /// `size`, `stored_entries`: of the stored matrix.
  relay_path(relay_plan&& plan, int shape_index, std::int64_t size, std::int64_t stored_entries,
             std::int64_t max_rhs, const triangle_form& form, const Executor& on)
      : plan_(std::move(plan)),
        shape_index_(shape_index),
        size_(size),
        stored_entries_(stored_entries),
        form_(form) {
    // Groups of right-hand sides are solved side by side, as far as the device has room.
    with_agent([&](auto agent) {
      using agent_type = decltype(agent);
      columns_ = layout_of<agent_type>::type::columns;
      const auto resident = on.template resident_blocks<agent_type>(shared_bytes<agent_type>());
      sharers_ = std::max<std::int64_t>(
          1, std::min<std::int64_t>(simt::ceil_div(max_rhs, columns_),
                                    static_cast<std::int64_t>(resident) / plan_.parts));
    });
    share_ = {0, blocks(), 0};
  }

  void share(const launch_share& share) { share_ = share; }

  void update_values(const Scalar* stored, const Executor& on) {
    const relay_sources& from = plan_.sources;
    if (from.are_runs()) {
      simt::for_each(on, 32 * static_cast<std::int64_t>(plan_.record_begins.size()),
                     relay_kernels::place_runs<Scalar>{
                         stored, stored_entries_, from.diagonals.data(), from.row_entries.data(),
                         from.row_links.data(), from.late_entries.data(), plan_.record_begins.data(),
                         plan_.records.data(), form(), form_.unit, form_.reversed, form_.conjugated});
    } else {
      simt::for_each(
          on, static_cast<std::int64_t>(from.targets.size()),
          relay_kernels::place_numbers<Scalar>{stored, from.targets.data(), plan_.record_begins.data(),
                                               plan_.records.data(), form(), form_.conjugated});
    }
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const page_memory<Scalar>& scratch, const Executor& on) const {
    const relay_params<Scalar> p{static_cast<std::int32_t>(size_),
                                 plan_.parts,
                                 plan_.window,
                                 form_.reversed,
                                 plan_.part_places.data(),
                                 plan_.starts.data(),
                                 plan_.records.data(),
                                 share_,
                                 scratch.pages(),
                                 alpha,
                                 b,
                                 x};
    with_agent([&](auto agent) {
      using agent_type = decltype(agent);
      on.template launch<agent_type>(blocks(), p, shared_bytes<agent_type>());
    });
  }

  /// Of every launch.
  [[nodiscard]] std::uint32_t blocks() const { return static_cast<std::uint32_t>(plan_.parts * sharers_); }

  /// Synchronises, linear time.
  [[nodiscard]] bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    std::vector<unsigned char> records(plan_.records.size());
    std::vector<std::uint32_t> begins(plan_.record_begins.size());
    on.download(records.data(), plan_.records.data(), plan_.records.bytes());
    on.download(begins.data(), plan_.record_begins.data(), plan_.record_begins.bytes());
    const std::int64_t index = form_.reversed ? size_ - 1 - position : position;
    for (const std::uint32_t begin : begins) {
      const unsigned char* const at = records.data() + std::size_t{begin} * 16;
      const auto& slice = *reinterpret_cast<const relay_slice*>(at);
      const auto* const factors = reinterpret_cast<const Scalar*>(at + relay_record::factors);
      const auto* const numbers = reinterpret_cast<const std::int32_t*>(at + form().record(slice).numbers);
      for (int row = 0; row < slice.rows(); ++row) {
        if (relay_row<Scalar>{factors[row], numbers[row]}.index() == index) {
          return factors[row] == Scalar{};
        }
      }
    }
    return false;
  }

  /// Right-hand sides that are solved together.
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  /// Rows with the partial ones: what a workspace has room for.
  [[nodiscard]] std::int64_t places() const { return plan_.places; }

  [[nodiscard]] std::string describe() const {
    const relay_shape_values& s = plan_.shape;
    const relay_boxes& g = plan_.boxes;
    const std::string boxes = !g.are_used()
                                  ? ""
                                  : ", " + std::to_string(g.count[0]) + " x " + std::to_string(g.count[1]) +
                                        " x " + std::to_string(g.count[2]) + " boxes of a grid,";
    return "dataflow: a relay of " + std::to_string(plan_.parts) + " parts" + boxes + " with " +
           std::to_string(plan_.steps) + " steps of " + std::to_string(s.step_rows()) + " rows, " +
           std::to_string(s.lanes) + " lanes each; window of " + std::to_string(plan_.window) +
           " components" +
           (share_.is_all_of_it(blocks()) ? ", " + std::to_string(plan_.places - size_) + " partial rows"
                                          : "") +
           (columns_ > 1 ? ", " + std::to_string(columns_) + " right-hand sides together" : "");
  }

  [[nodiscard]] std::size_t bytes() const {
    return plan_.part_places.bytes() + plan_.starts.bytes() + plan_.record_begins.bytes() +
           plan_.records.bytes() + plan_.sources.bytes();
  }

 private:
  [[nodiscard]] relay_record_form form() const { return relay_record_form::of<Scalar>(plan_.shape); }

  template <class Agent>
  struct layout_of;
  template <class Shape>
  struct layout_of<relay_agent<Scalar, Shape>> {
    using type = relay_layout<Scalar, Shape>;
  };
  template <class Agent>
  [[nodiscard]] std::size_t shared_bytes() const {
    return layout_of<Agent>::type::bytes(plan_.window);
  }

  template <class Visit>
  void with_agent(Visit&& visit) const {
    Shapes::for_each([&](auto shape, int index) {
      if (index == shape_index_) {
        visit(relay_agent<Scalar, decltype(shape)>{});
      }
    });
  }

  relay_plan plan_;
  int shape_index_;
  std::int64_t size_;
  std::int64_t stored_entries_;
  triangle_form form_;
  std::int64_t columns_ = 1;
  std::int64_t sharers_ = 1;
  launch_share share_{};
};

}  // namespace sptrsv::detail::dataflow
