// Solves a symmetric positive definite system by preconditioned conjugate gradients, and prints iterations
// and times. `pcg --help` lists the options.
#include "krylov/program.hpp"

int main(int argc, char** argv) {
  using namespace sptrsv_examples;
  common::command_line arguments(
      "pcg",
      "Solves a symmetric positive definite system by the preconditioned conjugate "
      "gradient method.");
  krylov_options options;
  add_krylov_options(arguments, options, {{"ic0", preconditioning::ic0}, {"ilu0", preconditioning::ilu0}});
  return arguments.run(argc, argv, [&] {
    return run_program(options, "conjugate gradients",
                       [](auto&&... of) { return sptrsv::krylov::conjugate_gradients(of...); });
  });
}
