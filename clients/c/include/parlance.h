/* A client of the extension protocol of Parlance: chat, status, heartbeat and tools over one WebSocket. */
#ifndef PARLANCE_H
#define PARLANCE_H

#include <cjson/cJSON.h>
#include <stddef.h>

/*
 * Runs a tool. Returns the result, which the library frees, or NULL with a sentence in `error`. It runs in
 * `parlance_service`, which waits for it: it has to give up after `timeout_ms`, or the result is refused as too late.
 */
typedef cJSON *parlance_tool_run(void *context, const cJSON *parameters, unsigned timeout_ms, char *error,
                                 size_t size);

typedef struct {
  const char *name;
  const char *permission; /* must be among those of the request; NULL: none is needed */
  parlance_tool_run *run;
} parlance_tool;

typedef enum {
  PARLANCE_UNKNOWN, /* a type of a newer server */
  PARLANCE_REGISTERED,
  PARLANCE_RESPONSE, /* `text` is the answer, or the question of an approval */
  PARLANCE_STATUS,   /* `text` is the status, `detail` a sentence or NULL */
  PARLANCE_CLEARED,
  PARLANCE_TOOL_REQUEST, /* answered by the library; `text` is the name of the tool */
  PARLANCE_TOOL_STATUS,
  PARLANCE_PONG,
  PARLANCE_ERROR, /* `text` is a sentence, `detail` another one or NULL */
  PARLANCE_SHUTDOWN,
  PARLANCE_DISCONNECTED, /* `text` is the reason; the library connects again */
  PARLANCE_IDLE /* after a reconnection: nothing runs in the session; an answer may have been missed */
} parlance_event_type;

/* The texts are valid during the call. */
typedef struct {
  parlance_event_type type;
  const char *text, *detail, *session;
  const cJSON *frame; /* NULL if the event is not a frame */
} parlance_event;

typedef void parlance_on_event(void *context, const parlance_event *event);

typedef struct {
  const char *url;     /* http://HOST:PORT or https://HOST:PORT */
  const char *token;   /* NULL in open mode */
  const char *session; /* NULL: a new one */
  const parlance_tool *tools;
  size_t tool_count;
  unsigned heartbeat_ms; /* 0: 20 seconds */
  unsigned backoff_ms;   /* the first delay before it connects again; 0: 500 */
  parlance_on_event *on_event;
  void *context; /* for `on_event` and the tools */
} parlance_options;

typedef struct parlance_client parlance_client;

/* Copies the texts; the tools must outlive the client. NULL if the options are wrong or memory is short. */
parlance_client *parlance_new(const parlance_options *options);
void parlance_free(parlance_client *client);

/* Connects, sends and receives for up to `timeout_ms`. Returns 0, or -1 if the client cannot go on. */
int parlance_service(parlance_client *client, unsigned timeout_ms);

/* Messages wait while there is no connection. Return 0, or -1 if too many wait. */
int parlance_chat(parlance_client *client, const char *text);
int parlance_clear(parlance_client *client);

/* The session, which stays the same across connections. */
const char *parlance_session(const parlance_client *client);

/* POST /api/summarize. Returns the summary, to be freed, or NULL with a sentence in `error`. */
char *parlance_summarize(const parlance_options *options, const char *title, const char *content,
                         char *error, size_t size);

/* Frames, without a connection. */

/* `msg_<milliseconds>_<nine characters>`, for any prefix. `id` has at least 64 bytes. */
void parlance_new_id(const char *prefix, char *id, size_t size);
cJSON *parlance_frame(const char *type);

/* Reads a frame. Returns it, to be deleted, or NULL if it is not a JSON object with a type. */
cJSON *parlance_parse(const char *text, size_t length, parlance_event *event);

/* Checks and runs a `tool_execution_request`. Returns the response, or NULL if the request names no execution. */
cJSON *parlance_run_tool(const parlance_options *options, const cJSON *request);

#endif
