#include "beans_reflection.h"

// Exported by the Swift runtime, whose own headers are not installed with the toolchain. The standard library's mirrors
// and `_forEachField` are built on the first three.
struct field_reflection {
  const char *name;
  void (*free_name)(const char *);
  bool is_strong;
  bool is_variable;
};
extern __attribute__((swiftcall)) intptr_t swift_reflectionMirror_recursiveCount(const void *type);
extern __attribute__((swiftcall)) const void *swift_reflectionMirror_recursiveChildMetadata(
    const void *type, intptr_t index, struct field_reflection *field);
extern __attribute__((swiftcall)) intptr_t swift_reflectionMirror_recursiveChildOffset(const void *type, intptr_t index);
extern const void *swift_getTypeContextDescriptor(const void *type);
extern void *swift_weakLoadStrong(void *reference);
extern void *swift_weakAssign(void *reference, void *object);

/// A reference that is stored as its distance from itself.
static const void *relative(const int32_t *reference) {
  return *reference ? (const char *)reference + *reference : 0;
}

struct type_descriptor {
  uint32_t flags;
  int32_t parent, name, access_function, fields;
};

struct field_record {
  uint32_t flags;
  int32_t type_name, name;
};

struct field_descriptor {
  int32_t type_name, superclass;
  uint16_t kind, record_size;
  uint32_t count;
};

/// The end of a mangled name, which holds binary references besides text.
static const char *end_of_name(const char *name) {
  for (;;) {
    unsigned char byte = (unsigned char)*name;
    if (!byte) return name;
    if (byte <= 0x17) name += 1 + sizeof(int32_t);
    else if (byte <= 0x1F) name += 1 + sizeof(void *);
    else name += 1;
  }
}

/// The mirror says only whether a property is strong; which of the others it is stands in the type's mangled name.
static enum beans_ownership ownership(const void *class_metadata, intptr_t local_index) {
  const struct type_descriptor *type = swift_getTypeContextDescriptor(class_metadata);
  const struct field_descriptor *fields = type ? relative(&type->fields) : 0;
  if (!fields || local_index < 0 || (uint64_t)local_index >= fields->count) return beans_unmanaged;
  const struct field_record *record =
      (const void *)((const char *)(fields + 1) + (size_t)local_index * fields->record_size);
  const char *name = relative(&record->type_name);
  const char *end = name ? end_of_name(name) : 0;
  if (!name || end - name < 2 || end[-2] != 'X') return beans_unmanaged;
  if (end[-1] == 'w') return beans_weak;
  return end[-1] == 'o' ? beans_unowned : beans_unmanaged;
}

bool beans_has_underscored_field(const void *class_metadata) {
  const struct type_descriptor *type = swift_getTypeContextDescriptor(class_metadata);
  const struct field_descriptor *fields = type ? relative(&type->fields) : 0;
  for (uint32_t index = 0; fields && index < fields->count; index++) {
    const struct field_record *record = (const void *)((const char *)(fields + 1) + (size_t)index * fields->record_size);
    const char *name = relative(&record->name);
    if (name && *name == '_') return true;
  }
  return false;
}

intptr_t beans_field_count(const void *class_metadata) {
  return swift_reflectionMirror_recursiveCount(class_metadata);
}

struct beans_field beans_field(const void *class_metadata, intptr_t index, intptr_t local_index) {
  struct field_reflection field = {0};
  struct beans_field result = {0};
  result.type = swift_reflectionMirror_recursiveChildMetadata(class_metadata, index, &field);
  result.offset = swift_reflectionMirror_recursiveChildOffset(class_metadata, index);
  // Names of classes' properties are constants; the runtime only ever allocates those of tuples' elements.
  result.name = field.name;
  result.is_variable = field.is_variable;
  result.ownership = field.is_strong ? beans_strong : ownership(class_metadata, local_index);
  return result;
}

bool beans_is_noncopyable(const void *metadata) {
  // The value witness table stands before the metadata: eight functions, size, stride, flags.
  const char *witnesses = ((const char *const *)metadata)[-1];
  uint32_t flags = *(const uint32_t *)(witnesses + 8 * sizeof(void *) + 2 * sizeof(size_t));
  return flags & 0x00800000;
}

void *beans_weak_load(void *reference) { return swift_weakLoadStrong(reference); }

void beans_weak_store(void *reference, void *object) { swift_weakAssign(reference, object); }
