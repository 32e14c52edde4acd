#include "emulator/memory/memory.hpp"

namespace sptrsv::emulator {

memory_space& memory_space::instance() {
  static auto* const space = new memory_space;  // outlives every static object that owns device memory
  return *space;
}

allocation* memory_space::find(address_type a) {
  allocation*& cached = cache_[(a >> 12) % cache_.size()];
  if (cached != nullptr && cached->contains(a)) {
    return cached;
  }
  auto above = live_.upper_bound(a);
  if (above == live_.begin() || !(--above)->second.contains(a)) {
    return nullptr;
  }
  return cached = &above->second;
}

void memory_space::end_launch(std::vector<allocation*>& touched) {
  for (allocation* a : touched) {
    for (unsigned char& s : a->state) {
      s &= shadow::initialised;
    }
    a->touched = false;
  }
  touched.clear();
}

}  // namespace sptrsv::emulator
