/** Connections on which nothing is sent are closed after a while, unless a slow answer is on its way. */
import type { Server } from 'bun';

const servers = new WeakMap<Request, Server<unknown>>();

export function rememberServer(request: Request, server: Server<unknown>): void {
  servers.set(request, server);
}

/** The connection of the request stays open until it is answered, however long that takes. */
export function mayStaySilent(request: Request): void {
  servers.get(request)?.timeout(request, 0);
}
