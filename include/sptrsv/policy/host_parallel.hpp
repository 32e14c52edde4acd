// host_parallel: level-scheduled substitution on the cores of the host, with point-to-point waits.
#pragma once

#include "sptrsv/detail/host_parallel/engine.hpp"
