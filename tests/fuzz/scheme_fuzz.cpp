// Fuzzes the texts of schemes and plans. A text that is accepted is a valid scheme or plan, which is the same
// after it was printed and read again; any other text is refused with sptrsv::error.
//
// The first byte of an input selects what the rest is: `t` the text of a scheme, `p` a plan, `c` a plan whose
// checksum is computed here.
#include <cmath>
#include <string>

#include "check.hpp"
#include "sptrsv/scheme/plan.hpp"

namespace {

using sptrsv::scheme;
using sptrsv::scheme_plan;
using sptrsv::fuzz::check;

void check_scheme_text(const scheme& s) {
  check(sptrsv::problem_of(s).empty(), "an accepted scheme is valid");
  const std::string text = sptrsv::to_string(s);
  const scheme from_text = sptrsv::parse_scheme(text);
  check(from_text == s, "a printed scheme is read as it was");
  check(sptrsv::to_string(from_text) == text, "a scheme is printed as it was read");
}

void check_plan(const scheme_plan& plan) {
  check_scheme_text(plan.use);
  const std::string text = sptrsv::to_string(plan);
  const scheme_plan again = sptrsv::parse_scheme_plan(text);
  check(again.use == plan.use && again.key == plan.key, "a printed plan is read as it was");
  check(again.milliseconds == plan.milliseconds ||
            (std::isnan(again.milliseconds) && std::isnan(plan.milliseconds)),
        "the time of a printed plan is read as it was");
  check(sptrsv::to_string(again) == text, "a plan is printed as it was read");
}

/// Returns the text with a line of its checksum.
std::string with_checksum(const std::string& text) {
  namespace schemes = sptrsv::detail::schemes;
  return text + "checksum " + schemes::hexadecimal(schemes::checksum(text)) + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0]) {
      case 't':
        check_scheme_text(sptrsv::parse_scheme(text));
        break;
      case 'p':
        check_plan(sptrsv::parse_scheme_plan(text));
        break;
      case 'c':
        check_plan(sptrsv::parse_scheme_plan(with_checksum(text)));
        break;
      default:
        return -1;  // not for the corpus
    }
  } catch (const sptrsv::error&) {
    return 0;
  }
  return 0;
}
