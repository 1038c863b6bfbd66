#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/block_cyclic_files.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_market.hpp>
#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/io/plain_text.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <vector>

namespace tesela {
namespace {

/// Approximate size of the pieces in which text and entries are sent between ranks.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// Calls f on each rank, and throws on all ranks the error of the first that failed.
template <class F>
void together(const Runtime& runtime, const std::string& path, const F& f) {
  std::string met;
  try {
    f();
  } catch (const EnvironmentError& error) {
    met = std::string("E") + error.what();
  } catch (const Error& error) {
    met = std::string("F") + error.what();
  } catch (const std::bad_alloc&) {
    met = "E" + path + ": not enough memory";
  }
  const std::vector<std::string> all = gather_over_ranks(runtime, met);
  const auto first = std::find_if(all.begin(), all.end(), [](const std::string& one) { return !one.empty(); });
  if (first == all.end()) return;
  std::string words = first->substr(1);
  if (std::find(all.begin(), all.end(), "") != all.end())
    words += " (rank " + std::to_string(first - all.begin()) + ")";
  if (first->front() == 'E') throw EnvironmentError(words);
  if (words.starts_with(path + ": ")) words.erase(0, path.size() + 2);
  throw FileError(path, words);
}

/// Calls f(local row, row of the whole, count) for each block of rows, or part of a block, on this rank.
template <class F>
void for_each_run(const CyclicPart& rows, const F& f) {
  const index_t count = rows.count();
  for (index_t l = 0, run = 0; l < count; l += run) {
    run = std::min(rows.block, count - l);
    f(l, rows.global(l), run);
  }
}

std::vector<index_t> columns_here(const BlockCyclic& part) {
  std::vector<index_t> columns(static_cast<std::size_t>(part.columns.count()));
  for (std::size_t l = 0; l < columns.size(); ++l) columns[l] = part.columns.global(static_cast<index_t>(l));
  return columns;
}

void require_shape(const std::string& path, Shape shape, const BlockCyclic& part) {
  if (shape != part.whole()) throw FileError(path, "is " + to_string(shape) + ", and not " + to_string(part.whole()));
}

template <class T>
void read_npy(std::span<const char> bytes, const std::string& path, const BlockCyclic& part, HostMatrix<T>& local) {
  const npy::Header header = npy::parse_header(bytes, path, is_complex<T>);
  const std::vector<index_t> columns = columns_here(part);
  if (columns.empty()) return;
  for_each_run(part.rows, [&](index_t l, index_t row, index_t count) {
    npy::read_rows(bytes, header, path, row, Block<T>{local.data() + l, count, local.cols(), local.ld()}, columns);
  });
}

/// Parses the whole text on each rank.
template <class T>
void read_text(std::span<const char> bytes, const std::string& path, const BlockCyclic& part, HostMatrix<T>& local) {
  const HostMatrix<T> whole = plain_text::read<T>(bytes, path, physical_memory());
  const std::vector<index_t> columns = columns_here(part);
  for (index_t j = 0; j < local.cols(); ++j)
    for_each_run(part.rows, [&](index_t l, index_t row, index_t count) {
      std::copy_n(&whole(row, columns[static_cast<std::size_t>(j)]), count, &local(l, j));
    });
}

template <class T>
struct Entry {
  index_t i, j;
  T value;
};

/// Rank 0 parses and sends the entries to the others. The last piece begins with a dot.
template <class T>
void hand_out(const Runtime& runtime, std::span<const char> bytes, const std::string& path, bool summed,
              const BlockCyclic& part, HostMatrix<T>& local) {
  bool finite = true;
  const auto take = [&](const std::string& piece) {
    for (std::size_t at = 1; at < piece.size(); at += sizeof(Entry<T>)) {
      Entry<T> entry;
      std::memcpy(&entry, piece.data() + at, sizeof entry);
      if (!part.rows.here(entry.i) || !part.columns.here(entry.j)) continue;
      T& element = local(part.rows.before(entry.i), part.columns.before(entry.j));
      element = summed ? element + entry.value : entry.value;
      finite &= is_finite(element);
    }
  };
  std::string failure;
  if (runtime.rank() == 0) {
    std::string piece(1, ',');
    try {
      matrix_market::for_each_entry<T>(bytes, path, [&](index_t i, index_t j, T value) {
        const Entry<T> entry{i, j, value};
        piece.append(reinterpret_cast<const char*>(&entry), sizeof entry);
        if (piece.size() < piece_bytes) return;
        take(gather_over_ranks(runtime, piece).front());
        piece.resize(1);
      });
    } catch (const FileError& error) {
      failure = error.what();
    }
    piece.front() = '.';
    take(gather_over_ranks(runtime, piece).front());
  } else {
    for (bool last = false; !last;) {
      const std::string piece = std::move(gather_over_ranks(runtime, "").front());
      take(piece);
      last = piece.front() == '.';
    }
  }
  together(runtime, path, [&] {
    if (!failure.empty()) throw FileError(path, failure.substr(path.size() + 2));
    if (!finite) throw FileError(path, "the sum of the values given for a place is not finite");
  });
}

template <class T>
void require_finite(const HostMatrix<T>& local, const BlockCyclic& part) {
  for (index_t j = 0; j < local.cols(); ++j)
    for (index_t i = 0; i < local.rows(); ++i)
      if (!is_finite(local(i, j)))
        throw ArgumentError("write_parts", "local",
                            "the value at [" + std::to_string(part.rows.global(i)) + ", " +
                                std::to_string(part.columns.global(j)) + "] (from zero) is not finite");
}

/// Returns columns first … first + count - 1 of the whole matrix, on all ranks.
template <class T>
HostMatrix<T> gather_columns(const Runtime& runtime, const HostMatrix<T>& local, const BlockCyclic& part, index_t first,
                             index_t count) {
  std::string mine;
  const index_t begin = part.columns.before(first), end = part.columns.before(first + count);
  if (local.rows() > 0)
    mine.assign(reinterpret_cast<const char*>(local.data() + begin * local.ld()),
                static_cast<std::size_t>((end - begin) * local.rows()) * sizeof(T));
  const std::vector<std::string> all = gather_over_ranks(runtime, mine);
  HostMatrix<T> columns(part.rows.size, count);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    BlockCyclic its = part;
    its.rows.part = static_cast<int>(rank) / part.columns.parts;
    its.columns.part = static_cast<int>(rank) % part.columns.parts;
    const char* values = all[rank].data();
    for (index_t l = its.columns.before(first); l < its.columns.before(first + count); ++l)
      for_each_run(its.rows, [&](index_t, index_t row, index_t rows) {
        const auto bytes = static_cast<std::size_t>(rows) * sizeof(T);
        std::memcpy(&columns(row, its.columns.global(l) - first), values, bytes);
        values += bytes;
      });
  }
  return columns;
}

template <class T>
void write_by_all(const std::string& path, const std::string& temporary, const HostMatrix<T>& local,
                  const BlockCyclic& part) {
  const std::size_t begin = npy::header_text<T>(part.whole()).size();
  TemporaryPart file(path, temporary);
  for (index_t j = 0; j < local.cols(); ++j)
    for_each_run(part.rows, [&](index_t l, index_t row, index_t count) {
      const index_t place = row + part.columns.global(j) * part.rows.size;
      file.write(begin + static_cast<std::size_t>(place) * sizeof(T), &local(l, j),
                 static_cast<std::size_t>(count) * sizeof(T));
    });
  file.close();
}

}  // namespace

