#pragma once

#include <tesela/runtime/types.hpp>

struct CUstream_st;

namespace tesela::kernels {

/// What a panel of Householder vectors is made of.
enum class PanelForm : std::uint8_t {
  trapezoid,  ///< A itself: vectors and R in one array (geqrt)
  square,     ///< an upper triangle R above a full B (tpqrt, TS)
  triangle,   ///< an upper triangle R above the upper triangle of B (tpqrt, TT)
};

/// At most panel_columns columns to be factored by one launch, all in place in device memory.
template <class T>
struct Panel {
  PanelForm form = PanelForm::trapezoid;
  index_t rows = 0, cols = 0;  ///< of a
  T* a = nullptr;              ///< trapezoid: R and V; otherwise B, which becomes V
  index_t lda = 0;
  T* r = nullptr;  ///< unless trapezoid: the panel's diagonal block of R
  index_t ldr = 0;
  index_t above = 0;  ///< triangle: B(i, j) counts for i <= above + j
  T* v = nullptr;     ///< the vectors once more, zeros and ones written out: as many rows as a
  index_t ldv = 0;
  T* t = nullptr;  ///< their block factor, cols x cols, zeros below its diagonal
  index_t ldt = 0;
};

inline constexpr index_t panel_columns = 32;

/// How many columns one launch takes for this many rows: fewer when they are many, because a panel lives in registers.
/// 0 when not even one fits.
template <class T>
index_t panel_width(index_t rows);

/// Bytes through which a panel's thread blocks talk to one another.
std::size_t panel_exchange_bytes();

/// Householder QR of a panel, as LAPACK's geqrt2 and tpqrt2 define R, V and T. `exchange` was set to zero once, and
/// `epoch` is 0 then; each call moves it on. Answers a cudaError_t.
template <class T>
int factor_panel(CUstream_st* stream, const Panel<T>& panel, void* exchange, unsigned& epoch);

}  // namespace tesela::kernels
