#include "beans_images.h"
#include "beans_reflection.h"
#include <string.h>

// The types of all loaded images.

struct context_descriptor {
  uint32_t flags;
  int32_t parent;
  /// Of modules, types and protocols; an extension has the mangled name of the extended type here.
  int32_t name;
  /// Of types.
  int32_t access_function;
};

enum { kind_module, kind_extension, kind_anonymous, kind_protocol, kind_class = 16, kind_struct, kind_enum };

static unsigned kind(const struct context_descriptor *descriptor) { return descriptor->flags & 0x1F; }

enum beans_kind beans_descriptor_kind(const void *descriptor) {
  switch (kind(descriptor)) {
  case kind_class: return beans_class;
  case kind_struct: return beans_struct;
  case kind_enum: return beans_enum;
  case kind_protocol: return beans_protocol;
  default: return beans_other;
  }
}

const char *beans_descriptor_name(const void *descriptor) {
  const struct context_descriptor *context = descriptor;
  bool is_named = kind(context) == kind_module || kind(context) == kind_protocol || kind(context) >= kind_class;
  return is_named && context->name ? (const char *)&context->name + context->name : 0;
}

/// The type an extension extends; null where it is not simply the address of its descriptor.
static const void *extended_type(const struct context_descriptor *extension) {
  const char *name = extension->name ? (const char *)&extension->name + extension->name : 0;
  if (!name || (*name != 1 && *name != 2)) return 0;
  int32_t distance;
  memcpy(&distance, name + 1, sizeof distance);
  const char *target = name + 1 + distance;
  return *name == 1 ? (const void *)target : *(const void *const *)target;
}

const void *beans_descriptor_parent(const void *descriptor) {
  const struct context_descriptor *context = descriptor;
  for (;;) {
    const struct context_descriptor *parent = relative(&context->parent);
    if (!parent) return 0;
    if (kind(parent) == kind_extension) {
      const void *extended = extended_type(parent);
      if (extended) return extended;
    } else if (kind(parent) != kind_anonymous) {
      return parent;
    }
    // Private and local types stand in nameless contexts.
    context = parent;
  }
}

bool beans_descriptor_is_generic(const void *descriptor) {
  const struct context_descriptor *context = descriptor;
  for (; context; context = relative(&context->parent)) {
    if (context->flags & 0x80) return true;
  }
  return false;
}

const void *beans_descriptor_metadata(const void *descriptor) {
  const struct context_descriptor *type = descriptor;
  if (kind(type) < kind_class || !type->access_function) return 0;
  struct response {
    const void *metadata;
    size_t state;
  };
  // Asks for complete metadata. The two words come back in registers in both calling conventions.
  struct response (*access)(size_t) __attribute__((swiftcall)) =
      (const void *)((const char *)&type->access_function + type->access_function);
  return access(0).metadata;
}

struct search {
  const char *name;
  size_t length;
  bool (*found)(const void *, void *);
  void *context;
};

static bool is_wanted(const struct search *search, const void *descriptor) {
  if (!search->name) return true;
  const char *name = beans_descriptor_name(descriptor);
  return name && !strncmp(name, search->name, search->length) && !name[search->length];
}

/// One list of references to descriptors: the lowest bit asks to look up the address, of types the next one belongs to a
/// kind of reference that is not used here.
static bool search_range(const struct search *search, struct section_range range) {
  const int32_t *records = (const int32_t *)range.start;
  for (size_t index = 0; index < range.length / sizeof *records; index++) {
    int32_t record = records[index];
    if (!record || record & 2) continue;
    const void *descriptor = relative(records + index);
    if (descriptor && is_wanted(search, descriptor) && !search->found(descriptor, search->context)) return false;
  }
  return true;
}

static bool search_image(const void *image, void *context) {
  const struct image_sections *sections = image;
  return search_range(context, sections->types) && search_range(context, sections->protocols);
}

void beans_find_types(
    const char *name, size_t length, bool (*found)(const void *descriptor, void *context), void *context) {
  struct search search = {name, length, found, context};
  swift_enumerateAllMetadataSections(search_image, &search);
}
