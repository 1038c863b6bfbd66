#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tesela {

/// Kinds of errors, by whose mistake they are.
enum class ErrorKind : std::uint8_t {
  wrong_use,    ///< of the caller: arguments, files, order of calls
  environment,  ///< of the machine: workers, memory, devices, other ranks
  cancelled     ///< of nobody: the run was cancelled
};

namespace detail {

/// Returns a T of this thread, one per Tag. The exit handlers run after the main thread's destructors: they get a new
/// T.
template <class T, class Tag = T>
T& of_thread() {
  thread_local T* value = nullptr;
  struct End {
    ~End() { delete std::exchange(value, nullptr); }
  };
  [[maybe_unused]] thread_local End end;
  if (value == nullptr) value = new T;
  return *value;  // NOLINT(clang-analyzer-cplusplus.NewDelete): End is the thread's, not this function's
}

}  // namespace detail

/// Base of all exceptions of Tesela. Numerical failures are not thrown: they are a Status in the result.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what);
  ErrorKind kind() const noexcept { return kind_; }  ///< kind of the error

 protected:
  Error(const std::string& what, ErrorKind kind);

 private:
  ErrorKind kind_;
};

/// A wrong argument. The message names the routine, the argument and its value.
class ArgumentError : public Error {
 public:
  ArgumentError(std::string_view routine, std::string_view argument, std::string_view problem);
};

/// An object used outside its lifetime or order, such as a second Runtime or a Graph that outlived its Runtime.
class LifetimeError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or whose contents violate its format.
class FileError : public Error {
 public:
  FileError(std::string_view path, std::string_view problem);
};

/// The machine cannot do the work: no worker can run a codelet, StarPU cannot start, memory or disk is exhausted, or a
/// device failed. The message names what is missing and what to set.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& what);
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
  Cancelled();
};

}  // namespace tesela
