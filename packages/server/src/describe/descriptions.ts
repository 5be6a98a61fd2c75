/** Descriptions of everything that the server serves: its dialects in index order, then the server itself. */
import { DIALECTS } from '../dialects/index.ts';
import type { Description, SocketDescription } from '../dialects/shared/description.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import { description as server } from './server.ts';
import { type SocketAddresses, socketAddresses } from './socket-addresses.ts';

export type Described = Omit<Description, 'socket'> & {
  readonly name: string;
  readonly socket?: DescribedSocket;
};

export type DescribedSocket = SocketDescription & SocketAddresses;

type Describable = Pick<Dialect, 'name' | 'listen' | 'describe'>;

export async function descriptionsOf(dialects: readonly Describable[]): Promise<readonly Described[]> {
  const described = await Promise.all(dialects.map((dialect) => describedBy(dialect, dialects)));
  return [...described.flat(), { name: 'server', ...server }];
}

async function describedBy(dialect: Describable, all: readonly Describable[]): Promise<Described[]> {
  if (!dialect.describe) return [];
  const { socket, ...description } = await dialect.describe();
  const { name } = dialect;
  if (!socket) return [{ name, ...description }];
  return [{ name, ...description, socket: { ...socket, ...socketAddresses(dialect, socket, all) } }];
}

export const DESCRIPTIONS: readonly Described[] = await descriptionsOf(DIALECTS);
