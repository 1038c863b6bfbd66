#pragma once

#include "tests/support/shared_runtime.hpp"

#include <complex>

// FOUR_TYPES_TEST_CASE(name, tags) { … } is a WORKERS_TEMPLATE_TEST_CASE for float, double and their std::complex;
// NUMBERS_TEST_CASE runs for the complex types on cores only.

#define FOUR_TYPES_TEST_CASE(name, tags) \
  WORKERS_TEMPLATE_TEST_CASE(name, tags, float, double, std::complex<float>, std::complex<double>)

#define NUMBERS_TEST_CASE(...) TESELA_TEMPLATE(TESELA_NUMBERS, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define TESELA_NUMBERS(body, name, tags)                                                      \
  TESELA_ON_CORES_T(body, name, "", float, double, std::complex<float>, std::complex<double>) \
  TESELA_ON_GPUS_T(body, name " on a GPU", tags, float, double)
