// Solves an unsymmetric system by restarted GMRES or by BiCGStab, and prints iterations and times.
// `gmres --help` lists the options.
#include "krylov/program.hpp"

namespace {

enum class method { gmres, bicgstab };

}  // namespace

int main(int argc, char** argv) {
  using namespace sptrsv_examples;
  common::command_line arguments("gmres", "Solves an unsymmetric system by restarted GMRES or by BiCGStab.");
  krylov_options options;
  std::int64_t peclet = 10;
  int restart = 30;
  method chosen = method::gmres;
  add_krylov_options(arguments, options, {{"ilu0", preconditioning::ilu0}});
  arguments.begin_group("Method");
  arguments.add_choice("-m,--method", chosen, {{"gmres", method::gmres}, {"bicgstab", method::bicgstab}},
                       "Method. Default: gmres.");
  arguments.add_integer("-r,--restart", restart, 1, 1000, "M", "Steps of a cycle of GMRES. Default: 30.");
  arguments.add_integer(
      "--peclet", peclet, 0, 1000000, "P",
      "Cell Peclet number of the problem star, the strength of its convection. Default: 10.");
  return arguments.run(argc, argv, [&] {
    options.peclet = static_cast<double>(peclet);
    options.when.restart = restart;
    const bool is_gmres = chosen == method::gmres;
    return run_program(options, is_gmres ? "GMRES" : "BiCGStab", [&](auto&&... of) {
      return is_gmres ? sptrsv::krylov::gmres(of...) : sptrsv::krylov::bicgstab(of...);
    });
  });
}
