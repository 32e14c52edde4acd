// The forms that programs offer by name: each solves, on a schedule that no GPU has, and is what its name
// says.
#include <map>
#include <set>
#include <string>
#include <type_traits>

#include "common/policies/policy_forms.hpp"
#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"
#include "support/kernel_fields.hpp"

namespace sptrsv::testing {
namespace {

/// Calls `visit(form)` for all of the GPU.
template <class Visit>
void for_each_device_form(Visit visit) {
  sptrsv_common::for_each_form(sptrsv_common::device_policies{}, visit);
  sptrsv_common::for_each_form(sptrsv_common::tuned_device_policies{}, visit);
}

TEST(PolicyForms, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  const auto add = [&](const auto& form) {
    EXPECT_TRUE(names.insert(form.name).second) << form.name;
    EXPECT_FALSE(form.description.empty()) << form.name;
  };
  for_each_device_form(add);
  sptrsv_common::for_each_form(sptrsv_common::host_policies{}, add);
  EXPECT_GE(names.size(), 20u);
}

/// A default form is the policy as it is without any choice.
TEST(PolicyForms, EachPolicyHasItsDefaultUnderItsOwnName) {
  std::map<std::string, int> defaults;
  sptrsv_common::for_each_form(sptrsv_common::device_policies{}, [&](const auto& form) {
    using policy_type = std::decay_t<decltype(form.policy)>;
    defaults[policy_type::name] += form.is_default() ? 1 : 0;
    EXPECT_EQ(form.name.rfind(policy_type::name, 0), 0u) << form.name;
  });
  EXPECT_EQ(defaults.size(), 13u);
  for (const auto& [name, count] : defaults) {
    EXPECT_EQ(count, name == "automatic" ? 0 : 1) << name;
  }
  sptrsv_common::for_each_form(sptrsv_common::tuned_device_policies{},
                               [](const auto& form) { EXPECT_FALSE(form.is_default()) << form.name; });
}

class SolvedForms : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  SolvedForms() { where.device().settings = hostile_settings(3, 2); }
};

TEST_F(SolvedForms, SolveAndAddInAFixedOrderIfTheyWorkByRows) {
  const pattern p = patterns::stencil_2d(9, 12);
  const auto a = make(p, {});
  const auto b = random_vector<double>(p.size, 1);
  for_each_device_form([&](const auto& form) {
    SCOPED_TRACE(form.name);
    auto solver = sptrsv::analyze(form.policy, where.upload(a.by_rows), {}, where.stream());
    expect_solved(a, {}, p.name, single(p.size), b, solve(solver, b), 1.0, form.growth);
    EXPECT_EQ(solver.info().bit_reproducible, !form.by_columns);
    EXPECT_FALSE(solver.info().kernels.empty());
  });
}

TEST_F(SolvedForms, DefaultsAreWhatThePoliciesAreByThemselves) {
  const auto a = make(patterns::stencil_2d(9, 12), {});
  sptrsv_common::for_each_form(sptrsv_common::device_policies{}, [&](const auto& form) {
    using policy_type = std::decay_t<decltype(form.policy)>;
    if (form.is_default()) {
      const auto kernels_of = [&](const policy_type& policy) {
        return fields_of(sptrsv::analyze(policy, where.upload(a.by_rows), {}, where.stream()).info().kernels);
      };
      EXPECT_EQ(kernels_of(form.policy), kernels_of(policy_type{})) << form.name;
    }
  });
}

}  // namespace
}  // namespace sptrsv::testing
