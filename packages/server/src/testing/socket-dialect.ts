/** Determines the dialect of a socket path, without starting a server. */
import { DIALECTS } from '../dialects/index.ts';
import { socketRouter } from '../dialects/kit/routes.ts';
import type { Connection, Socket } from '../http/connection.ts';

const served = DIALECTS.map((dialect) => ({ dialect, inbound: { open: () => ({}) as Connection } }));
const route = socketRouter(served);

/** The dialect opened at the path before the first frame; null if none. */
export function socketDialect(path: string, hasToken: boolean): string | null {
  const opened: string[] = [];
  const socket = { setDialect: (dialect: string) => void opened.push(dialect) } as unknown as Socket;
  route(new URL(path, 'http://127.0.0.1'), hasToken)?.open(socket);
  return opened[0] ?? null;
}
