/** The public list of a server's dialects, built from their descriptions. */

import type { DialectList, Dialect as DialectView } from '@parlance/protocol/api';
import {
  type Endpoint,
  EXAMPLE_IDS,
  type LearnedId,
  type MessageExample,
  type RequestExample,
} from '../dialects/kit/description.ts';
import { httpRoutes, socketRoutes } from '../dialects/kit/dialect.ts';
import type { ServedDialect } from '../dialects/kit/routes.ts';
import { type Described, descriptionsOf } from './descriptions.ts';

/** Leaves out dialects whose sockets are disabled. */
export async function dialectList(served: readonly ServedDialect[]): Promise<DialectList> {
  const descriptions = await descriptionsOf(served.map(({ dialect }) => dialect));
  const views = served
    .filter(({ dialect, inbound }) => inbound.open || socketRoutes(dialect.listen).length === 0)
    .flatMap((one) => {
      const described = descriptions.find(({ name }) => name === one.dialect.name);
      return described ? [viewOf(one, described)] : [];
    });
  // Examples are plain JSON; undefined fields are left out.
  return JSON.parse(JSON.stringify({ ids: EXAMPLE_IDS, dialects: views }));
}

function viewOf({ dialect, inbound }: ServedDialect, described: Described): DialectView {
  const { name, title, summary, note = null, needsToken = false } = described;
  return {
    name,
    title,
    summary,
    note,
    needsToken,
    transport: transportOf(described),
    http: httpRoutes(dialect.listen).map(({ http }) => http),
    socket: socketOf(described, inbound.sockets),
    messages: playedMessages(described),
    ids: idsOf(described),
    snippets: snippetsOf(described),
  };
}

const transportOf = ({ socket, commands }: Described): DialectView['transport'] =>
  socket ? 'socket' : commands ? 'commands' : 'requests';

function socketOf({ socket }: Described, own: ServedDialect['inbound']['sockets']): DialectView['socket'] {
  if (!socket) return null;
  const { address, others, params = {}, query = {}, anonymous, greeting } = socket;
  return {
    addresses: [{ address, condition: null }, ...others],
    params: { ...params, ...own?.params },
    query: { ...query },
    anonymous,
    greeting: greeting?.send ?? null,
    elsewhere: own?.elsewhere ?? null,
  };
}

function idsOf({ messages, endpoints, commands }: Described): DialectView['ids'] {
  const outbound = Object.entries(messages?.out ?? {}).map(([name, { ids }]) => [name, ids] as const);
  const events = Object.entries(commands?.ids ?? {});
  const found = (message: string | null, ids: readonly LearnedId[] = []) =>
    ids.map(({ id, at, match = null }) => ({ message, id, at, match }));
  return [
    ...[...outbound, ...events].flatMap(([name, ids]) => found(name, ids)),
    // The response of a request has no name: it is {status, body}.
    ...endpoints.flatMap(({ ids = [] }) =>
      found(
        null,
        ids.map((one) => ({ ...one, at: `body.${one.at}` })),
      ),
    ),
  ];
}

// The messages that a client can try, with examples.

type Message = DialectView['messages'][number];
type Example = Message['examples'][number];

function playedMessages({ messages, commands, endpoints }: Described): Message[] {
  if (messages)
    return Object.entries(messages.in).map(([name, { summary, examples }]) => ({
      name,
      summary,
      examples: shown(examples(EXAMPLE_IDS)).map(exampleOf),
    }));
  const taken = endpoints.find(({ path }) => path === commands?.path);
  return taken ? commandsOf(taken) : endpoints.map(requestsOf);
}

const shown = <Marked extends { readonly probe?: true }>(examples: readonly Marked[]): Marked[] =>
  examples.filter(({ probe }) => !probe);

const examplesOf = ({ examples = () => [{}] }: Endpoint): RequestExample[] => shown(examples(EXAMPLE_IDS));

const exampleOf = ({ title, frame, before }: Pick<MessageExample, 'title' | 'frame' | 'before'>) =>
  ({ title, frame, before: before ?? null }) as Example;

/** The type of a command is the name of the message. */
function commandsOf(endpoint: Endpoint): Message[] {
  const examples = examplesOf(endpoint).map(({ title = '', body = {} }) => exampleOf({ title, frame: body }));
  return [...Map.groupBy(examples, ({ frame }) => String(frame.type))].map(([name, same]) => ({
    name,
    summary: endpoint.summary,
    examples: same,
  }));
}

function requestsOf(endpoint: Endpoint): Message {
  const { path, summary } = endpoint;
  const method = endpoint.method.toUpperCase();
  return {
    name: `${method} ${path}`,
    summary,
    examples: examplesOf(endpoint).map((example) =>
      exampleOf({
        title: example.title ?? summary,
        frame: { method, path: requestPath(endpoint, example), body: example.body },
      }),
    ),
  };
}

// First steps of a client: on a socket, with HTTP requests, and as a program.

type Snippet = DialectView['snippets'][number];
type SocketSnippet = Extract<Snippet, { kind: 'socket' }>;
type RequestSnippet = Extract<Snippet, { kind: 'request' }>;

const snippetsOf = (described: Described): Snippet[] => [
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

/** Path and query of a request. */
function requestPath(
  { path }: Pick<Endpoint, 'path'>,
  { params = {}, query }: Pick<RequestExample, 'params' | 'query'>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? 'none'));
  return query ? `${filled}?${new URLSearchParams(query)}` : filled;
}
