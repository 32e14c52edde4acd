// SPDX-License-Identifier: Apache-2.0
// The classes any_* hold an object behind virtual functions, and its workspaces. This header has what they
// share.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// What all held objects do. `Info`: type of their description; `Stream`: stream type of the caller. A null
/// workspace is that of the object itself.
template <class Info, class Stream>
struct held_object {
  using stream_type = Stream;

  held_object() = default;
  held_object(const held_object&) = delete;
  held_object& operator=(const held_object&) = delete;
  virtual ~held_object() = default;
  /// Returns null if such objects have no workspaces for callers.
  virtual std::shared_ptr<void> make_workspace(Stream stream, memory_resource* resource) const = 0;
  virtual solve_status status(void* scratch, Stream stream) = 0;
  virtual Info info() const = 0;
  virtual std::int64_t rows() const noexcept = 0;

  const std::uint64_t number = next_solver_number();
};

/// Returns the stream of the caller as one of type `Own`: an object of the host ignores it.
template <class Own, class Stream>
Own stream_as([[maybe_unused]] Stream stream) {
  if constexpr (std::is_same_v<Own, host_stream>) {
    return {};
  } else {
    return stream;
  }
}

/// Holds an object and implements what all held objects do. `Held`: the interface, derived from held_object,
/// which says whether there are workspaces for callers.
template <class Object, class Held>
class object_holder : public Held {
 protected:
  using caller_stream = typename Held::stream_type;

 public:
  explicit object_holder(Object&& made) : object_(std::move(made)) {}

  std::shared_ptr<void> make_workspace(caller_stream s, memory_resource* resource) const override {
    if constexpr (Held::has_workspaces) {
      return std::make_shared<typename Object::workspace>(object_.make_workspace(own(s), resource));
    } else {
      return nullptr;
    }
  }
  solve_status status(void* scratch, caller_stream s) override {
    return on_workspace(scratch, [&](auto&... given) { return object_.status(given..., own(s)); });
  }
  decltype(std::declval<const Object&>().info()) info() const override { return object_.info(); }
  std::int64_t rows() const noexcept override { return object_.rows(); }

 protected:
  static typename Object::stream_type own(caller_stream s) {
    return stream_as<typename Object::stream_type>(s);
  }
  /// Returns use(workspace), or use() if `scratch` is null: then the call is on the object's own workspace.
  /// any_object has checked the number.
  template <class Use>
  static auto on_workspace(void* scratch, const Use& use) {
    if constexpr (Held::has_workspaces) {
      if (scratch != nullptr) {
        return use(*static_cast<typename Object::workspace*>(scratch));
      }
    }
    return use();
  }

  Object object_;
};

template <class Held, class Value, class Index, class Offset>
class any_object;

/// The workspace of any object. Move-only.
class any_workspace {
 public:
  any_workspace(any_workspace&&) noexcept = default;
  any_workspace& operator=(any_workspace&&) noexcept = default;

 private:
  template <class Held, class Value, class Index, class Offset>
  friend class any_object;
  any_workspace(std::uint64_t owner, std::shared_ptr<void> made) : owner_(owner), held_(std::move(made)) {}

  std::uint64_t owner_;  ///< number of the held_object that made it
  std::shared_ptr<void> held_;
};

/// The base of the classes any_*: owns the object, and has the functions that all of them have. `Held` names
/// itself in the messages.
template <class Held, class Value, class Index, class Offset>
class any_object {
 public:
  using value_type = Value;                        ///< type of the values of the matrix, b and x
  using index_type = Index;                        ///< type of indices
  using offset_type = Offset;                      ///< type of offsets
  using stream_type = typename Held::stream_type;  ///< type of streams

  /// Returns what the last call on the object's own workspace met; as the function of the object.
  [[nodiscard]] solve_status status(stream_type stream = {}) const { return held().status(nullptr, stream); }
  /// Returns what the analysis decided and how much memory the object holds; as the function of the object.
  [[nodiscard]] auto info() const { return held().info(); }
  /// Returns the number of rows of a system. Throws errc::invalid_argument if the object was moved from.
  [[nodiscard]] std::int64_t rows() const { return held().rows(); }

 protected:
  explicit any_object(std::unique_ptr<Held> made) : held_(std::move(made)) {}

  Held& held() const {
    SPTRSV_EXPECTS(held_ != nullptr, errc::invalid_argument, Held::moved_from);
    return *held_;
  }
  // Public in the classes whose objects have workspaces.

  /// Returns scratch memory for one more call in flight; as the function of the object.
  [[nodiscard]] any_workspace make_workspace(stream_type stream = {},
                                             memory_resource* resource = nullptr) const {
    return any_workspace(held().number, held().make_workspace(stream, resource));
  }
  /// Returns what the last call on `scratch` met; as the function of the object.
  [[nodiscard]] solve_status status(any_workspace& scratch, stream_type stream = {}) const {
    return held().status(checked(scratch), stream);
  }
  /// Returns what a workspace holds, if it belongs to this object.
  void* checked(any_workspace& scratch) const {
    SPTRSV_EXPECTS(scratch.held_ != nullptr, errc::invalid_argument, "the workspace was moved from");
    SPTRSV_EXPECTS(scratch.owner_ == held().number, errc::invalid_argument,
                   "the workspace belongs to another ", Held::name);
    return scratch.held_.get();
  }

 private:
  std::unique_ptr<Held> held_;
};

/// Whether an object whose streams are of type `Own` may be held for callers with streams of type `Stream`.
template <class Own, class Stream>
inline constexpr bool fits_stream = std::is_same_v<Own, Stream> || std::is_same_v<Own, host_stream>;

}  // namespace sptrsv::SPTRSV_ABI::detail
