// The scheme as a value: text, comparison, and what is refused.
#include "sptrsv/scheme/text.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sptrsv::SPTRSV_ABI {
namespace {

std::vector<scheme> samples() {
  std::vector<scheme> all(1);
  for (const node_merging merge :
       {node_merging::none, node_merging::fixed, node_merging::average, node_merging::threshold}) {
    for (const bool reorder : {false, true}) {
      scheme s;
      s.active_warps = 4;
      s.sub_warps = 8;
      s.together_above = merge == node_merging::none ? scheme::unlimited : 2;
      s.reorder = reorder;
      s.merge = merge;
      s.merge_rows = 16;
      s.merge_entries = merge == node_merging::none || merge == node_merging::fixed ? 32 : 4;
      s.grouping = node_grouping::balance;
      s.warps = merge == node_merging::fixed ? warp_scheduling::locality : warp_scheduling::balance;
      s.alpha_level = reorder ? 0 : scheme::unlimited;
      s.signal = hand_off::fenced;
      s.buffered = true;
      s.early_division = false;
      all.push_back(s);
    }
  }
  return all;
}

errc code_of(const std::string& text) {
  try {
    parse_scheme(text);
  } catch (const error& e) {
    return e.code();
  }
  ADD_FAILURE() << text << " was taken";
  return errc::io_error;
}

TEST(Scheme, IsReadAsItWasPrinted) {
  for (const scheme& s : samples()) {
    EXPECT_EQ(parse_scheme(to_string(s)), s) << to_string(s);
    EXPECT_EQ(to_string(parse_scheme(to_string(s))), to_string(s));
  }
}

TEST(Scheme, PrintsTheNamesOfThePaper) {
  scheme s;
  s.merge = node_merging::average;
  s.merge_entries = 4;
  EXPECT_EQ(to_string(s),
            "nw=16 ng=1 sw_rnnz=1 trans=reorder+merge_avg(32,4) group=rg_sequential warps=ws_hardware "
            "alpha_level=inf signal=value buffered=no early_division=yes");
  s.reorder = false;
  s.merge = node_merging::none;
  EXPECT_NE(to_string(s).find("trans=none"), std::string::npos);
}

TEST(Scheme, ComparesWhatTheMergingLooksAt) {
  scheme a;
  scheme b;
  b.merge_rows = 4;
  EXPECT_EQ(a, b);
  a.merge = b.merge = node_merging::fixed;
  EXPECT_NE(a, b);
  EXPECT_TRUE((a < b) != (b < a));
  b.merge_rows = a.merge_rows;
  b.merge_entries = 1;
  EXPECT_EQ(a, b);
}

TEST(Scheme, HasDefaultsForWhatIsNotNamed) {
  EXPECT_EQ(parse_scheme(""), scheme{});
  EXPECT_EQ(parse_scheme(" ng=2\n").sub_warps, 2);
}

TEST(Scheme, RefusesWhatIsNoText) {
  for (const char* text : {"ng",
                           "ng=x",
                           "ng=2x",
                           "ng=",
                           "ng=2 ng=2",
                           "warp=2",
                           "trans=",
                           "trans=reordermerge_fixed(4)",
                           "trans=reorder+",
                           "trans=reorder+none",
                           "trans=reorder4",
                           "trans=+merge_fixed(4)",
                           "trans=merge_fixed(4",
                           "trans=merge,avg(4,4)",
                           "trans=)",
                           "trans=merge_fixed",
                           "trans=merge_fixed(4,4)",
                           "trans=merge_avg(32)",
                           "trans=merge_avg(32,4",
                           "trans=none(4)",
                           "group=rg",
                           "warps=rr",
                           "signal=flag",
                           "buffered=true",
                           "early_division=1"}) {
    EXPECT_EQ(code_of(text), errc::parse_error) << text;
  }
}

TEST(Scheme, RefusesWhatIsNoScheme) {
  for (const char* text : {"nw=1", "nw=3", "nw=64", "nw=inf", "ng=0", "ng=64", "ng=3", "ng=4 sw_rnnz=16",
                           "sw_rnnz=-1", "sw_rnnz=3", "trans=merge_fixed(33)", "trans=merge_fixed(0)",
                           "trans=merge_avg(32,64)", "trans=merge_thresh(3,4)", "alpha_level=-1"}) {
    EXPECT_EQ(code_of(text), errc::invalid_argument) << text;
  }
  EXPECT_EQ(problem_of(scheme{}), "");
  EXPECT_EQ(problem_of(parse_scheme("ng=4 sw_rnnz=8")), "");
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI
