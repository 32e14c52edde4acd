// The ranges that a profiler sees. The program takes the place of the profiler: NVTX hands it the tables of
// the functions that the library calls.
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <string>
#include <vector>

#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/solver.hpp"

namespace {

std::vector<std::string> events;

int NVTX_API range_push(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* attributes) {
  events.emplace_back(attributes->message.ascii);
  return 0;
}
int NVTX_API range_pop(nvtxDomainHandle_t /*domain*/) {
  events.emplace_back("end");
  return 0;
}
nvtxDomainHandle_t NVTX_API domain_create(const char* name) {
  events.emplace_back(std::string("domain ") + name);
  return nullptr;
}

int NVTX_API start_profiler(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(range_push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(range_pop);
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(domain_create);
  return 1;
}

}  // namespace

namespace sptrsv::testing {
namespace {

TEST(Nvtx, AProfilerSeesTheCalls) {
  InitializeInjectionNvtx2_fnptr = start_profiler;  // NVTX calls it at its first use in the program
  const csr_matrix<double> lower{2, 2, {0, 1, 3}, {0, 0, 1}, {2, 1, 4}};
  auto solver = analyze(policy::host_serial{}, lower);
  std::vector<double> x{2, 9};
  solver.solve(x, x);
  solver.update_values(lower.values);
  EXPECT_EQ(events, (std::vector<std::string>{"domain sptrsv", "analyze", "end", "solve", "end",
                                              "update_values", "end"}));
}

}  // namespace
}  // namespace sptrsv::testing
