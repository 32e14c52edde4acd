// SPDX-License-Identifier: Apache-2.0
// The whole library, except what needs other libraries (plugins/), the search for schemes
// (sptrsv/scheme/search.hpp), solves over several GPUs (sptrsv/distributed.hpp), and the classes of policies
// that are named at run time (sptrsv/any/any_policy.hpp), which compile all policies of the list. A program
// that uses one policy compiles faster with the header of this policy alone (sptrsv/policy/<name>.hpp).
#pragma once

#include "sptrsv/any/any_solver.hpp"
#include "sptrsv/batched.hpp"
#include "sptrsv/conversions.hpp"
#include "sptrsv/device_colouring.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/host/structure.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/orderings.hpp"
#include "sptrsv/policy.hpp"
#include "sptrsv/solver.hpp"
#include "sptrsv/supernodal_matrix.hpp"
#include "sptrsv/sweeps.hpp"
#include "sptrsv/types.hpp"
#include "sptrsv/version.hpp"
