#include "beans_conformances.h"
#include "beans_images.h"
#include <pthread.h>
#include <stdlib.h>

// Exported by the Swift runtime, whose own headers are not installed with the toolchain.
extern const void *swift_conformsToProtocol(const void *type, const void *protocol);
extern const void *swift_getTypeContextDescriptor(const void *type);

struct class_metadata {
  uintptr_t kind;
  const void *superclass;
};

enum { kind_class = 0 };

struct conformance {
  int32_t protocol;
  /// What it refers to stands in the flags.
  int32_t type;
  int32_t witness_table;
  uint32_t flags;
};

enum { reference_to_descriptor, reference_to_pointer, conformance_of_protocol = 1 << 18 };

/// Pairs of a type and a protocol (descriptors), as hashes: two that share one cost no more than a needless question.
struct pairs {
  /// How many images they are from.
  size_t images;
  /// Whether there are pairs without a type, for conformances of types that nobody here can tell.
  bool has_unknown_types;
  size_t mask;
  /// 0 where there is none.
  uint32_t hashes[];
};

static uint64_t hash(const void *type, const void *protocol) {
  uint64_t mixed = ((uintptr_t)type * 0x9E3779B97F4A7C15 + (uintptr_t)protocol) * 0xD6E8FEB86659FD93;
  return (mixed ^ mixed >> 32) | 1;
}

/// Where a pair is, or would be. There always are free places.
static uint32_t *find(struct pairs *pairs, const void *type, const void *protocol) {
  uint64_t wanted = hash(type, protocol);
  for (size_t place = wanted >> 32;; place++) {
    uint32_t *found = pairs->hashes + (place & pairs->mask);
    if (!*found || *found == (uint32_t)wanted) return found;
  }
}

static void insert(struct pairs *pairs, const void *type, const void *protocol) {
  *find(pairs, type, protocol) = (uint32_t)hash(type, protocol);
}

static void note(struct pairs *pairs, const struct conformance *conformance) {
  const void *protocol = relative(&conformance->protocol);
  // Those of a library that is linked weakly and is missing are null.
  if (!protocol || !conformance->type) return;
  const void *type = (const char *)&conformance->type + conformance->type;
  unsigned kind = conformance->flags >> 3 & 7;
  if (kind > reference_to_pointer || conformance->flags & conformance_of_protocol) {
    pairs->has_unknown_types = true;
    insert(pairs, 0, protocol);
    return;
  }
  if (kind == reference_to_pointer) type = *(const void *const *)type;
  if (type) insert(pairs, type, protocol);
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

static struct count count_images(void) {
  struct count count = {0, 0};
  swift_enumerateAllMetadataSections(count_image, &count);
  return count;
}

static bool note_image(const void *image, void *context) {
  struct pairs *pairs = context;
  // There may be more now, without places for them.
  if (!pairs->images) return false;
  pairs->images--;
  struct section_range range = ((const struct image_sections *)image)->conformances;
  const int32_t *records = (const int32_t *)range.start;
  for (size_t index = 0; index < range.length / sizeof *records; index++) {
    const struct conformance *conformance = relative(records + index);
    if (conformance) note(pairs, conformance);
  }
  return true;
}

/// Null where there is no memory.
static struct pairs *make_pairs(struct count count) {
  size_t places = 64;
  while (places < 2 * count.conformances) places *= 2;
  struct pairs *pairs = calloc(1, sizeof *pairs + places * sizeof *pairs->hashes);
  if (!pairs) return 0;
  pairs->mask = places - 1;
  pairs->images = count.images;
  swift_enumerateAllMetadataSections(note_image, pairs);
  pairs->images = count.images;
  return pairs;
}

static bool may_conform(struct pairs *pairs, const void *type, const void *protocol) {
  return *find(pairs, type, protocol);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// Of all images that were loaded when it was last looked at. Under the lock.
static struct pairs *known = 0;

static struct pairs *update(void) {
  struct count count = count_images();
  if (!known || known->images != count.images) {
    free(known);
    known = make_pairs(count);
  }
  return known;
}

uint32_t beans_possible_conformances(const void *type, const void *const *protocols, uint32_t count) {
  uint32_t all = (uint32_t)((1ull << count) - 1), possible = 0;
  pthread_mutex_lock(&lock);
  struct pairs *pairs = update();
  if (!pairs) possible = all;
  for (uint32_t index = 0; pairs && pairs->has_unknown_types && index < count; index++) {
    possible |= (uint32_t)may_conform(pairs, 0, protocols[index]) << index;
  }
  while (type && possible != all) {
    const uint32_t *descriptor = swift_getTypeContextDescriptor(type);
    // Tuples, functions and protocol types have none; types that are imported from C may have several.
    bool is_unique = descriptor && *descriptor & 0x40;
    for (uint32_t index = 0; index < count; index++) {
      if (!is_unique || may_conform(pairs, descriptor, protocols[index])) possible |= 1u << index;
    }
    const struct class_metadata *metadata = type;
    type = metadata->kind == kind_class ? metadata->superclass : 0;
  }
  pthread_mutex_unlock(&lock);
  return possible;
}

const void *beans_conformance(const void *type, const void *protocol) {
  return beans_possible_conformances(type, &protocol, 1) ? swift_conformsToProtocol(type, protocol) : 0;
}
