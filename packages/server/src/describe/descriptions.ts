/** Descriptions of everything that the server serves: its dialects in index order, then the server itself. */
import { DIALECTS } from '../dialects/index.ts';
import type { Description, Endpoint, ExampleIds, SocketDescription } from '../dialects/kit/description.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import { type SocketRoute, socketRoutes } from '../dialects/kit/dialect.ts';
import { describedEndpoints } from '../dialects/kit/endpoint.ts';
import { description as server } from './server.ts';

// The socket addresses of a dialect as text, derived from the `listen` entries.

type Listening = Pick<Dialect, 'name' | 'listen'>;

/** `/app/{key}`, and when the dialect is served there; null: always. */
type SocketAddress = { readonly address: string; readonly condition: string | null };

type SocketAddresses = {
  /** the path that only this dialect uses, with `{name}` for each parameter */
  readonly address: string;
  readonly others: readonly SocketAddress[];
  /** the handshake carries no token and no session */
  readonly anonymous: boolean;
  /** path and query of a connection for these ids */
  connect(ids: ExampleIds): string;
};

/** Throws if the dialect describes a socket that it does not listen for. */
function socketAddresses(
  dialect: Listening,
  { params = {}, query = {} }: SocketDescription,
  all: readonly Listening[],
): SocketAddresses {
  const [own, ...others] = socketRoutes(dialect.listen).filter(({ refuse }) => refuse === undefined);
  if (!own) throw new Error(`${dialect.name} describes a socket but has no address for it`);
  const anonymous = own.anonymous ?? false;
  const path = own.ws.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? name));
  return {
    address: addressOf(own),
    others: others.map((route) => ({
      address: addressOf(route),
      condition: conditionOf(route, dialect, all),
    })),
    anonymous,
    connect({ session }) {
      const search = new URLSearchParams({ ...(anonymous ? {} : { session }), ...query }).toString();
      return search === '' ? path : `${path}?${search}`;
    },
  };
}

const addressOf = ({ ws }: SocketRoute): string => ws.replace(/:(\w+)/g, '{$1}');

function conditionOf(route: SocketRoute, dialect: Listening, all: readonly Listening[]): string | null {
  if (route.when) return route.when.token ? 'with a token' : 'without a token';
  if (route.firstFrame) return 'if the first frame is one of this dialect';
  const names = all
    .filter((other) => other.name !== dialect.name && detectedAt(route.ws, other))
    .map(({ name }) => name);
  return names.length === 0 ? null : `unless the first frame is one of ${names.join(' or ')}`;
}

const detectedAt = (path: string, { listen }: Listening): boolean =>
  socketRoutes(listen).some(({ ws, firstFrame }) => ws === path && firstFrame !== undefined);

export type Described = Omit<Description, 'errors' | 'schemas' | 'socket'> & {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly socket?: DescribedSocket;
};

export type DescribedSocket = SocketDescription & SocketAddresses;

type Describable = Pick<Dialect, 'name' | 'listen' | 'describe' | 'rest'>;

export async function descriptionsOf(dialects: readonly Describable[]): Promise<readonly Described[]> {
  const described = await Promise.all(dialects.map((dialect) => describedBy(dialect, dialects)));
  return [...described.flat(), { name: 'server', ...server }];
}

async function describedBy(dialect: Describable, all: readonly Describable[]): Promise<Described[]> {
  if (!dialect.describe) return [];
  const { socket, schemas, errors, ...description } = await dialect.describe();
  const { name, rest } = dialect;
  const endpoints = describedEndpoints(rest?.endpoints ?? [], { schemas, errors });
  const described = { name, ...description, endpoints };
  if (!socket) return [described];
  return [{ ...described, socket: { ...socket, ...socketAddresses(dialect, socket, all) } }];
}

export const DESCRIPTIONS: readonly Described[] = await descriptionsOf(DIALECTS);
