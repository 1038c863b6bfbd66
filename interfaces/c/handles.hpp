#pragma once

#include "interfaces/c/call.hpp"

#include <memory>
#include <string>

namespace tesela::c {

/// What a handle of C stands for.
struct Object {
  Object() = default;
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual std::string what() const = 0;  ///< "a matrix in double precision"
};

/// A number for it that no other object ever gets, so that one that was freed is not taken for another.
void* enlist(std::shared_ptr<Object> object);
/// The object; null where this number has none.
std::shared_ptr<Object> look_up(const void* handle);
/// Forgets it: it ends when the last call that uses it returns. False where this number has none.
bool forget(const void* handle);
void free_all_handles();

/// The object behind a parameter that must be an `O`. Throws WrongArgument for null, for what was freed or never made,
/// and for another kind.
template <class O>
std::shared_ptr<O> object(const char* parameter, const void* handle) {
  if (handle == nullptr) throw WrongArgument(parameter, "null");
  const std::shared_ptr<Object> found = look_up(handle);
  if (found == nullptr) throw WrongArgument(parameter, "is no handle: it was freed, or never made");
  auto wanted = std::dynamic_pointer_cast<O>(found);
  if (wanted == nullptr) throw WrongArgument(parameter, "is " + found->what() + ", not " + O::kind());
  return wanted;
}

/// Sets a parameter that takes a new handle. Throws WrongArgument where it is null.
template <class H>
void require_place(const char* parameter, H** place) {
  if (place == nullptr) throw WrongArgument(parameter, "null");
  *place = nullptr;
}
template <class H>
void hand_out(H** place, std::shared_ptr<Object> object) {
  *place = static_cast<H*>(enlist(std::move(object)));
}

}  // namespace tesela::c
