#ifndef BEANS_CONFORMANCES_H
#define BEANS_CONFORMANCES_H

#include <stdint.h>

// The Swift runtime looks at every conformance of the process for each type and protocol that it is asked about for the
// first time. This looks at them once, and again where images have been loaded since; then an answer costs a lock, and
// a probe for each protocol and superclass. From any thread. Conformances that are registered without an image, as
// debuggers do, are not seen.

/// One bit for each protocol.
struct beans_conformances {
  /// The type conforms.
  uint32_t certain;
  /// Only the runtime can say: of conformances with conditions, and of types that are imported from C or have no name.
  uint32_t possible;
};

/// Which of up to 32 protocols (descriptors) a type (metadata) conforms to.
struct beans_conformances beans_find_conformances(const void *type, const void *const *protocols, uint32_t count);

/// The witness table of a type for a protocol (metadata and descriptor), or null. Asks the runtime where it has to.
const void *beans_conformance(const void *type, const void *protocol);

#endif
