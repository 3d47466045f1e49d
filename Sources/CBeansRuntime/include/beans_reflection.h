#ifndef BEANS_REFLECTION_H
#define BEANS_REFLECTION_H

#include <stdbool.h>
#include <stddef.h>

// Functions of the Swift runtime on stored properties, for which the Swift language has no spelling.

/// `_FieldReflectionMetadata`, by which `swift_reflectionMirror_recursiveChildMetadata` describes a stored property.
struct beans_field {
  /// A constant of the program: the runtime only ever allocates the names of tuples' elements.
  const char *name;
  void (*free_name)(const char *);
  bool is_strong;
  bool is_variable;
};

#ifdef __APPLE__
// The object may be one of Objective-C.
#define BEANS_WEAK(operation) __asm__("_swift_unknownObjectWeak" operation)
#else
#define BEANS_WEAK(operation)
#endif

/// Loads a `weak` reference, retained, or null.
extern void *swift_weakLoadStrong(void *reference) BEANS_WEAK("LoadStrong");
/// Stores a `weak` reference.
extern void *swift_weakAssign(void *reference, void *object) BEANS_WEAK("Assign");

/// The metadata that a type's accessor makes: a function of Swift's own calling convention, to which Swift has no pointers.
static inline const void *beans_metadata(const void *accessor) {
  struct response {
    const void *metadata;
    size_t state;
  };
  // Asks for complete metadata.
  struct response (*access)(size_t) __attribute__((swiftcall)) = accessor;
  return access(0).metadata;
}

#endif
