// The headers that most test programs include. The compiler reads them once for all of these programs.
#pragma once

#include <gtest/gtest.h>

#include "emulator/executor.hpp"
