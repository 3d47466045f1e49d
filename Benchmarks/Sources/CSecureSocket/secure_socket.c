#include "secure_socket.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct secure_socket {
  SSL_CTX *context;
  SSL *connection;
};

secure_socket *secure_socket_open(int descriptor, const char *roots, const char *address) {
  secure_socket *socket = OPENSSL_zalloc(sizeof *socket);
  if (socket == NULL) return NULL;
  socket->context = SSL_CTX_new(TLS_client_method());
  if (socket->context == NULL || SSL_CTX_load_verify_file(socket->context, roots) != 1) goto failure;
  SSL_CTX_set_verify(socket->context, SSL_VERIFY_PEER, NULL);
  socket->connection = SSL_new(socket->context);
  if (socket->connection == NULL || SSL_set_fd(socket->connection, descriptor) != 1) goto failure;
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(socket->connection), address) != 1) goto failure;
  if (SSL_connect(socket->connection) == 1) return socket;
failure:
  secure_socket_close(socket);
  return NULL;
}

ssize_t secure_socket_send(secure_socket *socket, const void *bytes, size_t count) {
  size_t sent;
  return SSL_write_ex(socket->connection, bytes, count, &sent) == 1 ? (ssize_t)sent : -1;
}

ssize_t secure_socket_receive(secure_socket *socket, void *bytes, size_t count) {
  size_t received;
  return SSL_read_ex(socket->connection, bytes, count, &received) == 1 ? (ssize_t)received : -1;
}

void secure_socket_close(secure_socket *socket) {
  SSL_free(socket->connection);
  SSL_CTX_free(socket->context);
  OPENSSL_free(socket);
}
