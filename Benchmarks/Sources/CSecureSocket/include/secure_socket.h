// A TLS connection over a blocking socket, by OpenSSL alone: the client by hand that the store over TLS is compared with.
#pragma once

#include <stddef.h>
#include <sys/types.h>

typedef struct secure_socket secure_socket;

// Shakes hands over a connected socket, and verifies the server against the authorities of a PEM file and the address. Returns NULL on
// failure.
secure_socket *secure_socket_open(int descriptor, const char *roots, const char *address);

// Sends bytes; returns how many, or a number below 1 on failure.
ssize_t secure_socket_send(secure_socket *socket, const void *bytes, size_t count);

// Waits for bytes; returns how many, or a number below 1 at the end or on failure.
ssize_t secure_socket_receive(secure_socket *socket, void *bytes, size_t count);

void secure_socket_close(secure_socket *socket);
