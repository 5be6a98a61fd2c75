/* Frames: what is received is checked here, and answered as far as it needs no connection. */
#define _GNU_SOURCE
#include "parlance.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { LONGEST_TOOL_MS = 30000 };

static int64_t milliseconds(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void parlance_new_id(const char *prefix, char *id, size_t size) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  unsigned char random[9] = {0};
  char tail[10] = {0};
  if (getrandom(random, sizeof random, 0) < 0) memset(random, 0, sizeof random);
  for (size_t i = 0; i < sizeof random; i++) tail[i] = digits[random[i] % 36];
  snprintf(id, size, "%s_%lld_%s", prefix, (long long)milliseconds(CLOCK_REALTIME), tail);
}

cJSON *parlance_frame(const char *type) {
  char id[64];
  cJSON *frame = cJSON_CreateObject();
  if (!frame) return NULL;
  parlance_new_id("msg", id, sizeof id);
  cJSON_AddStringToObject(frame, "id", id);
  cJSON_AddStringToObject(frame, "type", type);
  cJSON_AddNumberToObject(frame, "timestamp", (double)milliseconds(CLOCK_REALTIME));
  return frame;
}

static const char *text_of(const cJSON *object, const char *name) {
  return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static const struct {
  const char *type;
  parlance_event_type event;
  const char *text, *detail; /* the fields that the event shows */
} TYPES[] = {
    {"registration_confirmed", PARLANCE_REGISTERED, "clientId", NULL},
    {"agent_response", PARLANCE_RESPONSE, "content", "reasoning"},
    {"agent_status", PARLANCE_STATUS, "status", "message"},
    {"conversation_cleared", PARLANCE_CLEARED, "sessionId", NULL},
    {"tool_execution_request", PARLANCE_TOOL_REQUEST, "toolName", NULL},
    {"tool_execution_status", PARLANCE_TOOL_STATUS, "status", "statusMessage"},
    {"pong", PARLANCE_PONG, NULL, NULL},
    {"error", PARLANCE_ERROR, "message", "details"},
    {"server_shutdown", PARLANCE_SHUTDOWN, "message", NULL},
};

cJSON *parlance_parse(const char *text, size_t length, parlance_event *event) {
  memset(event, 0, sizeof *event);
  cJSON *frame = cJSON_ParseWithLength(text, length);
  const char *type = cJSON_IsObject(frame) ? text_of(frame, "type") : NULL;
  if (!type) {
    cJSON_Delete(frame);
    return NULL;
  }
  event->frame = frame;
  event->text = "";
  event->session = text_of(frame, "sessionId");
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
    if (strcmp(TYPES[i].type, type) != 0) continue;
    event->type = TYPES[i].event;
    const char *shown = TYPES[i].text ? text_of(frame, TYPES[i].text) : NULL;
    if (shown) event->text = shown;
    if (TYPES[i].detail) event->detail = text_of(frame, TYPES[i].detail);
  }
  return frame;
}

static int contains(const cJSON *list, const char *text, size_t length) {
  const cJSON *item;
  cJSON_ArrayForEach(item, list) {
    const char *value = cJSON_GetStringValue(item);
    if (value && strlen(value) == length && strncmp(value, text, length) == 0) return 1;
  }
  return 0;
}

/* A page may be read only if its origin is listed. */
static int origin_allowed(const cJSON *security, const char *url) {
  const cJSON *origins = cJSON_GetObjectItemCaseSensitive(security, "allowedOrigins");
  if (!url) return 1;
  const char *host = strstr(url, "://");
  size_t length = host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#\\") : 0;
  return host && !memchr(url, '@', length) && contains(origins, url, length);
}

static cJSON *failure(cJSON *response, const char *type, const char *message) {
  cJSON_AddBoolToObject(response, "success", 0);
  cJSON *error = cJSON_AddObjectToObject(response, "error");
  cJSON_AddStringToObject(error, "type", type);
  cJSON_AddStringToObject(error, "message", message);
  cJSON_AddBoolToObject(error, "recoverable", 0);
  return response;
}

static const parlance_tool *find_tool(const parlance_options *options, const char *name) {
  for (size_t i = 0; name && i < options->tool_count; i++)
    if (strcmp(options->tools[i].name, name) == 0) return &options->tools[i];
  return NULL;
}

/* Why the request is refused before anything runs; NULL if it may run. */
static const char *refused(const parlance_tool *tool, const cJSON *security, const cJSON *parameters,
                           const char **type) {
  const cJSON *permissions = cJSON_GetObjectItemCaseSensitive(security, "permissions");
  *type = "validation";
  if (!tool) return "This client does not have the tool.";
  if (!cJSON_IsObject(parameters)) return "The parameters must be an object.";
  *type = "permission";
  if (tool->permission && !contains(permissions, tool->permission, strlen(tool->permission)))
    return "The request lacks the permission that the tool needs.";
  if (!origin_allowed(security, text_of(parameters, "url"))) return "The origin is not allowed.";
  return NULL;
}

cJSON *parlance_run_tool(const parlance_options *options, const cJSON *request) {
  const char *execution = text_of(request, "executionId");
  const cJSON *security = cJSON_GetObjectItemCaseSensitive(request, "securityContext");
  const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(request, "parameters");
  const cJSON *asked = cJSON_GetObjectItemCaseSensitive(request, "timeout");
  double timeout = cJSON_IsNumber(asked) && asked->valuedouble >= 0 ? asked->valuedouble : LONGEST_TOOL_MS;
  if (timeout > LONGEST_TOOL_MS) timeout = LONGEST_TOOL_MS;
  const parlance_tool *tool = find_tool(options, text_of(request, "toolName"));
  cJSON *response = execution ? parlance_frame("tool_execution_response") : NULL;
  if (!response) return NULL;
  cJSON_AddStringToObject(response, "executionId", execution);
  const char *type, *reason = refused(tool, security, parameters, &type);
  int64_t began = milliseconds(CLOCK_MONOTONIC);
  char error[256] = "The tool failed.";
  cJSON *result =
      reason ? NULL : tool->run(options->context, parameters, (unsigned)timeout, error, sizeof error);
  int64_t took = milliseconds(CLOCK_MONOTONIC) - began;
  cJSON_AddNumberToObject(response, "executionTime", (double)took);
  if (reason) return failure(response, type, reason);
  if (!result) return failure(response, "unknown", error);
  if ((double)took > timeout) {
    cJSON_Delete(result);
    return failure(response, "timeout", "The tool took too long.");
  }
  cJSON_AddBoolToObject(response, "success", 1);
  cJSON_AddItemToObject(response, "result", result);
  return response;
}
