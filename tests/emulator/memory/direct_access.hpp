// Says why the process dies when host code or a kernel dereferences a device address.
#pragma once

#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace sptrsv::emulator {

/// Prints a sentence for faults at addresses for which `is_device` holds, then lets the fault happen.
class direct_access_report {
 public:
  static void install(bool (*is_device)(std::uintptr_t)) {
    is_device_ = is_device;
    struct sigaction action {};
    action.sa_sigaction = &report;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_);
  }

 private:
  static void report(int, siginfo_t* info, void*) {
    if (is_device_(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
      char text[160];
      const int length =
          std::snprintf(text, sizeof(text),
                        "emulator: device address %p was dereferenced directly; use the executor "
                        "or the context\n",
                        info->si_addr);
      if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) {
        // Nowhere to say so.
      }
    }
    sigaction(SIGSEGV, &previous_, nullptr);  // the instruction is tried again, and fails for good
  }

  inline static bool (*is_device_)(std::uintptr_t) = nullptr;
  inline static struct sigaction previous_ {};
};

}  // namespace sptrsv::emulator
