// The program of poisson.cpp as nvcc compiles it.
#include "poisson.cpp"
