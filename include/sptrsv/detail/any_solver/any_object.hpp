// SPDX-License-Identifier: Apache-2.0
// The classes any_* hold an object behind virtual functions, and its workspaces. This header has what they
// share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

/// A workspace of a held object.
struct held_workspace {
  explicit held_workspace(std::uint64_t number) : owner(number) {}
  held_workspace(const held_workspace&) = delete;
  held_workspace& operator=(const held_workspace&) = delete;
  virtual ~held_workspace() = default;
  const std::uint64_t owner;  ///< number of the held_object that made it
};

/// What all held objects do. `Info`: type of their description; `Stream`: stream type of the caller.
template <class Info, class Stream>
struct held_object {
  using stream_type = Stream;

  held_object() = default;
  held_object(const held_object&) = delete;
  held_object& operator=(const held_object&) = delete;
  virtual ~held_object() = default;
  virtual solve_status status(Stream stream) = 0;
  virtual Info info() const = 0;
  virtual std::int64_t rows() const noexcept = 0;

  const std::uint64_t number = next_solver_number();
};

/// Holds an object and implements what all held objects do. `Held`: the interface, derived from held_object.
template <class Object, class Held>
class object_holder : public Held {
 protected:
  using caller_stream = typename Held::stream_type;

 public:
  explicit object_holder(Object&& made) : object_(std::move(made)) {}

  solve_status status(caller_stream s) override { return object_.status(own(s)); }
  decltype(std::declval<const Object&>().info()) info() const override { return object_.info(); }
  std::int64_t rows() const noexcept override { return object_.rows(); }

 protected:
  /// Returns the stream of the caller as one of the object: an object of the host ignores it.
  static typename Object::stream_type own([[maybe_unused]] caller_stream s) {
    if constexpr (std::is_same_v<typename Object::stream_type, host_stream>) {
      return {};
    } else {
      return s;
    }
  }

  Object object_;
};

/// Holds an object that makes workspaces.
template <class Object, class Held>
class workspaces_holder : public object_holder<Object, Held> {
  using base = object_holder<Object, Held>;

 public:
  using base::base;

  std::unique_ptr<held_workspace> make_workspace(typename base::caller_stream s,
                                                 memory_resource* resource) const override {
    return std::make_unique<workspace>(this->number, this->object_.make_workspace(base::own(s), resource));
  }
  solve_status status_of(held_workspace& scratch, typename base::caller_stream s) const override {
    return this->object_.status(own(scratch), base::own(s));
  }

 protected:
  using base::own;
  /// Returns the workspace of the object; any_object has checked the number.
  static typename Object::workspace& own(held_workspace& scratch) {
    return static_cast<workspace&>(scratch).held;
  }

 private:
  struct workspace final : held_workspace {
    workspace(std::uint64_t number, typename Object::workspace&& made)
        : held_workspace(number), held(std::move(made)) {}
    typename Object::workspace held;
  };
};

template <class Held>
class any_object;

/// The workspace of any object. Move-only.
class any_workspace {
  template <class Held>
  friend class any_object;
  explicit any_workspace(std::unique_ptr<held_workspace> made) : held_(std::move(made)) {}
  std::unique_ptr<held_workspace> held_;
};

/// The base of the classes any_*: owns the object. `Held` names itself in the messages.
template <class Held>
class any_object {
 protected:
  explicit any_object(std::unique_ptr<Held> made) : held_(std::move(made)) {}

  Held& held() const {
    SPTRSV_EXPECTS(held_ != nullptr, errc::invalid_argument, Held::moved_from);
    return *held_;
  }
  any_workspace workspace_of(typename Held::stream_type stream, memory_resource* resource) const {
    return any_workspace(held().make_workspace(stream, resource));
  }
  /// Returns what a workspace holds, if it belongs to this object.
  held_workspace& checked(any_workspace& scratch) const {
    SPTRSV_EXPECTS(scratch.held_ != nullptr, errc::invalid_argument, "the workspace was moved from");
    SPTRSV_EXPECTS(scratch.held_->owner == held().number, errc::invalid_argument,
                   std::string("the workspace belongs to another ") + Held::name);
    return *scratch.held_;
  }

 private:
  std::unique_ptr<Held> held_;
};

/// Whether an object whose streams are of type `Own` may be held for callers with streams of type `Stream`.
template <class Own, class Stream>
inline constexpr bool fits_stream = std::is_same_v<Own, Stream> || std::is_same_v<Own, host_stream>;

}  // namespace sptrsv::detail
