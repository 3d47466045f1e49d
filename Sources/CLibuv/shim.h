#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H

#include <stdint.h>

#if !(defined(__linux__) && defined(__GLIBC__))
#error BeansEventLoop and the modules that use it need Linux with glibc: see the section 'Platforms' of the README of swift-beans.
#endif

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#if UV_VERSION_HEX < 0x012c00
#error "libuv 1.44 or newer is needed"
#endif

/* A descriptor that becomes readable when it is written to, or -1. */
static inline int clibuv_open_wake_up(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

/* The next connection that waits at a listener, or -1. Declared here because Swift's view of glibc leaves `accept4` out. */
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
static inline int clibuv_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Swift does not import variadic functions. At most 15 bytes of the name are kept. */
static inline void clibuv_name_current_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
