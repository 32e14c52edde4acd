// The contract of include/sptrsv/solver.hpp as typed suites over target x policy x value x index x offset. To
// test a new policy, add a subject and a line of the list in a file of support/subjects/.
#pragma once

#include "contract/contract_ieee.hpp"
#include "contract/contract_lifetime.hpp"
#include "contract/contract_rhs.hpp"
#include "contract/contract_solves.hpp"

/// Runs all suites for `...`, a case_list. To be used in namespace sptrsv::testing.
#define SPTRSV_TEST_CONTRACT(prefix, ...)                      \
  SPTRSV_TEST_POLICIES(prefix, solves, __VA_ARGS__);           \
  SPTRSV_TEST_POLICIES(prefix, right_hand_sides, __VA_ARGS__); \
  SPTRSV_TEST_POLICIES(prefix, lifetimes, __VA_ARGS__);        \
  SPTRSV_TEST_POLICIES(prefix, ieee, __VA_ARGS__)
