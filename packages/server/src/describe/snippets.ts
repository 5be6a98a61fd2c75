/** First steps of a client: on a socket, with HTTP requests, and as a program. */
import { type Endpoint, EXAMPLE_IDS } from '../dialects/shared/description.ts';
import type { DialectView } from '../dialects/shared/dialect-list.ts';
import type { Described } from './descriptions.ts';
import { requestPath } from './request-path.ts';

type Snippet = DialectView['snippets'][number];
type SocketSnippet = Extract<Snippet, { kind: 'socket' }>;
type RequestSnippet = Extract<Snippet, { kind: 'request' }>;

export const snippetsOf = (described: Described): Snippet[] => [
  ...(described.scripts ?? []).map((script) => ({ kind: 'script' as const, ...script })),
  ...socketSnippet(described),
  ...described.endpoints.flatMap((endpoint) => requestSnippets(endpoint, described)),
];

/** The greeting, then the example marked as first, or the first one. */
function socketSnippet({ socket, messages }: Described): SocketSnippet[] {
  if (!socket || !messages) return [];
  const all = Object.values(messages.in).flatMap(({ examples }) => examples(EXAMPLE_IDS));
  const first = all.find((example) => example.first) ?? all[0];
  const greeting = messages.in[socket.greeting?.send ?? '']?.examples(EXAMPLE_IDS)[0];
  if (!first) return [];
  const sent = greeting ? [greeting, first] : [first];
  return [
    { kind: 'socket', title: first.title, frames: sent.map(({ frame }) => frame as Record<string, never>) },
  ];
}

function requestSnippets(endpoint: Endpoint, { needsToken }: Described): RequestSnippet[] {
  return (endpoint.examples?.(EXAMPLE_IDS) ?? [])
    .filter(({ first }) => first)
    .map((example) => ({
      kind: 'request',
      title: example.title ?? endpoint.summary,
      method: endpoint.method.toUpperCase(),
      path: requestPath(endpoint, example),
      body: (example.body as Record<string, never> | undefined) ?? null,
      needsToken: needsToken === true || endpoint.security === 'token',
      stream: example.stream ?? false,
    }));
}
