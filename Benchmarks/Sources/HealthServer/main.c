// The minimal HTTP server on libuv and http-parser: it responds to every request as the example service does to `GET
// /healthz`, and does nothing else. Prints its address; SIGTERM ends it.
//
// usage: HealthServer [LOOPS]

#define _GNU_SOURCE
#include <http_parser.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { read_size = 64 * 1024, output_size = 16 * 1024 };

typedef struct {
  uv_loop_t loop;
  uv_tcp_t listener;
  char input[read_size];
  // The date changes once a second.
  time_t second;
  char response[256];
  size_t response_length;
} server;

typedef struct {
  uv_tcp_t tcp;
  http_parser parser;
  server *owner;
  char output[output_size];
  size_t output_length;
} connection;

typedef struct {
  uv_write_t request;
  char bytes[];
} pending_write;

static http_parser_settings callbacks;

static void fail(const char *what, int status) {
  fprintf(stderr, "HealthServer: %s: %s\n", what, uv_strerror(status));
  exit(1);
}

static void closed(uv_handle_t *handle) { free(handle->data); }

static void written(uv_write_t *request, int status) {
  (void)status;
  free(request);
}

static void flush(connection *self) {
  if (!self->output_length) return;
  uv_buf_t buffer = uv_buf_init(self->output, (unsigned)self->output_length);
  self->output_length = 0;
  int sent = uv_try_write((uv_stream_t *)&self->tcp, &buffer, 1);
  if (sent == UV_EAGAIN) sent = 0;
  if (sent < 0 || (size_t)sent == buffer.len) return;
  size_t rest = buffer.len - (size_t)sent;
  pending_write *write = malloc(sizeof *write + rest);
  if (!write) abort();
  memcpy(write->bytes, buffer.base + sent, rest);
  uv_buf_t left = uv_buf_init(write->bytes, (unsigned)rest);
  if (uv_write(&write->request, (uv_stream_t *)&self->tcp, &left, 1, written)) free(write);
}

static void prepare_response(server *self) {
  time_t now = time(NULL);
  if (now == self->second) return;
  self->second = now;
  struct tm parts;
  char date[64];
  strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &parts));
  self->response_length = (size_t)snprintf(
      self->response, sizeof self->response,
      "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Length: 15\r\nContent-Type: application/json\r\n\r\n{\"status\":\"ok\"}", date);
}

static int complete(http_parser *parser) {
  connection *self = parser->data;
  server *owner = self->owner;
  prepare_response(owner);
  if (self->output_length + owner->response_length > output_size) flush(self);
  memcpy(self->output + self->output_length, owner->response, owner->response_length);
  self->output_length += owner->response_length;
  return 0;
}

static void allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
  (void)size;
  connection *self = handle->data;
  *buffer = uv_buf_init(self->owner->input, read_size);
}

static void received(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
  connection *self = stream->data;
  if (count > 0) {
    size_t parsed = http_parser_execute(&self->parser, &callbacks, buffer->base, (size_t)count);
    flush(self);
    if (parsed == (size_t)count && !self->parser.upgrade) return;
  } else if (count == 0) {
    return;
  }
  if (!uv_is_closing((uv_handle_t *)stream)) uv_close((uv_handle_t *)stream, closed);
}

static void accepted(uv_stream_t *listener, int status) {
  if (status < 0) return;
  server *owner = listener->data;
  connection *self = calloc(1, sizeof *self);
  if (!self) abort();
  self->owner = owner;
  uv_tcp_init(&owner->loop, &self->tcp);
  self->tcp.data = self;
  http_parser_init(&self->parser, HTTP_REQUEST);
  self->parser.data = self;
  if (uv_accept(listener, (uv_stream_t *)&self->tcp)) {
    uv_close((uv_handle_t *)&self->tcp, closed);
    return;
  }
  uv_tcp_nodelay(&self->tcp, 1);
  uv_read_start((uv_stream_t *)&self->tcp, allocate, received);
}

/// Listens beside the other loops' listeners, as those of the service do. Returns the port.
static int listen_on(server *self, int port) {
  int status = uv_loop_init(&self->loop);
  if (status) fail("loop", status);
  uv_tcp_init_ex(&self->loop, &self->listener, AF_INET);
  self->listener.data = self;
  uv_os_fd_t descriptor;
  uv_fileno((uv_handle_t *)&self->listener, &descriptor);
  int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  struct sockaddr_in address;
  uv_ip4_addr("127.0.0.1", port, &address);
  if ((status = uv_tcp_bind(&self->listener, (struct sockaddr *)&address, 0))) fail("bind", status);
  if ((status = uv_listen((uv_stream_t *)&self->listener, 1024, accepted))) fail("listen", status);
  int length = sizeof address;
  uv_tcp_getsockname(&self->listener, (struct sockaddr *)&address, &length);
  return ntohs(address.sin_port);
}

static void *run(void *argument) {
  server *self = argument;
  uv_run(&self->loop, UV_RUN_DEFAULT);
  return NULL;
}

static void ended(int number) {
  (void)number;
  _exit(0);
}

int main(int count, char **arguments) {
  int loops = count > 1 ? atoi(arguments[1]) : 1;
  if (loops < 1 || loops > 256) {
    fprintf(stderr, "usage: HealthServer [LOOPS]\n");
    return 64;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, ended);
  callbacks.on_message_complete = complete;
  server *servers = calloc((size_t)loops, sizeof *servers);
  if (!servers) abort();
  int port = 0;
  for (int index = 0; index < loops; index++) port = listen_on(&servers[index], port);
  printf("HealthServer: http://127.0.0.1:%d\n", port);
  fflush(stdout);
  pthread_t thread;
  for (int index = 1; index < loops; index++) {
    if (pthread_create(&thread, NULL, run, &servers[index])) fail("thread", UV_EAGAIN);
  }
  run(&servers[0]);
  return 0;
}
