// The other translation unit of gpu_translation_units.cu.
#include "gpu/gpu_translation_units.cuh"

namespace sptrsv::testing {

std::uint32_t run_in_other_unit(std::size_t words, std::uint32_t* out) {
  return run_with_shared_words(words, out);
}

}  // namespace sptrsv::testing
