/** Closes idle connections, except while a slow response is pending. */
import type { Server } from 'bun';

const servers = new WeakMap<Request, Server<unknown>>();

export function rememberServer(request: Request, server: Server<unknown>): void {
  servers.set(request, server);
}

/** The listener that received the request; undefined inside of the process. */
export const serverOf = (request: Request): Server<unknown> | undefined => servers.get(request);

/** Keeps the connection of the request open until it is answered, however long that takes. */
export function mayStaySilent(request: Request): void {
  servers.get(request)?.timeout(request, 0);
}