template <class T>
HostMatrix<T> read_part(const Runtime& runtime, const std::string& path, const BlockCyclic& part) {
  if (part.all_here()) {
    HostMatrix<T> whole = read_matrix<T>(path);
    require_shape(path, whole.shape(), part);
    return whole;
  }
  std::optional<MappedFile> file;
  MatrixFileInfo info;
  HostMatrix<T> local;
  const auto open = [&] {
    file.emplace(path);
    info = probe_matrix_bytes(file->bytes(), path);
    require_shape(path, info.shape, part);
    local = HostMatrix<T>::zeros(part.local().rows, part.local().cols);
  };
  together(runtime, path, open);
  const auto formats = gather_over_ranks(runtime, std::to_string(static_cast<int>(info.format)));
  if (std::adjacent_find(formats.begin(), formats.end(), std::not_equal_to<>()) != formats.end())
    throw FileError(path, "is another file on each of the ranks");
  if (info.format == MatrixFileFormat::npy)
    together(runtime, path, [&] { read_npy(file->bytes(), path, part, local); });
  else if (info.format == MatrixFileFormat::plain_text)
    together(runtime, path, [&] { read_text(file->bytes(), path, part, local); });
  else
    hand_out(runtime, file->bytes(), path, info.format == MatrixFileFormat::matrix_market_coordinate, part, local);
  return local;
}

template <class T>
void write_parts(const Runtime& runtime, const std::string& path, const HostMatrix<T>& local, const BlockCyclic& part) {
  if (part.all_here()) return write_matrix(path, local);
  const MatrixFileFormat format = format_of_name(path);
  const bool npy = format == MatrixFileFormat::npy, text = format == MatrixFileFormat::plain_text;
  std::optional<AtomicFile> file;
  together(runtime, path, [&] {
    if (is_complex<T> && text) throw FileError(path, "plain text holds real numbers only; use .npy or .mtx");
    require_finite(local, part);
    if (runtime.rank() != 0) return;
    file.emplace(path);
    if (npy)
      file->write(npy::header_text<T>(part.whole()));
    else if (!text)
      matrix_market::write_header(*file, part.whole(), is_complex<T>);
  });
  const std::string temporary = gather_over_ranks(runtime, file ? file->temporary() : "").front();
  if (npy && !temporary.empty()) {
    together(runtime, path, [&] { write_by_all(path, temporary, local, part); });
  } else if (part.rows.size > 0) {
    const auto column_bytes = static_cast<std::size_t>(part.rows.size) * sizeof(T);
    const auto most = static_cast<index_t>(std::max<std::size_t>(1, piece_bytes / column_bytes));
    const index_t width = text ? std::max<index_t>(part.columns.size, 1) : most;  // rows of text need all columns
    for (index_t first = 0; first < part.columns.size; first += width) {
      const index_t count = std::min(width, part.columns.size - first);
      const auto columns = gather_columns(runtime, local, part, first, count);
      together(runtime, path, [&] {
        if (!file) return;
        if (npy)
          file->write(columns.data(), column_bytes * static_cast<std::size_t>(count));
        else if (text)
          plain_text::write(*file, columns.data(), columns.shape(), columns.ld(), separator_of_name(path));
        else
          matrix_market::write_columns(*file, columns.data(), columns.shape(), columns.ld());
      });
    }
  }
  together(runtime, path, [&] {
    if (file) file->commit();
  });
}

TESELA_FUNCTIONS_FOR_NUMBERS(read_part, write_parts)

}  // namespace tesela
