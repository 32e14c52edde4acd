// What the emulator reports: one exception type per kind of misbehaviour of a kernel or of its launch.
#pragma once

#include <stdexcept>
#include <string>

namespace sptrsv::emulator {

/// Base of everything below. Thrown by `executor::launch`, unless said otherwise; memory then holds what had
/// become visible so far, and the device stays usable.
class fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A launch or a host-side call that CUDA would refuse: no blocks, too many threads, too much shared memory.
class launch_failure : public fault {
 public:
  using fault::fault;
};

/// A call that may not be made while a graph is recorded (it synchronises or allocates).
class capture_violation : public fault {
 public:
  using fault::fault;
};

/// An address outside every live buffer; also thrown by the host-side copies.
class out_of_bounds : public fault {
 public:
  using fault::fault;
};

/// An address in a buffer that has been given back.
class use_after_free : public out_of_bounds {
 public:
  using out_of_bounds::out_of_bounds;
};

/// An address that is no multiple of the type's alignment.
class misaligned_access : public fault {
 public:
  using fault::fault;
};

/// Bytes that nobody has written were read.
class uninitialised_read : public fault {
 public:
  using fault::fault;
};

/// Memory was read with `load_constant` and written in one launch.
class constant_violation : public fault {
 public:
  using fault::fault;
};

/// A barrier that some thread of the block can no longer reach.
class barrier_divergence : public fault {
 public:
  using fault::fault;
};

/// A tile collective that its lanes do not reach together.
class tile_divergence : public fault {
 public:
  using fault::fault;
};

/// Every live thread waits, and nothing that is still on its way can release one.
class deadlock : public fault {
 public:
  using fault::fault;
};

/// More steps than `device_settings::step_limit`: a live-lock, or a limit that is too low.
class step_limit_exceeded : public fault {
 public:
  using fault::fault;
};

/// An agent used more stack than a fiber has.
class stack_overflow : public fault {
 public:
  using fault::fault;
};

}  // namespace sptrsv::emulator
