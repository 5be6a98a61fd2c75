/**
 * The server of a data folder without `parlance serve`: it runs in the first process that needs it. Others
 * reach it over a socket in the data folder, which only its user can open. When that process ends, one of the
 * others takes over.
 */

import { tokenFor } from './address.ts';
import { fetchOver, runningServer, shareServer, socketIn } from './running-server.ts';
import type { ServerLink } from './stdio/server-link.ts';

export type SharedOptions = {
  readonly folder: string;
  readonly isNamed: boolean;
  /** settings of an embedded server */
  readonly argv: readonly string[];
};

/** URL of requests; nothing listens there. */
export const SHARED_URL = 'http://localhost';

export class SharedServer {
  #link: ServerLink | null = null;
  #stopSharing: () => void = () => undefined;
  #starting: Promise<boolean> | null = null;

  constructor(private readonly options: SharedOptions) {}

  /** Whether the server runs in this process. */
  get isEmbedded(): boolean {
    return this.#link !== null;
  }

  /** Starts the server in this process. Rejects if it cannot run. */
  async start(): Promise<void> {
    const { openEmbeddedLink } = await import('./stdio/embedded-link.ts');
    this.#link = await openEmbeddedLink(this.options.argv);
    const link = this.#link;
    this.#stopSharing = shareServer(this.options.folder, null, (path, init) => link.fetch(path, init));
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (this.#link) return this.#link.fetch(url.slice(SHARED_URL.length), init);
    try {
      return await this.#remote(url, init);
    } catch (error) {
      if (init.signal?.aborted || !(await this.#takeOver()) || !isRefused(error)) throw error;
      return this.fetch(url, init);
    }
  };

  async close(graceMs: number): Promise<void> {
    this.#stopSharing();
    await this.#link?.close(graceMs);
  }

  /** Sends to the server in another process, which may be `parlance serve` now. */
  async #remote(url: string, init: RequestInit): Promise<Response> {
    const { folder, isNamed } = this.options;
    const server = runningServer(folder, isNamed);
    const headers = new Headers(init.headers);
    const token = server?.url ? tokenFor(server.url, {}) : null;
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    return fetchOver(socketIn(folder), url.slice(SHARED_URL.length), { ...init, headers });
  }

  /** True if the server now runs in this process. Another process may have been faster. */
  async #takeOver(): Promise<boolean> {
    const { folder, isNamed } = this.options;
    if (runningServer(folder, isNamed) !== null) return false;
    this.#starting ??= this.start().then(
      () => true,
      () => false,
    );
    const started = await this.#starting;
    this.#starting = null;
    return started;
  }
}

/** The connection was refused, so nothing was sent. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['ConnectionRefused', 'FailedToOpenSocket', 'ENOENT', 'ECONNREFUSED'].includes(String(error.code));
