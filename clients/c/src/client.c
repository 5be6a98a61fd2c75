/* The connection: registers, sends what waits, keeps itself alive, and connects again with growing delays. */
#define _GNU_SOURCE
#include "parlance.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_WAITING = 64,
  MOST_RECEIVED = 16 * 1024 * 1024,
  MOST_BACKOFF_MS = 30000,
  HEARTBEAT_MS = 20000,
  BACKOFF_MS = 500
};

typedef struct message {
  struct message *next;
  int urgent; /* the registration, a ping, a result: sent first, and not on another connection */
  size_t length;
  unsigned char bytes[]; /* LWS_PRE bytes of room for the header come first */
} message;

struct parlance_client {
  parlance_options options;
  char *url, *token, *parts; /* `parts` is the URL with its parts ended */
  const char *host;
  char session[256], path[1024];
  int port, tls;
  struct lws_context *context;
  struct lws *socket; /* NULL while there is no connection */
  int registered, heard, registrations;
  char fence[64]; /* the id of a ping: nothing runs in the session if no status comes before its pong */
  unsigned failures;
  message *first; /* urgent ones, then those that wait until the client is registered */
  size_t waiting;
  char *received;
  size_t length, room;
  lws_sorted_usec_list_t retry, beat, wake;
};

static void emit(parlance_client *client, const parlance_event *event) {
  if (client->options.on_event) client->options.on_event(client->options.context, event);
}

/* Takes the frame. Returns -1 if memory is short. */
static int add(parlance_client *client, cJSON *frame, int urgent) {
  char *text = frame ? cJSON_PrintUnformatted(frame) : NULL;
  size_t length = text ? strlen(text) : 0;
  message *made = text ? malloc(sizeof *made + LWS_PRE + length) : NULL, **at = &client->first;
  if (made) {
    while (*at && (!urgent || (*at)->urgent)) at = &(*at)->next;
    *made = (message){.next = *at, .urgent = urgent, .length = length};
    memcpy(made->bytes + LWS_PRE, text, length);
    *at = made;
    if (client->socket && (urgent || client->registered)) lws_callback_on_writable(client->socket);
  }
  cJSON_free(text);
  cJSON_Delete(frame);
  return made ? 0 : -1;
}

static void send_urgent(parlance_client *client, cJSON *frame) { add(client, frame, 1); }

static void drop_first(parlance_client *client) {
  message *first = client->first;
  client->first = first->next;
  if (!first->urgent) client->waiting--;
  free(first);
}

static void register_client(parlance_client *client) {
  cJSON *frame = parlance_frame("client_registration");
  cJSON_AddStringToObject(frame, "clientType", "c_client");
  cJSON *capabilities = cJSON_AddArrayToObject(frame, "capabilities");
  for (size_t i = 0; i < client->options.tool_count; i++)
    cJSON_AddItemToArray(capabilities, cJSON_CreateString(client->options.tools[i].name));
  cJSON_AddStringToObject(frame, "userAgent", "parlance-c/" PARLANCE_VERSION);
  if (client->token) cJSON_AddStringToObject(frame, "sessionToken", client->token);
  send_urgent(client, frame);
}

