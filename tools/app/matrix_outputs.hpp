#pragma once

#include "tools/app/report.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <functional>
#include <initializer_list>
#include <string>

namespace tesela::cli {

/// Returns "not finite: NAME is infinite in row 3, column 1", or the same with NaN; empty if all elements are finite.
/// T: float, double and their std::complex.
template <class T>
std::string not_finite(const std::string& name, const HostMatrix<T>& matrix);

/// The form of one column in a .npy file.
enum class OneColumn : std::uint8_t {
  as_input,  ///< a vector, (n,), if a given input is one and no input is a NumPy matrix of one column
  vector,    ///< a vector, unless an input is a NumPy matrix of one column
};

/// A matrix that a command writes unless the path is empty. It must outlive this object. Messages use `name`.
class MatrixOutput {
 public:
  template <class T>
  MatrixOutput(const char* name, const std::string& path, const HostMatrix<T>& matrix,
               OneColumn form = OneColumn::as_input);

  const std::string& path() const { return path_; }
  std::string problem() const { return problem_(); }
  void write() const { write_(); }
  /// Adds it to the report as a result.
  void show(Report& report) const { show_(report); }
  /// Returns, for example, "4 x 1, float64".
  const std::string& contents() const { return contents_; }

 private:
  std::string path_, contents_;
  std::function<std::string()> problem_;
  std::function<void()> write_;
  std::function<void(Report&)> show_;
};

/// Writes all of the matrices, or none if an element is NaN or infinite; returns the message of not_finite(). One
/// column becomes a NumPy vector, (n,), if a given input is one and no input is a NumPy matrix of one column.
[[nodiscard]] std::string write_finite(std::initializer_list<MatrixOutput> outputs);

/// Writes the matrices of a good report with write_finite(), whose message fails the report. Every command uses it for
/// its matrices: a result that overflows is a numerical failure. The report shows the first matrix of the first call,
/// and each matrix that is written.
void write_matrices(Report& report, std::initializer_list<MatrixOutput> outputs);

/// Writes a matrix that is distributed over ranks, or fails the report if an element is not finite. All ranks must call
/// it.
template <class T>
void write_matrix_parts(Report& report, const Runtime& runtime, const char* name, const std::string& path,
                        const HostMatrix<T>& local, const BlockCyclic& part);

}  // namespace tesela::cli
