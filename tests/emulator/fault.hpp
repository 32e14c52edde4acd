// The errors that the emulator reports: one exception type per kind of error in a kernel or in its launch.
#pragma once

#include <stdexcept>
#include <string>

namespace sptrsv::emulator {

/// Base class of all errors below. `executor::launch` throws them unless stated otherwise. After an error
/// memory holds what was visible at that time, and the device stays usable.
class fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A launch or a host-side call that CUDA would refuse: no blocks, too many threads, too much shared memory.
class launch_failure : public fault {
 public:
  using fault::fault;
};

/// A call that is not allowed while a graph is recorded, because it synchronises or allocates.
class capture_violation : public fault {
 public:
  using fault::fault;
};

/// An address outside of all live buffers. The host-side copies throw it, too.
class out_of_bounds : public fault {
 public:
  using fault::fault;
};

/// An address in a buffer that was freed.
class use_after_free : public out_of_bounds {
 public:
  using out_of_bounds::out_of_bounds;
};

/// An access to the memory of another device that is not a store of system scope to symmetric memory, or a
/// poll of smaller scope for such a store.
class remote_access : public fault {
 public:
  using fault::fault;
};

/// An address that is not a multiple of the type's alignment.
class misaligned_access : public fault {
 public:
  using fault::fault;
};

/// A read of bytes that were never written.
class uninitialised_read : public fault {
 public:
  using fault::fault;
};

/// Memory that one launch reads with `load_constant` and also writes.
class constant_violation : public fault {
 public:
  using fault::fault;
};

/// Two accesses to shared memory, one of them a write, of which neither happens before the other.
class data_race : public fault {
 public:
  using fault::fault;
};

/// A barrier that some thread of the block cannot reach any more.
class barrier_divergence : public fault {
 public:
  using fault::fault;
};

/// A tile collective that the lanes of the tile do not reach together.
class tile_divergence : public fault {
 public:
  using fault::fault;
};

/// All live threads wait, and no pending store or start of a block can release one.
class deadlock : public fault {
 public:
  using fault::fault;
};

/// More steps than `device_settings::step_limit`: either a livelock or a limit that is too low.
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
