#include "emulator/memory/memory_access.hpp"

#include <iomanip>
#include <sstream>

namespace sptrsv::emulator {

std::string describe(const thread& t, address_type a) {
  const block& b = *t.owner;
  if (b.static_shared.contains(a)) {
    return "shared storage + " + std::to_string(a - address_of(b.static_shared.data()));
  }
  if (b.dynamic_shared.contains(a)) {
    return "dynamic shared memory + " + std::to_string(a - address_of(b.dynamic_shared.data()));
  }
  return memory_space::instance().describe(a);
}

region resolve(const thread& t, address_type a, std::size_t size, std::size_t word, const char* what,
               bool allows_remote) {
  const bool is_power_of_two = (word & (word - 1)) == 0;  // as almost always: then no division is needed
  if ((is_power_of_two ? a & (word - 1) : a % word) != 0) {
    throw misaligned_access(name_of(t) + ": " + what + " of " + std::to_string(word) + " bytes at " + hex(a) +
                            " (" + describe(t, a) + ")");
  }
  for (const shared_region* shared : {&t.owner->static_shared, &t.owner->dynamic_shared}) {
    if (shared->contains(a) && size <= shared->size() - (a - address_of(shared->data()))) {
      return {reinterpret_cast<unsigned char*>(a), nullptr, nullptr};
    }
  }
  memory_space& space = memory_space::instance();
  allocation* const buffer = space.find(a);
  if (buffer == nullptr || size > buffer->size - (a - buffer->base)) {
    space.fail(a, size, name_of(t) + ": " + what);
  }
  const region found{buffer->bytes_at(a), buffer->state_at(a), buffer};
  if (is_remote(t, found) && (!allows_remote || buffer->symmetric == 0)) {
    throw remote_access(name_of(t) + ": " + what + " of " + describe(t, a) + ", memory of another device" +
                        (allows_remote ? " that is not symmetric" : ""));
  }
  return found;
}

[[noreturn]] void fail_uninitialised(const thread& t, address_type a, std::size_t size, const char* what) {
  throw uninitialised_read(name_of(t) + ": " + what + " of " + std::to_string(size) + " bytes at " + hex(a) +
                           " (" + describe(t, a) + "), which nobody has written");
}

std::string bytes_text(const thread& t, address_type a, std::size_t size) {
  const region r = resolve(t, a, size, 1, "report");
  std::ostringstream text;
  text << std::hex << std::setfill('0');
  for (std::size_t i = 0; i < size; ++i) {
    text << (i == 0 ? "" : " ") << std::setw(2) << static_cast<unsigned>(r.bytes[i]);
  }
  return text.str();
}

}  // namespace sptrsv::emulator
