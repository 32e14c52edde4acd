// The words on command lines and in results for choices of the library: triangle, operation, type of the
// values.
#pragma once

#include <complex>
#include <type_traits>

#include "common/command_line/arguments.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv_common {

inline choices<sptrsv::uplo> part_choices() {
  return {{"lower", sptrsv::uplo::lower}, {"upper", sptrsv::uplo::upper}};
}
inline const char* name_of(sptrsv::uplo part) { return part == sptrsv::uplo::lower ? "lower" : "upper"; }

inline choices<sptrsv::op> operation_choices() {
  return {{"none", sptrsv::op::none}, {"transpose", sptrsv::op::transpose}};
}
inline const char* name_of(sptrsv::op operation) {
  return operation == sptrsv::op::none        ? "none"
         : operation == sptrsv::op::transpose ? "transpose"
                                              : "conj_transpose";
}

/// Returns the word for a type of values.
template <class Value>
constexpr const char* value_name() {
  return std::is_same_v<Value, float>                 ? "f32"
         : std::is_same_v<Value, double>              ? "f64"
         : std::is_same_v<Value, std::complex<float>> ? "c64"
                                                      : "c128";
}

}  // namespace sptrsv_common
