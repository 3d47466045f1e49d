#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

// Counting allocations by standing in front of the C library's allocator: everything in the process that allocates,
// the Swift runtime included, comes through here. Off, it costs one predictable branch per call.

/// Starts counting at 0.
void measure_start_counting(void);

/// Stops, and answers how many blocks were asked for since the start, by all threads.
uint64_t measure_stop_counting(void);

/// Bytes in live blocks of the C library's heap, the allocator's own rounding included.
uint64_t measure_live_bytes(void);

/// Does nothing with the pointer, but the compiler cannot know that.
void measure_use(const void *pointer);

#endif
