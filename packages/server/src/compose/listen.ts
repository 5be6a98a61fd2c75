/** Opens a listener, or throws an error that names the setting to change. */
import type { Server } from 'bun';
import { type ListenOptions, listen } from '../http/listener.ts';

/** `dialect` is that of an extra listener, or null for the default one. Throws if the port is in use. */
export function listenOrExplain(dialect: string | null, listening: ListenOptions): Server<unknown> {
  try {
    return listen(listening);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE')) throw thrown;
    const { hostname, port } = listening;
    const setting = dialect === null ? '--port PORT' : `--listen ${dialect}=PORT`;
    throw new Error(`port ${port} on ${hostname} is in use: choose another with ${setting}`, {
      cause: thrown,
    });
  }
}
