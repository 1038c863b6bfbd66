#include "tools/app/matrix_outputs.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/progress.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/block_cyclic_files.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::cli {
namespace {

template <class T, class Place>
std::string first_not_finite(const std::string& name, const HostMatrix<T>& matrix, const Place& place) {
  for (index_t j = 0; j < matrix.cols() && matrix.rows() > 0; ++j) {
    const T* const column = &matrix(0, j);
    const T* const found = std::find_if(column, column + matrix.rows(), [](T x) { return !is_finite(x); });
    if (found == column + matrix.rows()) continue;
    const auto [row, of_column] = place(found - column, j);
    return fmt::format("not finite: {} is {} in row {}, column {}", name,
                       std::isnan(largest_part(*found)) ? "NaN" : "infinite", row + 1, of_column + 1);
  }
  return {};
}

/// Returns whether one column is written as a vector. A 1 x 1 matrix is square, and no matrix of one column.
bool vectors_wanted(OneColumn form) {
  bool vector = form == OneColumn::vector;
  for (const std::string& path : given_inputs()) try {
      const MatrixFileInfo file = probe_matrix(path);
      vector = vector || file.vector;
      if (file.format == MatrixFileFormat::npy && !file.vector && file.shape.cols == 1 && file.shape.rows > 1)
        return false;
    } catch (const FileError&) {
      continue;  // no matrix, such as a table with names
    }
  return vector;
}

bool is_npy(const std::string& path) { return format_of_name(path) == MatrixFileFormat::npy; }

template <class T>
std::string contents_of(const std::string& path, Shape shape, OneColumn form) {
  if (path.empty()) return {};
  const std::string type =
      is_npy(path) ? fmt::format("{}{}", is_complex<T> ? "complex" : "float", 8 * sizeof(T)) : "text";
  if (shape.cols == 1 && is_npy(path) && vectors_wanted(form)) return fmt::format("vector of {}, {}", shape.rows, type);
  return fmt::format("{}, {}", to_string(shape), type);
}

}  // namespace

template <class T>
std::string not_finite(const std::string& name, const HostMatrix<T>& matrix) {
  return first_not_finite(name, matrix, [](index_t i, index_t j) { return std::pair(i, j); });
}

template <class T>
MatrixOutput::MatrixOutput(const char* name, const std::string& path, const HostMatrix<T>& matrix, OneColumn form)
    : path_(path),
      contents_(contents_of<T>(path, matrix.shape(), form)),
      problem_([name, &matrix] { return not_finite(name, matrix); }),
      write_([path, &matrix, vector = contents_.starts_with("vector")] {
        vector ? write_vector(path, matrix.data(), matrix.rows()) : write_matrix(path, matrix);
      }),
      show_([name, &matrix](Report& report) {
        if (matrix.size() > 0) report.answer(name, matrix);
      }) {}

std::string write_finite(std::initializer_list<MatrixOutput> outputs) {
  std::vector<const MatrixOutput*> wanted;
  for (const MatrixOutput& output : outputs)
    if (!output.path().empty()) wanted.push_back(&output);
  for (const MatrixOutput* const output : wanted)
    if (std::string problem = output->problem(); !problem.empty()) return problem;
  show_progress(Stage::writing);
  for (const MatrixOutput* const output : wanted) output->write();
  return {};
}

void write_matrices(Report& report, std::initializer_list<MatrixOutput> outputs) {
  if (!report.good()) return;
  if (const std::string problem = write_finite(outputs); !problem.empty()) return report.fail(problem);
  for (const MatrixOutput& output : outputs) {
    if (!output.path().empty() || (&output == outputs.begin() && !report.has_answer())) output.show(report);
    if (!output.path().empty()) report.wrote(output.path(), output.contents());
  }
}

template <class T>
void write_matrix_parts(Report& report, const Runtime& runtime, const char* name, const std::string& path,
                        const HostMatrix<T>& local, const BlockCyclic& part) {
  if (path.empty()) return;
  const auto place = [&](index_t i, index_t j) { return std::pair(part.rows.global(i), part.columns.global(j)); };
  for (const std::string& problem : gather_over_ranks(runtime, first_not_finite(name, local, place)))
    if (!problem.empty()) return report.fail(problem);
  write_parts(runtime, path, local, part);
  report.wrote(path, fmt::format("{}, {}", to_string(part.whole()), is_npy(path) ? "npy" : "text"));
}

TESELA_FUNCTIONS_FOR_NUMBERS(not_finite, write_matrix_parts)
#define TESELA_INSTANTIATE(T) \
  template MatrixOutput::MatrixOutput(const char*, const std::string&, const HostMatrix<T>&, OneColumn);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::cli
