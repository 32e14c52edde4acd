// SPDX-License-Identifier: Apache-2.0
// All policies.
#pragma once

#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/block.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/policy/level_set.hpp"
#include "sptrsv/policy/scheme.hpp"
#include "sptrsv/policy/self_scheduled.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "sptrsv/policy/sync_free_column.hpp"
#include "sptrsv/policy/sync_free_fused.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "sptrsv/policy/sync_free_warp.hpp"
