#include "tools/commands/least_squares/ols_method.hpp"

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <algorithm>

namespace tesela::cli {

void settle_automatic(QrMethod& method) {
  const QrMethod automatic;
  const bool of_tiles = !method.tree.empty() || method.ib != automatic.ib || method.kernels != automatic.kernels ||
                        method.copy_vectors != automatic.copy_vectors;
  if (method.name == "auto" && of_tiles) method.name = "tiles";
}

void require_rcond(const char* command, double rcond) {
  if (!(rcond >= 0 && rcond < 1)) throw ArgumentError(command, "--rcond", "must be at least 0 and less than 1");
}

OlsOptions ols_options(const QrMethod& method, double rcond, Shape a, index_t r) {
  OlsOptions options;
  options.rcond = rcond;
  if (givens_method(method.name)) {
    options.method = OlsMethod::givens;
    options.givens = givens_options(method);
  } else if (!method.library()) {
    options.method = *find_named(ols_methods(), method.name);
  }
  if (options.method == OlsMethod::automatic) options.method = suitable_ols_method(a.rows, a.cols, r);
  if (options.method == OlsMethod::tiles) options.qr = qr_options(method);
  return options;
}

std::string method_name(const QrMethod& method, const OlsOptions& options) {
  return options.method == OlsMethod::givens ? method.name : std::string(name_of(ols_methods(), options.method));
}

double ols_flops(Shape a, index_t r) {
  return qr_flops(std::max(a.rows, a.cols), std::min(a.rows, a.cols)) +
         4 * static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(r);
}

void note_least_norm(bool unique, bool original_units, Report& report) {
  if (!report.good() || unique) return;
  report.problem()["least_norm_of"] = original_units ? "unknowns" : "unknowns times column norms";
  report.note(
      original_units
          ? "x is not unique: of all solutions it has the least ||x||"
          : "x is not unique: of all solutions it has the least ||D x||, D the norms of A's columns, which differ "
            "too much for ||x||");
}

bool can_stream(const QrMethod& method, const std::string& file, Shape a, index_t r) {
  const bool tall_skinny = method.name == "tall-skinny" ||
                           (method.name == "auto" && suitable_ols_method(a.rows, a.cols, r) == OlsMethod::tall_skinny);
  return tall_skinny && probe_matrix(file).format == MatrixFileFormat::npy && a.rows > 0 && a.cols > 0;
}

}  // namespace tesela::cli
