#ifndef BEANS_REFLECTION_H
#define BEANS_REFLECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the Swift runtime knows of classes and their stored properties, and Swift has no spelling for.

/// How a stored property holds a reference.
enum beans_ownership { beans_strong, beans_weak, beans_unowned, beans_unmanaged };

/// One stored property of a class.
struct beans_field {
  /// As long as the process.
  const char *name;
  /// Metadata of the declared type (of `weak` ones, the optional); null where the runtime cannot say.
  const void *type;
  /// From the start of an instance, as it is laid out in this process.
  intptr_t offset;
  bool is_variable;
  enum beans_ownership ownership;
};

/// How many stored properties a class and its superclasses have together.
intptr_t beans_field_count(const void *class_metadata);

/// The stored property at `index`, counted from the outermost superclass's first; `local_index` counts from the class's
/// own first. The class is the one that declares the property.
struct beans_field beans_field(const void *class_metadata, intptr_t index, intptr_t local_index);

/// Whether the name of one of a class's own stored properties begins with an underscore.
bool beans_has_underscored_field(const void *class_metadata);

/// Whether values of a type must not be copied.
bool beans_is_noncopyable(const void *metadata);

/// Loads a `weak` reference, retained, or null.
void *beans_weak_load(void *reference);
/// Stores a `weak` reference.
void beans_weak_store(void *reference, void *object);

/// What a named type or protocol is.
enum beans_kind { beans_class, beans_struct, beans_enum, beans_protocol, beans_other };

/// Calls `found` with every type or protocol in the loaded images whose own name, without module and enclosing types, has
/// `length` bytes and is `name`; with all of them where `name` is null. Until it answers false.
void beans_find_types(
    const char *name, size_t length, bool (*found)(const void *descriptor, void *context), void *context);

enum beans_kind beans_descriptor_kind(const void *descriptor);
/// As long as the process; null for what has none.
const char *beans_descriptor_name(const void *descriptor);
/// The type, or the module, that a descriptor's type was declared in; null behind a module.
const void *beans_descriptor_parent(const void *descriptor);
/// Whether the type, or one around it, has generic parameters.
bool beans_descriptor_is_generic(const void *descriptor);
/// The metadata of a type that is not generic.
const void *beans_descriptor_metadata(const void *descriptor);

#endif
