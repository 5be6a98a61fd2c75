/* parlance-c: chat with a Parlance server, and lend it tools, from the command line. */
#define _GNU_SOURCE
#include "parlance.h"

#include <getopt.h>
#include <libwebsockets.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 100 };

typedef struct {
  const char *selection, *page; /* files: what `get_selected_text` and `extract_page_content` return */
  int pending, failed, cleared; /* `pending`: a message has no answer yet */
} program;

/* All of a stream, to be freed; NULL if it cannot be read. */
static char *read_all(FILE *file) {
  char *text = NULL;
  size_t size = 0;
  if (file && getdelim(&text, &size, '\0', file) >= 0) return text;
  free(text);
  return file && feof(file) ? strdup("") : NULL;
}

/* What is in a regular file, which is read without waiting. NULL with a sentence in `error` if there is none. */
static cJSON *file_result(const char *path, const char *name, char *error, size_t size) {
  struct stat about;
  FILE *file = path && stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "r") : NULL;
  char *text = read_all(file);
  cJSON *result = text ? cJSON_CreateObject() : NULL;
  if (result) cJSON_AddStringToObject(result, name, text);
  else snprintf(error, size, "There is no %s.", name);
  if (file) fclose(file);
  free(text);
  return result;
}

static cJSON *selected_text(void *context, const cJSON *asked, unsigned timeout_ms, char *error, size_t size) {
  (void)asked, (void)timeout_ms;
  return file_result(((const program *)context)->selection, "text", error, size);
}

static cJSON *page_content(void *context, const cJSON *asked, unsigned timeout_ms, char *error, size_t size) {
  (void)asked, (void)timeout_ms;
  return file_result(((const program *)context)->page, "content", error, size);
}

static void show(void *context, const parlance_event *event) {
  program *self = context;
  const char *detail = event->detail ? event->detail : "";
  if (event->type == PARLANCE_RESPONSE) printf("%s\n", event->text), fflush(stdout), self->pending = 0;
  if (event->type == PARLANCE_STATUS) fprintf(stderr, "[%s] %s\n", event->text, detail);
  if (event->type == PARLANCE_TOOL_REQUEST) fprintf(stderr, "[tool] %s\n", event->text);
  if (event->type == PARLANCE_REGISTERED) fprintf(stderr, "[registered]\n");
  if (event->type == PARLANCE_ERROR || event->type == PARLANCE_DISCONNECTED)
    fprintf(stderr, "[error] %s %s\n", event->text, detail);
  if (event->type == PARLANCE_CLEARED) self->cleared = 1;
  int is_missed = event->type == PARLANCE_IDLE && self->pending;
  if (is_missed) fprintf(stderr, "[error] the turn ended while there was no connection\n");
  int is_failure = event->type == PARLANCE_STATUS && strcmp(event->text, "error") == 0;
  if (is_missed || is_failure || event->type == PARLANCE_ERROR) self->pending = 0, self->failed = 1;
}

/* The signals are blocked, and read here. */
static int stopped(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  return sigtimedwait(&signals, NULL, &(struct timespec){0}) > 0;
}

static int usage(FILE *to) {
  fprintf(to, "usage: parlance-c [OPTION]... COMMAND\n"
              "  chat [TEXT]        send a message, or each line of standard input\n"
              "  serve              lend tools to the server until interrupted\n"
              "  clear              clear the session\n"
              "  summarize [TITLE]  summarize standard input\n"
              "  -u URL, -t TOKEN   the server, and a token for it (PARLANCE_URL, PARLANCE_TOKEN)\n"
              "  -s SESSION         the session to continue\n"
              "  -f FILE            lend the tool get_selected_text, which returns this file\n"
              "  -p FILE            lend the tool extract_page_content, which returns this file\n"
              "  -h, --help         show this; put -- before a text that begins with a dash\n");
  return to == stdout ? 0 : 2;
}

/* Sends the next line if there is one. Returns 0 at the end of the input. */
static int send_line(parlance_client *client, program *self) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  if (poll(&input, 1, 0) <= 0) return 1;
  char *line = NULL;
  size_t size = 0;
  ssize_t length = getline(&line, &size, stdin);
  if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
  if (length > 0 && line[0] && parlance_chat(client, line) == 0) self->pending = 1;
  free(line);
  return length >= 0;
}

static int chat(parlance_client *client, program *self, const char *text) {
  int open = text == NULL;
  if (text && parlance_chat(client, text) == 0) self->pending = 1;
  while (!stopped() && (open || self->pending)) {
    if (open && !self->pending) open = send_line(client, self);
    if (parlance_service(client, STEP_MS) < 0) return 1;
  }
  return self->failed;
}

static int summarize(const parlance_options *options, const char *title) {
  char error[256], *content = read_all(stdin);
  char *summary = content ? parlance_summarize(options, title, content, error, sizeof error) : NULL;
  if (summary) puts(summary);
  else fprintf(stderr, "parlance-c: %s\n", content ? error : "cannot read standard input");
  free(content);
  free(summary);
  return summary ? 0 : 1;
}

static int run(parlance_client *client, program *self, char **command) {
  if (strcmp(command[0], "chat") == 0) return chat(client, self, command[1]);
  int clears = strcmp(command[0], "clear") == 0;
  if (clears && parlance_clear(client) < 0) return 1;
  while (!stopped() && !(clears && self->cleared))
    if (parlance_service(client, STEP_MS) < 0) return 1;
  return 0;
}

int main(int count, char **words) {
  program self = {0};
  lws_set_log_level(0, NULL);
  parlance_options options = {
      .url = getenv("PARLANCE_URL"),
      .token = getenv("PARLANCE_TOKEN"),
      .on_event = show,
      .context = &self,
  };
  if (!options.url) options.url = "http://127.0.0.1:3000";
  static const struct option LONG[] = {{"help", no_argument, NULL, 'h'}, {0}};
  unsetenv("POSIXLY_CORRECT"); /* options are read after the command, too */
  for (int option; (option = getopt_long(count, words, "u:t:s:f:p:h", LONG, NULL)) != -1;) {
    if (option == 'u') options.url = optarg;
    else if (option == 't') options.token = optarg;
    else if (option == 's') options.session = optarg;
    else if (option == 'f') self.selection = optarg;
    else if (option == 'p') self.page = optarg;
    else return usage(option == 'h' ? stdout : stderr);
  }
  char **command = words + optind;
  int takes_text = *command && (strcmp(*command, "chat") == 0 || strcmp(*command, "summarize") == 0);
  int is_command = takes_text || (*command && (strcmp(*command, "serve") == 0 || strcmp(*command, "clear") == 0));
  if (takes_text && command[1] && command[2]) fputs("parlance-c: put the text in quotes\n", stderr);
  if (!is_command || count - optind > 1 + takes_text) return usage(stderr);
  parlance_tool tools[2];
  options.tools = tools;
  if (self.selection) tools[options.tool_count++] = (parlance_tool){"get_selected_text", NULL, selected_text};
  if (self.page) tools[options.tool_count++] = (parlance_tool){"extract_page_content", "page_access", page_content};
  if (strcmp(*command, "summarize") == 0) return summarize(&options, command[1]);
  parlance_client *client = parlance_new(&options);
  if (!client) return fprintf(stderr, "parlance-c: cannot use %s\n", options.url), 2;
  fprintf(stderr, "[session] %s\n", parlance_session(client));
  int failed = run(client, &self, command);
  parlance_free(client);
  return failed;
}
