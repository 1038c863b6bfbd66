#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tesela {
namespace detail {

/// A string of this thread's, one for each Tag. The main thread's ends before the exit handlers, which may throw and
/// catch like everybody: they get another one.
template <class Tag>
std::string& words_of_thread() {
  thread_local std::string* words = nullptr;
  struct End {
    ~End() { delete std::exchange(words, nullptr); }
  };
  [[maybe_unused]] thread_local End end;
  if (words == nullptr) words = new std::string;
  return *words;  // NOLINT(clang-analyzer-cplusplus.NewDelete): End is the thread's, not this function's
}

/// What this thread threw last: what a rank has to say that ends without the others.
inline std::string& last_error() { return words_of_thread<struct LastError>(); }
/// The exit code that goes with it.
inline thread_local int last_error_code = 3;

}  // namespace detail

/// Base of everything Tesela throws. Numerical failures are not thrown: they are a Status in the result.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what) : Error(what, 2) {}

 protected:
  Error(const std::string& what, int exit_code) : std::runtime_error(what) {
    detail::last_error() = what;
    detail::last_error_code = exit_code;
  }
};

/// A wrong argument: names the routine, the argument and the value it had.
class ArgumentError : public Error {
 public:
  ArgumentError(const std::string& routine, const std::string& argument, const std::string& problem)
      : Error(routine + ": " + argument + ": " + problem) {}
};

/// An object used outside its lifetime or order: a second Runtime, a Graph that outlived its Runtime.
class LifetimeError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or whose contents are not what its format says.
class FileError : public Error {
 public:
  FileError(const std::string& path, const std::string& problem) : Error(path + ": " + problem) {}
};

/// The machine cannot do it: no worker can run a codelet, StarPU cannot start, memory or disk is exhausted, a device
/// failed. The message names what is missing and what to set.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& what) : Error(what, 3) {}
};

/// No worker of the runtime has a variant of the kernel it can run. The message names the kernel, its variants and the
/// workers there are.
class NoWorkerError : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// The run was cancelled (Runtime::cancel, or Ctrl-C in the command): results are incomplete.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled", 130) {}
};

}  // namespace tesela