static void beat(lws_sorted_usec_list_t *list) {
  parlance_client *client = lws_container_of(list, parlance_client, beat);
  if (!client->socket) return;
  if (!client->heard) {
    lws_set_timeout(client->socket, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    return;
  }
  client->heard = 0;
  send_urgent(client, parlance_frame("ping"));
  lws_sul_schedule(client->context, 0, list, beat,
                   (lws_usec_t)client->options.heartbeat_ms * LWS_US_PER_MS);
}

static void connect_now(lws_sorted_usec_list_t *list);

/* Twice as long after each failure, and never the same for two clients. */
static void retry_later(parlance_client *client, const char *reason) {
  client->socket = NULL;
  client->registered = 0;
  client->fence[0] = '\0';
  client->length = 0;
  while (client->first && client->first->urgent) drop_first(client);
  lws_sul_cancel(&client->beat);
  emit(client, &(parlance_event){.type = PARLANCE_DISCONNECTED, .text = reason});
  unsigned delay = client->options.backoff_ms << (client->failures < 6 ? client->failures : 6);
  if (delay > MOST_BACKOFF_MS) delay = MOST_BACKOFF_MS;
  if (client->failures < 6) client->failures++;
  unsigned char random = 0;
  lws_get_random(client->context, &random, 1);
  delay += delay * random / 1024;
  lws_sul_schedule(client->context, 0, &client->retry, connect_now, (lws_usec_t)delay * LWS_US_PER_MS);
}

/* The session is named, so that what is under way in it is shown after a reconnection. */
static void connect_now(lws_sorted_usec_list_t *list) {
  parlance_client *client = lws_container_of(list, parlance_client, retry);
  int end = snprintf(client->path, sizeof client->path, "/extension?session=");
  for (const char *at = client->session; *at; at++)
    end += snprintf(client->path + end, sizeof client->path - (size_t)end, "%%%02X", (unsigned char)*at);
  struct lws_client_connect_info info = {
      .context = client->context,
      .address = client->host,
      .host = client->url + (client->tls ? strlen("https://") : strlen("http://")),
      .port = client->port,
      .path = client->path,
      .ssl_connection = client->tls ? LCCSCF_USE_SSL : 0,
      .protocol = NULL,
      .local_protocol_name = "parlance",
      .opaque_user_data = client,
  };
  if (!lws_client_connect_via_info(&info) && !client->retry.list.owner)
    retry_later(client, "cannot connect");
}

/* After a reconnection, the server shows what runs in the session before it answers a ping. */
static void put_fence(parlance_client *client) {
  if (client->registrations++ == 0 || client->waiting > 0) return;
  cJSON *ping = parlance_frame("ping");
  const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(ping, "id"));
  snprintf(client->fence, sizeof client->fence, "%s", id ? id : "");
  send_urgent(client, ping);
}

static void check_fence(parlance_client *client, const parlance_event *event) {
  const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event->frame, "id"));
  if (event->session && strcmp(event->session, client->session) == 0) client->fence[0] = '\0';
  if (event->type != PARLANCE_PONG || !client->fence[0] || !id || strcmp(id, client->fence)) return;
  client->fence[0] = '\0';
  emit(client, &(parlance_event){.type = PARLANCE_IDLE, .text = "", .session = client->session});
}

static void received(parlance_client *client) {
  parlance_event event;
  cJSON *frame = parlance_parse(client->received, client->length, &event);
  client->length = 0;
  client->heard = 1;
  if (!frame) return;
  if (event.type == PARLANCE_REGISTERED) {
    client->registered = 1;
    client->failures = 0;
    put_fence(client);
    lws_callback_on_writable(client->socket);
  }
  if (event.type == PARLANCE_CLEARED && event.session && !strcmp(event.session, client->session))
    parlance_new_id("session", client->session, sizeof client->session);
  emit(client, &event);
  check_fence(client, &event);
  if (event.type == PARLANCE_TOOL_REQUEST) {
    cJSON *response = parlance_run_tool(&client->options, frame);
    if (response) send_urgent(client, response);
  }
  cJSON_Delete(frame);
}

/* Returns -1 if the frame is too large. */
static int collect(parlance_client *client, const char *bytes, size_t length) {
  if (length > MOST_RECEIVED - client->length) return -1;
  if (client->length + length > client->room) {
    size_t room = (client->length + length) * 2;
    char *grown = realloc(client->received, room);
    if (!grown) return -1;
    client->received = grown;
    client->room = room;
  }
  if (length > 0) memcpy(client->received + client->length, bytes, length);
  client->length += length;
  return 0;
}

static int write_next(parlance_client *client) {
  message *next = client->first;
  if (!next || (!next->urgent && !client->registered)) return 0;
  int written = lws_write(client->socket, next->bytes + LWS_PRE, next->length, LWS_WRITE_TEXT);
  if (written < (int)next->length) return -1; /* stays in the list, and is sent again */
  drop_first(client);
  if (client->first) lws_callback_on_writable(client->socket);
  return 0;
}

