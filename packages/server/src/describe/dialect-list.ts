/** The public list of a server's dialects, built from their descriptions. */
import { EXAMPLE_IDS, type LearnedId } from '../dialects/shared/description.ts';
import type { DialectList, DialectView } from '../dialects/shared/dialect-list.ts';
import { httpRoutes, socketRoutes } from '../dialects/shared/listen.ts';
import type { ServedDialect } from '../dialects/shared/routes.ts';
import { type Described, descriptionsOf } from './descriptions.ts';
import { playedMessages } from './played-messages.ts';
import { snippetsOf } from './snippets.ts';

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
