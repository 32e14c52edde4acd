// The search for a scheme, and plans, in the emulator, with a clock that the tests control.
#include "sptrsv/scheme/search.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/scheme.hpp"

namespace sptrsv::testing {
namespace {

using types = case_types<emulator_target, double, std::int32_t, std::int32_t>;

class SchemeSearch : public on_target<types> {
 public:
  SchemeSearch() {
    how.space = {parse_scheme("nw=2 ng=1"), parse_scheme("nw=2 ng=8"), parse_scheme("nw=2 ng=2"),
                 parse_scheme("nw=2 ng=4")};
    // The clock counts the steps of the emulator.
    how.clock = [this] { return static_cast<double>(where.device().counters.steps) * second_per_step; };
    how.seconds = 1e9;
  }
  ~SchemeSearch() override { static_cast<void>(std::remove(path.c_str())); }

  auto system() { return where.upload(make(patterns::stencil_2d(8, 9), {}).by_rows); }
  auto search() { return search_schemes<small_schemes>(system(), {}, how, where.stream()); }
  auto tuned() { return tuned_scheme<small_schemes>(path, system(), {}, how, where.stream()); }

  double second_per_step = 1e-3;
  scheme_search how;
  std::string path = ::testing::TempDir() + "scheme_search_test.plan";
};

TEST_F(SchemeSearch, FindsTheSchemeThatTakesLeast) {
  const scheme_search_result found = search();
  ASSERT_EQ(found.measured.size(), 4u);
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.plan.use, found.measured.front().tried);
  EXPECT_EQ(found.plan.milliseconds, found.measured.front().milliseconds);
  EXPECT_EQ(found.plan.key, scheme_key_of(system(), {}, where.stream()));
  for (std::size_t i = 0; i < found.measured.size(); ++i) {
    EXPECT_TRUE(found.measured[i].refused.empty());
    EXPECT_GE(found.measured[i].milliseconds, found.measured.front().milliseconds);
    EXPECT_GT(found.measured[i].analysis_milliseconds, 0);
  }
  EXPECT_EQ(found.measured.front().solves, 32);  // 2 * 4 * 4: the best was in all three rounds
  EXPECT_EQ(found.measured.back().solves, 2);
}

TEST_F(SchemeSearch, EndsWhenTheTimeIsOver) {
  how.seconds = 0;
  const scheme_search_result found = search();
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.plan.use, how.space.front());
  EXPECT_NE(found.measured.back().refused, "");
}

TEST_F(SchemeSearch, BeginsWithWhatTheModelKnows) {
  const scheme known = parse_scheme(detail::schemes::model_table::schemes[0]);
  how.space.push_back(known);
  how.seconds = 0;
  EXPECT_EQ(search().plan.use, known);
}

TEST_F(SchemeSearch, TriesOnlyTheLikeliestIfAsked) {
  const scheme known = parse_scheme(detail::schemes::model_table::schemes[0]);
  how.space.push_back(known);
  how.likeliest = 2;
  const scheme_search_result found = search();
  ASSERT_EQ(found.measured.size(), 2u);
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(found.measured[0].tried == known || found.measured[1].tried == known);
  how.likeliest = 9;
  EXPECT_EQ(search().measured.size(), how.space.size());
}

TEST_F(SchemeSearch, TimesShortSolvesMoreOften) {
  second_per_step = 1e-12;
  for (const scheme_measurement& m : search().measured) {
    EXPECT_EQ(m.solves, 100);
  }
}

TEST_F(SchemeSearch, LeavesOutWhatCannotWin) {
  how.space.push_back(parse_scheme("nw=2 alpha_level=0"));
  second_per_step = 1e-12;
  const scheme_search_result found = search();
  EXPECT_NE(found.measured.back().refused.find("one launch for each level"), std::string::npos);
  EXPECT_EQ(found.measured.back().solves, 0);
}

TEST_F(SchemeSearch, ThrowsWhereNoSchemeCanBe) {
  how.space.clear();
  try {
    search();
    ADD_FAILURE() << "found";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
  }
}

TEST_F(SchemeSearch, IsDoneOnceForAPlan) {
  const scheme_plan first = tuned();
  how.space.clear();  // another search would throw
  const scheme_plan second = tuned();
  EXPECT_EQ(first.use, second.use);
  EXPECT_EQ(first.milliseconds, second.milliseconds);
  EXPECT_EQ(first.key, second.key);
}

