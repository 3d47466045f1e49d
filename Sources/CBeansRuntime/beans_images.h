#ifndef BEANS_IMAGES_H
#define BEANS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the loaded images hold for the Swift runtime, as it has them registered. The layouts are those of the runtime's
// stable interface: see `SwiftShims/MetadataSections.h` and "Type Metadata" in the Swift project's ABI documents.

struct section_range {
  uintptr_t start;
  size_t length;
};

struct image_sections {
  uintptr_t version;
  const void *base_address, *unused0, *unused1;
  struct section_range protocols, conformances, types;
};

/// Images are only ever added, so their number tells whether there are new ones.
extern void swift_enumerateAllMetadataSections(bool (*body)(const void *sections, void *context), void *context);

/// A reference that is stored as its distance from itself; its lowest bit asks to look up the address there.
static inline const void *relative(const int32_t *reference) {
  if (!*reference) return 0;
  const char *target = (const char *)reference + (*reference & ~1);
  return *reference & 1 ? *(const void *const *)target : target;
}

#endif
