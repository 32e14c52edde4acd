// Suites of tests over policies, like the type-parameterised suites of GoogleTest; but a test is compiled
// once for each target and set of types, and registered for each policy.
//
//   template <class Types>  // case_types
//   class roundings : public contract<Types> {
//    public:
//     using contract<Types>::contract;
//   };
//   SPTRSV_TEST_P(roundings, are_even) { ... this->analyze(...) ... }
//   SPTRSV_TESTS(roundings, are_even);
//   SPTRSV_TEST_POLICIES(on_host, roundings, host_policies<double>);   // on_host/roundings/<case>.are_even
//
// In the body of a test, `TypeParam` is Types and `TestFixture` is the suite with these types.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "support/cases.hpp"

namespace sptrsv::testing {

/// Returns the names of the defined tests of a suite; SPTRSV_TESTS must list all of them.
inline std::set<std::string>& defined_tests(const std::string& suite) {
  static std::map<std::string, std::set<std::string>> all;
  return all[suite];
}

/// Creates a test when GoogleTest runs it.
struct test_factory {
  ::testing::Test* (*make)(const void* policy);
  const void* policy;

  ::testing::Test* operator()() const { return make(policy); }
};

template <template <class> class... Tests>
struct test_list {
  /// Registers all tests for one policy.
  template <class Types>
  static void add(const std::string& suite, const tested_policy<Types>& policy) {
    (::testing::RegisterTest(suite.c_str(), Tests<Types>::test_name, nullptr, nullptr,
                             Tests<Types>::test_file, Tests<Types>::test_line,
                             test_factory{[](const void* p) -> ::testing::Test* {
                                            return new Tests<Types>(
                                                *static_cast<const tested_policy<Types>*>(p));
                                          },
                                          &policy}),
     ...);
  }
  template <class First, class... Rest>
  static bool add_all(const std::string& prefix, const std::string& suite, case_list<First, Rest...>) {
    if (defined_tests(suite) != std::set<std::string>{Tests<typename First::types>::test_name...}) {
      std::fprintf(stderr, "not all tests of %s are listed in SPTRSV_TESTS\n", suite.c_str());
      std::abort();
    }
    const std::string path = prefix + "/" + suite + "/";
    add(path + First::name(), policy_of<First>());
    (add(path + Rest::name(), policy_of<Rest>()), ...);
    return true;
  }
};

}  // namespace sptrsv::testing

/// Defines a test of a suite.
#define SPTRSV_TEST_P(suite, test)                                                                       \
  namespace suite##_tests {                                                                              \
    template <class Types>                                                                               \
    class test : public suite<Types> {                                                                   \
     public:                                                                                             \
      using TypeParam = Types;                                                                           \
      using TestFixture = suite<Types>;                                                                  \
      using suite<Types>::suite;                                                                         \
      static constexpr const char* test_name = #test;                                                    \
      static constexpr const char* test_file = __FILE__;                                                 \
      static constexpr int test_line = __LINE__;                                                         \
      void TestBody() override;                                                                          \
    };                                                                                                   \
    inline const bool test##_is_defined = ::sptrsv::testing::defined_tests(#suite).insert(#test).second; \
  }                                                                                                      \
  template <class Types>                                                                                 \
  void suite##_tests::test<Types>::TestBody()

/// Lists all tests of a suite.
#define SPTRSV_TESTS(suite, ...)                           \
  namespace suite##_tests {                                \
    using all = ::sptrsv::testing::test_list<__VA_ARGS__>; \
  }                                                        \
  static_assert(true)

/// Runs a suite for `...`, a case_list.
#define SPTRSV_TEST_POLICIES(prefix, suite, ...)        \
  [[maybe_unused]] static const bool prefix##_##suite = \
      suite##_tests::all::add_all(#prefix, #suite, __VA_ARGS__{})
