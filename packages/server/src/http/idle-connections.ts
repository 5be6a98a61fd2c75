/** Closes idle connections, except while a slow response is pending. */
import type { Server } from 'bun';

const servers = new WeakMap<Request, Server<unknown>>();

export function rememberServer(request: Request, server: Server<unknown>): void {
  servers.set(request, server);
}

/** The listener that received the request; undefined inside of the process. */
export const serverOf = (request: Request): Server<unknown> | undefined => servers.get(request);

/** requests whose connection has no time limit until they are answered */
const silent = new WeakSet<Request>();

/** Keeps the connection of the request open until it is answered, however long that takes. */
export function mayStaySilent(request: Request): void {
  silent.add(request);
  servers.get(request)?.timeout(request, 0);
}

/** The request is answered: a client that does not read the response is disconnected again. */
export function mustRead(request: Request, idleSeconds: number): void {
  if (silent.has(request)) servers.get(request)?.timeout(request, idleSeconds);
}
