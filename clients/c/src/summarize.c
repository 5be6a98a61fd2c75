/* Summaries over HTTP. */
#define _GNU_SOURCE
#include "parlance.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4 * 1024 * 1024, TIMEOUT_SECONDS = 120 };

typedef struct {
  char *text;
  size_t length;
} buffer;

static size_t collect(char *bytes, size_t size, size_t count, void *into) {
  buffer *answer = into;
  size_t added = size * count;
  if (answer->length + added > MOST_BYTES) return 0;
  char *grown = realloc(answer->text, answer->length + added + 1);
  if (!grown) return 0;
  memcpy(grown + answer->length, bytes, added);
  answer->text = grown;
  answer->length += added;
  return added;
}

static char *request_body(const char *title, const char *content) {
  cJSON *request = cJSON_CreateObject();
  cJSON_AddStringToObject(request, "content", content);
  if (title) cJSON_AddStringToObject(request, "title", title);
  char *body = cJSON_PrintUnformatted(request);
  cJSON_Delete(request);
  return body;
}

static char *summary_of(const buffer *answer, long status, char *error, size_t size) {
  cJSON *json = answer->text ? cJSON_ParseWithLength(answer->text, answer->length) : NULL;
  const char *summary = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "summary"));
  const char *reason = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "error"));
  char *copy = status == 200 && summary ? strdup(summary) : NULL;
  if (!copy) snprintf(error, size, "HTTP %ld: %s", status, reason ? reason : "no summary");
  cJSON_Delete(json);
  return copy;
}

char *parlance_summarize(const parlance_options *options, const char *title, const char *content,
                         char *error, size_t size) {
  CURL *curl = curl_easy_init();
  char *body = request_body(title, content), *summary = NULL, line[4096];
  buffer answer = {0};
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  if (options->token && snprintf(line, sizeof line, "Authorization: Bearer %s", options->token) < (int)sizeof line)
    headers = curl_slist_append(headers, line);
  snprintf(line, sizeof line, "%s/api/summarize", options->url);
  snprintf(error, size, "out of memory");
  if (curl && body && headers) {
    curl_easy_setopt(curl, CURLOPT_URL, line);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    CURLcode code = curl_easy_perform(curl);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK) summary = summary_of(&answer, status, error, size);
    else snprintf(error, size, "%s", curl_easy_strerror(code));
  }
  free(answer.text);
  cJSON_free(body);
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  return summary;
}
