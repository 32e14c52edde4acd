// The cases of the suites: a target, a configured policy, and the types of a matrix.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "support/any_solver.hpp"
#include "support/subjects/subject.hpp"
#include "support/targets.hpp"

namespace sptrsv::testing {

/// Returns a number that differs from case to case, so that the cases try different forms if each of them can
/// try only some.
inline std::size_t turn_of(const std::string& case_name) {
  std::size_t sum = 0;
  for (const char c : case_name) {
    sum += static_cast<unsigned char>(c);
  }
  return sum;
}

template <class Target, class Value, class Index, class Offset>
struct case_types {
  using target = Target;
  using value = Value;
  using index = Index;
  using offset = Offset;

  static std::string name() {
    return std::string(std::is_floating_point_v<Value> ? "f" : "c") + std::to_string(8 * sizeof(Value)) +
           "_i" + std::to_string(8 * sizeof(Index)) + "_o" + std::to_string(8 * sizeof(Offset));
  }
};

/// The names of the types in typed suites of GoogleTest.
struct type_names {
  template <class Types>
  static std::string GetName(int) {
    return Types::name();
  }
};

template <class Target, class Subject, class Value, class Index, class Offset>
struct suite_case {
  using types = case_types<Target, Value, Index, Offset>;
  using subject = Subject;

  static std::string name() { return Subject::name + ("_" + types::name()); }
};

/// The policy of a suite_case.
template <class Case>
class tested final : public tested_policy_of<typename Case::types, typename Case::subject::policy_type> {
 public:
  tested()
      : tested_policy_of<typename Case::types, typename Case::subject::policy_type>(Case::subject::make()) {
    this->case_name = Case::name();
    this->may_refuse = Case::subject::may_refuse;
    this->growth = Case::subject::growth;
    this->holds_indices = Case::subject::holds_indices;
  }
};

/// Returns the policy of a suite_case, which lives to the end of the process.
template <class Case>
const tested_policy<typename Case::types>& policy_of() {
  static const tested<Case> the_policy;
  return the_policy;
}

template <class... Cases>
struct case_list {};

/// The cases of several lists in one list.
template <class... Lists>
struct joined;
template <class List>
struct joined<List> {
  using type = List;
};
template <class... First, class... Second, class... Rest>
struct joined<case_list<First...>, case_list<Second...>, Rest...>
    : joined<case_list<First..., Second...>, Rest...> {};

/// The cases of a `same_policy` list with the index types of turn `Turn`.
template <class Target, class Value, std::size_t Turn, class Group>
struct in_turn;
template <class Target, class Value, std::size_t Turn, class... Subjects>
struct in_turn<Target, Value, Turn, same_policy<Subjects...>> {
  using index = std::conditional_t<Turn % 3 == 1, std::int64_t, std::int32_t>;
  using offset = std::conditional_t<Turn % 3 == 0, std::int32_t, std::int64_t>;
  using type = case_list<suite_case<Target, Subjects, Value, index, offset>...>;
};

/// The cases of a family of policies with one value type; one turn of index types, so that what the tests
/// need is compiled once for them.
template <class Target, class Value, std::size_t Turn, class Groups>
struct family_in_turn;
template <class Target, class Value, std::size_t Turn, class... Groups>
struct family_in_turn<Target, Value, Turn, policy_groups<Groups...>>
    : joined<typename in_turn<Target, Value, Turn, Groups>::type...> {};

/// The turn of the first index types for a value type, chosen so that each family of policies meets all index
/// types over `float`, `double` and `std::complex<float>`.
template <class Value>
inline constexpr std::size_t first_turn = std::is_same_v<Value, float>                 ? 1
                                          : std::is_same_v<Value, std::complex<float>> ? 2
                                                                                       : 0;

/// The device policies of a family in all forms with one value type. Families take the index types in turn.
template <class Target, class Value, class Family>
using family_policies =
    typename family_in_turn<Target, Value, first_turn<Value> + Family::turn, typename Family::policies>::type;

}  // namespace sptrsv::testing
