#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tesela {
namespace detail {

/// A string of this thread, one for each Tag. The main thread destroys its thread-local strings before the exit
/// handlers run; since these may throw and catch too, they get another string.
template <class Tag>
std::string& words_of_thread() {
  thread_local std::string* words = nullptr;
  struct End {
    ~End() { delete std::exchange(words, nullptr); }
  };
  [[maybe_unused]] thread_local End end;
  if (words == nullptr) words = new std::string;
  return *words;  // the string belongs to the thread
}

/// Message of this thread's last exception; a rank that ends without the others prints it.
inline std::string& last_error() { return words_of_thread<struct LastError>(); }
/// Exit code of that exception.
inline thread_local int last_error_code = 3;

}  // namespace detail

/// Base of all exceptions of Tesela. Numerical failures are not thrown: they are a Status in the result.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what) : Error(what, 2) {}

 protected:
  Error(const std::string& what, int exit_code) : std::runtime_error(what) {
    detail::last_error() = what;
    detail::last_error_code = exit_code;
  }
};

/// A wrong argument. The message names the routine, the argument and its value.
class ArgumentError : public Error {
 public:
  ArgumentError(const std::string& routine, const std::string& argument, const std::string& problem)
      : Error(routine + ": " + argument + ": " + problem) {}
};

/// An object used outside its lifetime or order, such as a second Runtime or a Graph that outlived its Runtime.
class LifetimeError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or whose contents violate its format.
class FileError : public Error {
 public:
  FileError(const std::string& path, const std::string& problem) : Error(path + ": " + problem) {}
};

/// The machine cannot do the work: no worker can run a codelet, StarPU cannot start, memory or disk is exhausted, or a
/// device failed. The message names what is missing and what to set.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& what) : Error(what, 3) {}
};

/// No worker of the runtime can run a variant of the kernel. The message names the kernel, its variants and the
/// available workers.
class NoWorkerError : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// The run was cancelled (by Runtime::cancel, or by Ctrl-C in the command): results are incomplete.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled", 130) {}
};

}  // namespace tesela
