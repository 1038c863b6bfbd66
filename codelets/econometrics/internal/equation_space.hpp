#pragma once

#include <tesela/codelets/econometrics/equation_qr.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>

namespace tesela::kernels::equation {

/// Parts of the work space of EquationQr and EquationBasis on a GPU. Internal to codelets/.
struct Space {
  index_t width;  ///< of a panel
  Shape panel;    ///< its work space
  double *z, *t, *panels, *l, *y, *vectors;
  index_t elements = 0;

  Space(double* work, index_t rows, index_t r)
      : width(equation_panels(nullptr, r, 0, rows).columns), panel(qr_work(width, r + 1, rows, true)) {
    const auto take = [&](double*& part, index_t size) {
      part = work == nullptr ? nullptr : work + elements;
      elements += ceil_div(size, index_t{32}) * 32;
    };
    take(z, rows * (r + 1));
    take(t, width * r);
    take(panels, panel.rows * panel.cols);
    take(l, r * r);
    take(y, r * r);
    take(vectors, 3 * r);
  }
};

}  // namespace tesela::kernels::equation
