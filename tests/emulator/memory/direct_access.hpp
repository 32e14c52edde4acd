// Explains why the process dies when host code or a kernel dereferences a device address.
#pragma once

#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace sptrsv::emulator {

/// A handler for SIGSEGV: prints a message if `is_device` returns true for the address, then lets the fault
/// happen.
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
        // The write failed; there is no other channel for the message.
      }
    }
    sigaction(SIGSEGV, &previous_, nullptr);  // the instruction is executed again and the process dies
  }

  inline static bool (*is_device_)(std::uintptr_t) = nullptr;
  inline static struct sigaction previous_ {};
};

}  // namespace sptrsv::emulator
