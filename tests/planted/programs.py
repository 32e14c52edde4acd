"""The programs that must catch planted errors: the suites of the emulator for a few policies each."""

from dataclasses import dataclass

SUITES = """\
#include "contract/contract_suite.hpp"
#include "contract/schedule_suite.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects.hpp"

namespace sptrsv::testing {{

template <class Subject>
using planted_case = suite_case<emulator_target, Subject, double, std::int32_t, std::int32_t>;
using planted_cases = case_list<{cases}>;
SPTRSV_TEST_CONTRACT(planted, planted_cases);
SPTRSV_TEST_POLICIES(planted, schedules, planted_cases);

}}  // namespace sptrsv::testing
"""


@dataclass(frozen=True)
class Program:
    """A GoogleTest program: the contract and the hostile schedules of `subjects`, or the file `source` below tests/."""

    name: str
    subjects: tuple[str, ...] = ()
    source: str = ""

    def cases(self) -> str:
        """Returns the cases as --gtest_filter takes them: those of this program in one that has more subjects, too."""
        return "*" if self.source else ":".join(f"*/{subject}_f64_*" for subject in self.subjects)

    def text(self) -> str:
        if self.source:
            return f'#include "{self.source}"\n'
        return SUITES.format(cases=", ".join(f"planted_case<{subject}>" for subject in self.subjects))


PROGRAMS = {
    program.name: program
    for program in (
        Program("sync_free_warp", ("sync_free_warp_small", "sync_free_warp_shared_small")),
        Program("sync_free_thread", ("sync_free_thread_natural", "sync_free_thread_phases")),
        Program("sync_free_fused", ("sync_free_fused_small",)),
        Program("sync_free_column", ("sync_free_column_small", "sync_free_column")),
        Program(
            "self_scheduled",
            (
                "self_scheduled_natural",
                "self_scheduled_rows_natural",
                "self_scheduled_narrow",
                "self_scheduled_rows_narrow",
            ),
        ),
        Program("level_set", ("level_set_mixed", "level_set_columns_mixed")),
        Program("scheme", ("scheme_dealt", "scheme_fenced")),
        Program(
            "block", ("recursive_block_small", "column_block_levels", "row_block_serial", "recursive_block_sync_free")
        ),
        Program("row_per_thread", ("dataflow_levels",)),
        Program("partitioned", ("dataflow_partitioned_rhs", "dataflow_partitioned_streams")),
        Program("single_block", ("dataflow_single_block", "dataflow_single_block_banded")),
        Program("natural_blocks", ("dataflow_natural_blocks", "dataflow_natural_blocks_lanes")),
        Program("hybrid", ("dataflow_hybrid",)),
        Program("row_elimination", ("dataflow_levels_rewritten",)),
        Program("level_runs", ("dataflow_runs_rewritten",)),
        Program("supernodal", ("supernodal_small",)),
        Program("single_block_schedule", source="unit/dataflow/single_block/schedule_test.cpp"),
        Program("natural_blocks_steps", source="unit/dataflow/natural_blocks_test.cpp"),
        Program("scheme_decisions", source="policies/scheme_test.cpp"),
        Program("row_elimination_rows", source="policies/row_elimination_test.cpp"),
        Program("supernodal_factors", source="policies/supernodal_test.cpp"),
        Program("distributed", source="distributed/solve_test.cpp"),
        Program("distributed_failure", source="distributed/failure_test.cpp"),
        Program("supernodal_merge", source="unit/supernodal/analysis/merge_test.cpp"),
        Program("analysis", source="contract/instances/analysis_test.cpp"),
        Program("both_triangles", source="contract/instances/factors_test.cpp"),
        Program("predictions", source="unit/dataflow/partitioned/choose/predict_test.cpp"),
        Program("partitioned_plan", source="unit/dataflow/partitioned/build/planner_test.cpp"),
        Program("incomplete", source="contract/instances/incomplete_test.cpp"),
        Program("batched", source="contract/instances/batched_test.cpp"),
        Program("krylov", source="contract/instances/krylov_test.cpp"),
    )
}
