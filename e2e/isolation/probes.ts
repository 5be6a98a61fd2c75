/** Requests and frames of every dialect with ids of another principal, generated from the descriptions. */
import { hasSocket, type SocketDialect } from '../../packages/server/src/describe/asyncapi.ts';
import type { Described } from '../../packages/server/src/describe/descriptions.ts';
import type {
  Endpoint,
  ExampleIds,
  MessageExample,
} from '../../packages/server/src/dialects/kit/description.ts';
import type { Ids } from './private-data.ts';

export type { SocketDialect } from '../../packages/server/src/describe/asyncapi.ts';

/** The dialects with sockets, by name. */
export type SocketDialects = Readonly<Record<string, SocketDialect>>;

export const socketDialectsOf = (descriptions: readonly Described[]): SocketDialects =>
  Object.fromEntries(descriptions.filter(hasSocket).map((dialect) => [dialect.name, dialect]));

/** Every HTTP endpoint, by method and path. */
export type Routes = Readonly<Record<string, Endpoint>>;

export const routesOf = (descriptions: readonly Described[]): Routes =>
  Object.fromEntries(
    descriptions.flatMap(({ endpoints }) =>
      endpoints.map((endpoint) => [`${endpoint.method.toUpperCase()} ${endpoint.path}`, endpoint]),
    ),
  );

export type Probe = { readonly path: string; readonly body?: object };

/** The examples of an endpoint as requests. */
export const probesOf = (endpoint: Endpoint, ids: Ids): Probe[] =>
  sessionsOf(ids, (one) => requests(endpoint, one, false));

/** Requests that create a session if there is none with that id. */
export const creatingProbesOf = (endpoint: Endpoint, ids: Ids): Probe[] =>
  requests(endpoint, exampleIds(ids), true);

function requests({ path, examples = () => [{}] }: Endpoint, ids: ExampleIds, creates: boolean): Probe[] {
  return examples(ids)
    .filter((example) => (example.creates ?? false) === creates)
    .map(({ params = {}, query, body }) => {
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(params[name] ?? 'none'),
      );
      return { path: query ? `${filled}?${new URLSearchParams(query)}` : filled, body };
    });
}

/** The examples of a message; `socket` is the id that the client received on connect. */
export function framesOf(
  { messages }: SocketDialect,
  type: string,
  ids: Ids & { readonly socket?: string },
): MessageExample[] {
  const examples = messages.in[type]?.examples;
  if (!examples) throw new Error(`there is no message ${type}`);
  return sessionsOf(ids, (one) => [...examples(one)]);
}

/** Whether an example of the message starts a turn in a session of the caller with the same id. */
export const startsTurn = (dialect: SocketDialect, type: string, ids: Ids): boolean =>
  framesOf(dialect, type, ids).some(({ endedBy }) => endedBy !== undefined);

/**
 * Examples for every session of the owner. Examples without a session, or that start a turn, use only the
 * first.
 */
function sessionsOf<Example extends object>(
  ids: Ids & { readonly socket?: string },
  examples: (ids: ExampleIds) => readonly Example[],
): Example[] {
  const about = (session: string) => examples({ ...exampleIds(ids), session });
  const first = about(ids.session);
  const text = first.map((example) => JSON.stringify(example));
  const named = about('another session').map((example, index) => JSON.stringify(example) !== text[index]);
  const others = [ids.copilot, ids.browser].flatMap((session) =>
    about(session).filter((example, index) => named[index] && !('endedBy' in example)),
  );
  return [...first, ...others];
}

export const exampleIds = (ids: Ids & { readonly socket?: string }): ExampleIds => ({
  socket: '1.1',
  input: ids.message,
  ...ids,
});
