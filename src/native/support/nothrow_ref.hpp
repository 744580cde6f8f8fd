// A reference to a callable that is known not to throw: what other threads may be handed. An exception in one of them
// would leave the others with work on a stack that is gone.
#pragma once

#include <type_traits>

namespace gatewise {

template <typename Signature>
class NothrowRef;

// Borrows the callable, which must outlive the calls. What a call needs is allocated before: allocation throws.
template <typename... Arguments>
class NothrowRef<void(Arguments...)> {
 public:
  template <typename Callable>
    requires std::is_nothrow_invocable_v<const Callable&, Arguments...>
  NothrowRef(const Callable& callable) noexcept  // NOLINT: converts, as arguments do
      : callable_(&callable), call_([](const void* object, Arguments... arguments) noexcept {
          (*static_cast<const Callable*>(object))(arguments...);
        }) {}

  void operator()(Arguments... arguments) const noexcept { call_(callable_, arguments...); }

 private:
  const void* callable_;
  void (*call_)(const void*, Arguments...) noexcept;
};

}  // namespace gatewise
