#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3.0 or newer is needed"
#endif

/* Functions for what OpenSSL declares as macros, which Swift does not import. */

static inline int copenssl_set_minimum_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline void copenssl_refuse_renegotiation(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

static inline void copenssl_keep_no_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline void copenssl_release_buffers(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static inline int copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

/* The connection that a verification belongs to. */
static inline SSL *copenssl_connection_of(X509_STORE_CTX *verification) {
  return (SSL *)X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx());
}

/* Refuses to decrypt a key, and notes in the flag that it has a password. Without a callback, OpenSSL would ask for the
   password at the terminal. */
static inline int copenssl_refuse_password(char *buffer, int size, int is_writing, void *flag) {
  (void)buffer, (void)size, (void)is_writing;
  *(bool *)flag = true;
  return -1;
}

#endif
