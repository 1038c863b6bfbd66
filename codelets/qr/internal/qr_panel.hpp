#pragma once

#include <tesela/runtime/types.hpp>

struct CUstream_st;

namespace tesela::kernels {

/// Form of a panel of Householder vectors.
enum class PanelForm : std::uint8_t {
  trapezoid,  ///< A itself: vectors and R in one array (geqrt)
  square,     ///< an upper triangle R above a full B (tpqrt, TS)
  triangle,   ///< an upper triangle R above the upper triangle of B (tpqrt, TT)
};

/// At most panel_columns columns for one launch, all in place in device memory.
template <class T>
struct Panel {
  PanelForm form = PanelForm::trapezoid;
  index_t rows = 0, cols = 0;  ///< of a
  T* a = nullptr;              ///< trapezoid: R and V; otherwise B, which becomes V
  index_t lda = 0;
  T* r = nullptr;  ///< unless trapezoid: the panel's diagonal block of R
  index_t ldr = 0;
  index_t above = 0;  ///< triangle: B(i, j) takes part for i <= above + j
  T* v = nullptr;     ///< copy of the vectors with explicit zeros and ones; as many rows as a
  index_t ldv = 0;
  T* t = nullptr;  ///< their block factor, cols x cols, zeros below its diagonal
  index_t ldt = 0;
};

inline constexpr index_t panel_columns = 32;

/// Returns how many columns one launch accepts for this number of rows: fewer for many rows, because a panel is kept in
/// registers. 0 if not even one fits.
template <class T>
index_t panel_width(index_t rows);

/// Returns the bytes through which a panel's thread blocks communicate.
template <class T>
std::size_t panel_exchange_bytes();

/// Factors a panel by Householder reflectors, as LAPACK's geqrt2 and tpqrt2 define R, V and T. `exchange` must be zero
/// before the first call, with `epoch` 0; each call advances the epoch. Returns a cudaError_t.
template <class T>
int factor_panel(CUstream_st* stream, const Panel<T>& panel, void* exchange, unsigned& epoch);

}  // namespace tesela::kernels
