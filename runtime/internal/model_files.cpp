#include <tesela/runtime/internal/model_files.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <limits>
#include <sstream>
#include <unistd.h>

namespace tesela::detail {
namespace {

constexpr unsigned long known_version = 45;
constexpr unsigned long numbers_of_device = 3, numbers_of_regressions = 12;

/// The numbers of a model's text, one after another; lines that begin with # say what they are.
class ModelNumbers {
 public:
  explicit ModelNumbers(const std::string& text) : in_(text) {}

  bool ended() const { return !in_; }
  /// Words that are no number count as 0, so that nothing is expected after what we do not know.
  unsigned long next() {
    std::string word;
    while (in_ >> word && word.front() == '#') skip_line();
    return std::strtoul(word.c_str(), nullptr, 10);
  }
  void skip(unsigned long numbers) {
    for (; numbers > 0 && !ended(); --numbers) next();
  }
  /// Entries are lines: how many numbers they have depends on the release.
  void skip_entry() {
    while ((in_ >> std::ws).peek() == '#') skip_line();
    skip_line();
  }

 private:
  void skip_line() { in_.ignore(std::numeric_limits<std::streamsize>::max(), '\n'); }

  std::istringstream in_;
};

std::string contents(int file) {
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = pread(file, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

bool is_cut_off(const std::string& model) {
  if (model.empty() || model.back() != '\n') return !model.empty();
  ModelNumbers numbers(model);
  if (numbers.next() != known_version) return numbers.ended();
  for (unsigned long kinds = numbers.next(); kinds > 0 && !numbers.ended(); --kinds) {
    for (unsigned long devices = numbers.next(); devices > 0 && !numbers.ended(); --devices)
      numbers.skip(numbers_of_device);
    for (unsigned long variants = numbers.next(); variants > 0 && !numbers.ended(); --variants) {
      unsigned long entries = numbers.next();
      numbers.skip(numbers_of_regressions);
      numbers.skip(numbers.next());  // coefficients
      for (; entries > 0 && !numbers.ended(); --entries) numbers.skip_entry();
    }
  }
  return numbers.ended();
}

void remove_if_cut_off(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  struct flock whole {};  // as StarPU locks what it writes
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (is_cut_off(contents(file)) && fcntl(file, F_SETLK, &whole) == 0 && is_cut_off(contents(file)))
    unlink(path.c_str());
  close(file);
}

}  // namespace tesela::detail
