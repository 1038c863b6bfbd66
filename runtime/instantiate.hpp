#pragma once

#include <complex>

// Expands a source's macro INSTANTIATE(T), which instantiates its templates, for each number type: the real ones, and
// those with their complex ones.
#define TESELA_FOR_REALS(INSTANTIATE) INSTANTIATE(float) INSTANTIATE(double)
#define TESELA_FOR_NUMBERS(INSTANTIATE) \
  TESELA_FOR_REALS(INSTANTIATE) INSTANTIATE(std::complex<float>) INSTANTIATE(std::complex<double>)
