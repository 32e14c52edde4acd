// All configured policies under test, and the cases of the suites with them.
#pragma once

#include "support/cases.hpp"
#include "support/subjects/block.hpp"
#include "support/subjects/dataflow.hpp"
#include "support/subjects/host.hpp"
#include "support/subjects/scheduled.hpp"
#include "support/subjects/scheme.hpp"
#include "support/subjects/supernodal.hpp"
#include "support/subjects/sync_free.hpp"

namespace sptrsv::testing {

/// All device policies in all forms with one value type: as users have them, and with tunings for which small
/// matrices are large.
template <class Target, class Value>
using device_policies = typename joined<
    family_policies<Target, Value, sync_free_family>, family_policies<Target, Value, scheduled_family>,
    family_policies<Target, Value, dataflow_family>, family_policies<Target, Value, scheme_family>,
    family_policies<Target, Value, block_family>, family_policies<Target, Value, supernodal_family>>::type;

}  // namespace sptrsv::testing
