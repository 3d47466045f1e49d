#include "beans_conformances.h"
#include "beans_images.h"
#include <pthread.h>
#include <stdlib.h>

// Exported by the Swift runtime, whose own headers are not installed with the toolchain.
extern const void *swift_conformsToProtocol(const void *type, const void *protocol);
extern const void *swift_getTypeContextDescriptor(const void *type);

enum { kind_class = 0, kind_existential = 0x303 };

struct class_metadata {
  uintptr_t kind;
  const void *superclass;
};

struct existential_metadata {
  uintptr_t kind;
  uint32_t flags, protocol_count;
  /// Behind the superclass, where the flags say that there is one.
  const void *protocols[];
};

enum { has_superclass = 1 << 30 };

/// What one type declares, in whichever image; its subclasses inherit it.
struct conformance {
  int32_t protocol;
  /// What it refers to stands in the flags.
  int32_t type;
  int32_t witness_table;
  uint32_t flags;
};

enum {
  reference_kind = 7 << 3,
  reference_to_descriptor = 0 << 3,
  reference_to_pointer = 1 << 3,
  is_conditional = 0xFF << 8,
  has_generic_witness_table = 1 << 17,
  is_of_protocol = 1 << 18,
  is_isolated = 1 << 19,
};

static const void *protocol_of(const struct conformance *conformance) { return relative(&conformance->protocol); }

/// The descriptor; null for other kinds of types.
static const void *type_of(const struct conformance *conformance) {
  const char *target = (const char *)&conformance->type + conformance->type;
  if (conformance->flags & is_of_protocol) return 0;
  switch (conformance->flags & reference_kind) {
  case reference_to_descriptor: return target;
  case reference_to_pointer: return *(const void *const *)target;
  default: return 0;
  }
}

/// Null where the runtime has to make the witness table, or to look whether there is one.
static const void *witness_table_of(const struct conformance *conformance) {
  if (conformance->flags & (is_conditional | has_generic_witness_table | is_isolated)) return 0;
  return relative(&conformance->witness_table);
}

/// All conformances of some images, by the descriptors of type and protocol.
struct table {
  size_t images;
  size_t mask;
  /// Whether there are conformances of types that nobody here can tell.
  bool has_unknown_types;
  /// Addresses of conformances, 0 where there is none; odd where there are several: two modules may declare the same.
  uintptr_t places[];
};

static const struct conformance *conformance_in(uintptr_t place) { return (const void *)(place & ~(uintptr_t)1); }

/// Where the conformance is, or would be. There always are free places.
static uintptr_t *find(struct table *table, const void *type, const void *protocol) {
  uint64_t hash = ((uintptr_t)type * 0x9E3779B97F4A7C15 + (uintptr_t)protocol) * 0xD6E8FEB86659FD93;
  for (size_t index = hash >> 32;; index++) {
    uintptr_t *place = table->places + (index & table->mask);
    const struct conformance *found = conformance_in(*place);
    if (!found || (protocol_of(found) == protocol && type_of(found) == type)) return place;
  }
}

static void note(struct table *table, const struct conformance *conformance) {
  const void *protocol = protocol_of(conformance);
  // That of a library that is linked weakly and is missing.
  if (!protocol) return;
  const void *type = type_of(conformance);
  if (!type) table->has_unknown_types = true;
  uintptr_t *place = find(table, type, protocol);
  *place = *place ? *place | 1 : (uintptr_t)conformance;
}

struct count {
  size_t images, conformances;
};

static bool count_image(const void *image, void *context) {
  struct count *count = context;
  count->images++;
  count->conformances += ((const struct image_sections *)image)->conformances.length / sizeof(int32_t);
  return true;
}

static bool note_image(const void *image, void *context) {
  struct table *table = context;
  // There may be more images than have been counted, without places for them.
  if (!table->images) return false;
  table->images--;
  struct section_range range = ((const struct image_sections *)image)->conformances;
  const int32_t *records = (const int32_t *)range.start;
  for (size_t index = 0; index < range.length / sizeof *records; index++) {
    const struct conformance *conformance = relative(records + index);
    if (conformance) note(table, conformance);
  }
  return true;
}

/// Null where there is no memory.
static struct table *make_table(struct count count) {
  size_t places = 64;
  while (places < 2 * count.conformances) places *= 2;
  struct table *table = calloc(1, sizeof *table + places * sizeof *table->places);
  if (!table) return 0;
  table->mask = places - 1;
  table->images = count.images;
  swift_enumerateAllMetadataSections(note_image, table);
  table->images = count.images;
  return table;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/// Of all images that are loaded now. Under the lock.
static struct table *up_to_date_table(void) {
  static struct table *table = 0;
  struct count count = {0, 0};
  swift_enumerateAllMetadataSections(count_image, &count);
  if (!table || table->images != count.images) {
    free(table);
    table = make_table(count);
  }
  return table;
}

/// The descriptor that only this type has, or all instances of the same generic type; null where there is no such one:
/// tuples and functions have none, types that are imported from C may have several.
static const void *descriptor_of(const void *type) {
  const uint32_t *descriptor = swift_getTypeContextDescriptor(type);
  const struct existential_metadata *existential = type;
  if (existential->kind == kind_existential && existential->protocol_count == 1 &&
      !(existential->flags & has_superclass)) {
    // As `any Error`, which conforms to itself.
    descriptor = existential->protocols[0];
  }
  enum { is_unique = 0x40 };
  return descriptor && *descriptor & is_unique ? descriptor : 0;
}

/// Writes the witness table of the last one that is certain.
static struct beans_conformances find_all(
    struct table *table, const void *type, const void *const *protocols, uint32_t count, const void **witness_table) {
  struct beans_conformances found = {0, 0};
  uint32_t wanted = (uint32_t)((1ull << count) - 1);
  for (uint32_t index = 0; index < count; index++) {
    if (!table || (table->has_unknown_types && *find(table, 0, protocols[index]))) found.possible |= 1u << index;
  }
  wanted &= ~found.possible;
  while (type && wanted) {
    const void *descriptor = descriptor_of(type);
    if (!descriptor) {
      found.possible |= wanted;
      break;
    }
    for (uint32_t index = 0; index < count; index++) {
      uint32_t bit = wanted & 1u << index;
      uintptr_t place = bit ? *find(table, descriptor, protocols[index]) : 0;
      if (!place) continue;
      wanted &= ~bit;
      const void *witnesses = place & 1 ? 0 : witness_table_of(conformance_in(place));
      if (witnesses) {
        found.certain |= bit;
        *witness_table = witnesses;
      } else {
        found.possible |= bit;
      }
    }
    const struct class_metadata *metadata = type;
    type = metadata->kind == kind_class ? metadata->superclass : 0;
  }
  return found;
}

static struct beans_conformances find_locked(
    const void *type, const void *const *protocols, uint32_t count, const void **witness_table) {
  pthread_mutex_lock(&lock);
  struct beans_conformances found = find_all(up_to_date_table(), type, protocols, count, witness_table);
  pthread_mutex_unlock(&lock);
  return found;
}

struct beans_conformances beans_find_conformances(const void *type, const void *const *protocols, uint32_t count) {
  const void *witness_table;
  return find_locked(type, protocols, count, &witness_table);
}

const void *beans_conformance(const void *type, const void *protocol) {
  const void *witness_table = 0;
  struct beans_conformances found = find_locked(type, &protocol, 1, &witness_table);
  return found.possible ? swift_conformsToProtocol(type, protocol) : witness_table;
}
