// What most test programs include: it is compiled once for all of them.
#pragma once

#include <gtest/gtest.h>

#include "emulator/executor.hpp"