TEST_F(SchemeSearch, KeysTellSystemsApart) {
  const auto key = [&](const pattern& p, const system_options& options = {}) {
    return scheme_key_of(where.upload(make(p, {}).by_rows), options, where.stream());
  };
  system_options upper;
  upper.part = uplo::upper;
  const scheme_key one = key(patterns::stencil_2d(8, 9));
  EXPECT_EQ(one, key(patterns::stencil_2d(8, 9)));
  EXPECT_NE(one, key(patterns::stencil_2d(9, 8)));
  EXPECT_NE(one, key(patterns::stencil_2d(8, 9), upper));
  EXPECT_NE(key(patterns::where("a", 4, [](auto i, auto j) { return i == 3 && j == 0; })),
            key(patterns::where("b", 4, [](auto i, auto j) { return i == 3 && j == 1; })));
  EXPECT_EQ(one.device, "emulator");
}

class SchemePlan : public ::testing::Test {
 public:
  ~SchemePlan() override { static_cast<void>(std::remove(path.c_str())); }
  errc code_of_loading(const scheme_key& key) {
    try {
      static_cast<void>(load_scheme_plan(path, key));
    } catch (const error& e) {
      return e.code();
    }
    return errc::cuda_error;
  }
  void write(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  scheme_plan plan{
      parse_scheme("ng=4 trans=reorder+merge_avg(32,8)"), {0x0123456789abcdefu, "A GPU 9000"}, 0.1};
  std::string path = ::testing::TempDir() + "scheme_plan_test.plan";
};

TEST_F(SchemePlan, IsReadAsItWasWritten) {
  save_scheme_plan(path, plan);
  const scheme_plan read = load_scheme_plan(path, plan.key);
  EXPECT_EQ(read.use, plan.use);
  EXPECT_EQ(read.key, plan.key);
  EXPECT_EQ(read.milliseconds, plan.milliseconds);
}

TEST_F(SchemePlan, OfSomethingElseIsRefused) {
  save_scheme_plan(path, plan);
  EXPECT_EQ(code_of_loading({plan.key.pattern, "A GPU 9001"}), errc::invalid_argument);
  EXPECT_EQ(code_of_loading({plan.key.pattern + 1, plan.key.device}), errc::invalid_argument);
}

TEST_F(SchemePlan, OfAnotherVersionIsRefused) {
  std::string text = to_string(plan);
  text.replace(text.find("plan 1"), 6, "plan 2");
  write(text);
  EXPECT_EQ(code_of_loading(plan.key), errc::unsupported);
}

/// A plan with a changed or missing byte is refused.
TEST_F(SchemePlan, ThatIsDamagedIsRefused) {
  const std::string whole = to_string(plan);
  const std::size_t version = whole.find("plan 1") + 5;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = text[at] == '7' ? '8' : '7';
    write(text);
    EXPECT_EQ(code_of_loading(plan.key), at == version ? errc::unsupported : errc::parse_error) << text;
    if (at + 1 < whole.size()) {  // the text is complete without its last newline
      write(whole.substr(0, at));
      EXPECT_EQ(code_of_loading(plan.key), errc::parse_error) << at;
    }
  }
  write(whole + "more\n");
  EXPECT_EQ(code_of_loading(plan.key), errc::parse_error);
}

/// Also with a correct checksum.
TEST_F(SchemePlan, WithAMalformedNumberIsRefused) {
  const std::string whole = to_string(plan);
  const auto code_of_replaced = [&](const std::string& part, const std::string& other) {
    std::string text = whole.substr(0, whole.find("checksum "));
    text.replace(text.find(part), part.size(), other);
    write(text + "checksum " + detail::schemes::hexadecimal(detail::schemes::checksum(text)) + "\n");
    return code_of_loading(plan.key);
  };
  EXPECT_EQ(code_of_replaced("0123456789abcdef", "0123456789abcdef"), errc::cuda_error);  // it is loaded
  for (const char* pattern :
       {"", "123456789abcdef", "0123456789abcdef0", "0x23456789abcdef", "0123456789abcde "}) {
    EXPECT_EQ(code_of_replaced("0123456789abcdef", pattern), errc::parse_error) << pattern;
  }
  for (const char* time : {"", "x", "0.1x", "0,1", "0.1 0.1", " 0.1"}) {
    EXPECT_EQ(code_of_replaced("milliseconds 0.1", std::string("milliseconds ") + time), errc::parse_error)
        << time;
  }
}

TEST_F(SchemePlan, ThatIsNotThereIsAnError) {
  EXPECT_EQ(code_of_loading(plan.key), errc::io_error);
  try {
    save_scheme_plan(::testing::TempDir() + "no such folder/plan", plan);
    ADD_FAILURE() << "written";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io_error);
  }
}

}  // namespace
}  // namespace sptrsv::testing
