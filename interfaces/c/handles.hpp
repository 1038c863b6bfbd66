#pragma once

#include "interfaces/c/call.hpp"

#include <memory>
#include <string>

namespace tesela::c {

/// The object behind a C handle.
struct Object {
  Object() = default;
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual std::string what() const = 0;  ///< "a matrix in double precision"
};

/// Returns a number for the object that is never reused, so that a freed handle is recognized.
void* enlist(std::shared_ptr<Object> object);
/// Returns the object; null if the number has none.
std::shared_ptr<Object> find_object(const void* handle);
/// Removes the object, which ends when the last call that uses it returns. Returns false if the number has none.
bool forget(const void* handle);
void free_all_handles();

/// Returns the object behind a parameter that must be an `O`. Throws WrongArgument for null, for a freed or invalid
/// handle, and for an object of another type.
template <class O>
std::shared_ptr<O> object(const char* parameter, const void* handle) {
  if (handle == nullptr) throw WrongArgument(parameter, "null");
  const std::shared_ptr<Object> found = find_object(handle);
  if (found == nullptr) throw WrongArgument(parameter, "is not a handle: it was freed or never made");
  auto wanted = std::dynamic_pointer_cast<O>(found);
  if (wanted == nullptr) throw WrongArgument(parameter, "is " + found->what() + ", not " + O::kind());
  return wanted;
}

/// Sets the parameter for a new handle to null. Throws WrongArgument if its address is null.
template <class H>
void require_output_pointer(const char* parameter, H** place) {
  if (place == nullptr) throw WrongArgument(parameter, "null");
  *place = nullptr;
}
template <class H>
void hand_out(H** place, std::shared_ptr<Object> object) {
  *place = static_cast<H*>(enlist(std::move(object)));
}

}  // namespace tesela::c
