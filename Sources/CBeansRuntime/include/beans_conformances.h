#ifndef BEANS_CONFORMANCES_H
#define BEANS_CONFORMANCES_H

#include <stdint.h>

/// Which of up to 32 protocols (descriptors) a type (metadata) may conform to: one bit each. The others it does not
/// conform to; whether it does conform to these, only the Swift runtime can say.
///
/// The runtime says "no" once it has looked at every conformance of the process, for each type and protocol anew. This
/// looks at them once, and again where images have been loaded since; then it costs a lock, and a probe for each protocol
/// and superclass. From any thread.
uint32_t beans_possible_conformances(const void *type, const void *const *protocols, uint32_t count);

/// The witness table of a type for a protocol (metadata and descriptor), or null. Costs the same where that is null and
/// no conditions are involved.
const void *beans_conformance(const void *type, const void *protocol);

#endif
