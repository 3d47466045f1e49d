#ifndef BEANS_CONFORMANCES_H
#define BEANS_CONFORMANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The sections of the loaded images that the Swift runtime has registered, and its exported functions on types.
// Toolchains do not install the headers of the runtime.

struct beans_section {
  uintptr_t start;
  /// In bytes.
  size_t length;
};

/// The start of `MetadataSections`, see `SwiftShims/MetadataSections.h` in the Swift project.
struct beans_sections {
  uintptr_t version;
  const void *base_address, *unused0, *unused1;
  struct beans_section protocols, conformances, types;
};

/// Calls `body` for every image, until it answers false. Images are only ever added.
#ifdef __APPLE__
// The runtime has no such function there. Without sections, `RuntimeLayout` reports that the layout is unknown, and casts decide.
static inline void swift_enumerateAllMetadataSections(
    bool (*body)(const struct beans_sections *sections, void *context), void *context) {
  (void)body;
  (void)context;
}
#else
extern void swift_enumerateAllMetadataSections(
    bool (*body)(const struct beans_sections *sections, void *context), void *context);
#endif

/// The witness table of a type for a protocol (metadata and descriptor), or null.
extern const void *swift_conformsToProtocol(const void *type, const void *protocol);

/// The descriptor of a type (metadata) that has a name; null for others.
extern const void *swift_getTypeContextDescriptor(const void *type);

/// `any P.Type` for `any P`.
extern const void *swift_getExistentialMetatypeMetadata(const void *type);

#endif
