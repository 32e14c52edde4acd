// The contract of include/sptrsv/solver.hpp as typed suites over target x policy x value x index x offset. A
// new policy is a subject and a line in the lists of support/subjects.hpp.
#pragma once

#include "solver/contract_ieee.hpp"
#include "solver/contract_lifetime.hpp"
#include "solver/contract_rhs.hpp"
#include "solver/contract_solves.hpp"

/// Runs all of them for `...`, a ::testing::Types of suite_case. To be used in namespace sptrsv::testing.
#define SPTRSV_TEST_CONTRACT(prefix, ...)                                               \
  using prefix##_cases = __VA_ARGS__;                                                   \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, solves, prefix##_cases, case_names);           \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, right_hand_sides, prefix##_cases, case_names); \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, lifetimes, prefix##_cases, case_names);        \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, ieee, prefix##_cases, case_names)
