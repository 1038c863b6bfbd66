#pragma once

#include "tests/support/shared_runtime.hpp"

#include <complex>

// The number types of algorithms, as in TEMPLATE_TEST_CASE(name, tags, FOUR_TYPES) { … }.
#define COMPLEX_TYPES std::complex<float>, std::complex<double>
#define FOUR_TYPES float, double, COMPLEX_TYPES

// NUMBERS_TEST_CASE(name, tags) { … } is a WORKERS_TEMPLATE_TEST_CASE that runs for the complex types on cores only.
#define NUMBERS_TEST_CASE(...) TESELA_TEMPLATE(TESELA_NUMBERS, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define TESELA_NUMBERS(body, name, tags)        \
  TESELA_ON_CORES_T(body, name, "", FOUR_TYPES) \
  TESELA_ON_GPUS_T(body, name " on a GPU", tags, float, double)
