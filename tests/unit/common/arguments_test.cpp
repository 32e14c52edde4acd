// The values of command-line options.
#include "common/command_line/arguments.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sptrsv_common {
namespace {

/// Returns the message of the usage_error that `parse` throws, or "no error".
template <class Parse>
std::string error_of(const Parse& parse) {
  try {
    static_cast<void>(parse());
  } catch (const usage_error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Arguments, SplitListKeepsEmptyItems) {
  EXPECT_EQ(split_list("a,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split_list(""), (std::vector<std::string>{""}));
  EXPECT_EQ(split_list("a,,b,"), (std::vector<std::string>{"a", "", "b", ""}));
}

TEST(Arguments, ParseIntegerTakesTheBoundsAndNothingElse) {
  EXPECT_EQ(parse_integer("1", 1, 600), 1);
  EXPECT_EQ(parse_integer("600", 1, 600), 600);
  EXPECT_EQ(parse_integer("-5", -10, 0), -5);
  for (const char* text : {"", "0", "601", "12x", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(error_of([&] { return parse_integer(text, 1, 600); }),
              "takes an integer from 1 to 600, not '" + std::string(text) + "'");
  }
}

TEST(Arguments, ParseChoicesTakesDifferentWords) {
  const choices<int> from{{"one", 1}, {"two", 2}, {"three", 3}};
  EXPECT_EQ(parse_choices("three,one", from), (std::vector<int>{3, 1}));
  EXPECT_EQ(error_of([&] { return parse_choice("four", from); }), "takes one, two or three, not 'four'");
  EXPECT_EQ(error_of([&] { return parse_choices("one,", from); }), "takes one, two or three, not ''");
  EXPECT_EQ(error_of([&] { return parse_choices("two,one,two", from); }), "names two twice");
  EXPECT_EQ(parse_choice("b", words({"a", "b"})), "b");
}

}  // namespace
}  // namespace sptrsv_common
