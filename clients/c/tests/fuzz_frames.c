/* Incoming frames, as libFuzzer makes them up: parsed, and run if they ask for a tool. */
#include "parlance.h"

#include <stdint.h>

static cJSON *echo(void *context, const cJSON *parameters, unsigned timeout_ms, char *error, size_t size) {
  (void)context;
  (void)timeout_ms;
  (void)error;
  (void)size;
  return cJSON_Duplicate(parameters, 1);
}

static const parlance_tool TOOLS[] = {{"echo", "page_access", echo}, {"free", NULL, echo}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length) {
  parlance_options options = {.tools = TOOLS, .tool_count = 2};
  parlance_event event;
  cJSON *frame = parlance_parse((const char *)data, length, &event);
  if (!frame) return 0;
  cJSON *response = parlance_run_tool(&options, frame);
  char *text = response ? cJSON_PrintUnformatted(response) : NULL;
  cJSON_free(text);
  cJSON_Delete(response);
  cJSON_Delete(frame);
  return 0;
}
