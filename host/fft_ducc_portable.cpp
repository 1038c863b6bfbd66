#define DUCC0_NO_LOWLEVEL_THREADING
#define DUCC0_NAMESPACE tesela_ducc_portable
#define TESELA_FFT_ISA portable
#include <tesela/host/internal/fft_ducc_body.hpp>
