// host_serial: substitution as the textbook has it, on one core. The oracle of all tests.
#pragma once

#include "sptrsv/detail/host_serial/engine.hpp"