static int on_socket(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in,
                     size_t length) {
  (void)user;
  parlance_client *client = socket ? lws_get_opaque_user_data(socket) : NULL;
  if (!client) return 0;
  switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
      client->socket = socket;
      client->heard = 1;
      register_client(client);
      lws_sul_schedule(client->context, 0, &client->beat, beat,
                       (lws_usec_t)client->options.heartbeat_ms * LWS_US_PER_MS);
      return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE:
      if (collect(client, in, length) < 0) return -1;
      if (lws_is_final_fragment(socket) && lws_remaining_packet_payload(socket) == 0) received(client);
      return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
      return client->socket ? write_next(client) : 0;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
      retry_later(client, in ? in : "cannot connect");
      return 0;
    case LWS_CALLBACK_CLIENT_CLOSED:
      retry_later(client, "the connection was closed");
      return 0;
    default:
      return 0;
  }
}

static const struct lws_protocols PROTOCOLS[] = {
    {.name = "parlance", .callback = on_socket},
    {.name = NULL},
};

/* Splits `http://host:port`. Returns -1 if the URL has another form. */
static int parse_url(parlance_client *client) {
  const char *scheme, *path;
  client->parts = strdup(client->url);
  if (!client->parts || lws_parse_uri(client->parts, &scheme, &client->host, &client->port, &path)) return -1;
  client->tls = strcmp(scheme, "https") == 0;
  if (!client->tls && strcmp(scheme, "http") != 0) return -1;
  return client->host[0] && client->port > 0 && client->port < 65536 ? 0 : -1;
}

parlance_client *parlance_new(const parlance_options *options) {
  parlance_client *client = options && options->url ? calloc(1, sizeof *client) : NULL;
  if (!client) return NULL;
  client->options = *options;
  if (client->options.heartbeat_ms == 0) client->options.heartbeat_ms = HEARTBEAT_MS;
  if (client->options.backoff_ms == 0) client->options.backoff_ms = BACKOFF_MS;
  client->url = strndup(options->url, 1024);
  client->token = options->token ? strdup(options->token) : NULL;
  if (options->session) snprintf(client->session, sizeof client->session, "%s", options->session);
  else parlance_new_id("session", client->session, sizeof client->session);
  size_t length = client->url ? strlen(client->url) : 0;
  if (length > 0 && client->url[length - 1] == '/') client->url[length - 1] = '\0';
  struct lws_context_creation_info info = {
      .port = CONTEXT_PORT_NO_LISTEN,
      .protocols = PROTOCOLS,
      .gid = (gid_t)-1,
      .uid = (uid_t)-1,
      .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
  };
  if (length == 0 || parse_url(client) < 0 || !(client->context = lws_create_context(&info))) {
    parlance_free(client);
    return NULL;
  }
  lws_sul_schedule(client->context, 0, &client->retry, connect_now, 1);
  return client;
}

void parlance_free(parlance_client *client) {
  if (!client) return;
  client->options.on_event = NULL;
  if (client->context) lws_context_destroy(client->context);
  while (client->first) drop_first(client);
  free(client->received);
  free(client->parts);
  free(client->token);
  free(client->url);
  free(client);
}

static void woken(lws_sorted_usec_list_t *list) { (void)list; }

int parlance_service(parlance_client *client, unsigned timeout_ms) {
  lws_sul_schedule(client->context, 0, &client->wake, woken, (lws_usec_t)timeout_ms * LWS_US_PER_MS + 1);
  return lws_service(client->context, 0) < 0 ? -1 : 0;
}

static int send_later(parlance_client *client, const char *type, const char *content) {
  if (client->waiting >= MOST_WAITING) return -1;
  cJSON *frame = parlance_frame(type);
  if (content) cJSON_AddStringToObject(frame, "content", content);
  cJSON_AddStringToObject(frame, "sessionId", client->session);
  return add(client, frame, 0) < 0 ? -1 : (client->waiting++, 0);
}

int parlance_chat(parlance_client *client, const char *text) { return send_later(client, "chat_message", text); }
int parlance_clear(parlance_client *client) { return send_later(client, "clear_conversation", NULL); }

const char *parlance_session(const parlance_client *client) { return client->session; }
