/** Asks the server for a pairing, and waits until somebody has allowed it. */
import { connect, ParlanceError } from '@parlance/sdk';
import type { Connection, Paired } from '../../shared/connection.ts';
import { connection } from '../../shared/storage.ts';

const NAME = 'Parlance extension';

/** Throws a `ParlanceError`. */
export async function requestPairing(url: string): Promise<void> {
  const platform = await chrome.runtime.getPlatformInfo();
  const request = await connect({ url, attempts: 1, timeoutMs: 5_000 }).pairings.request(
    `${NAME} (${browserName()}, ${platform.os})`,
  );
  await connection.set({ status: 'waiting', url, ...request });
}

function browserName(): string {
  return /Edg\//.test(navigator.userAgent) ? 'Edge' : /OPR\//.test(navigator.userAgent) ? 'Opera' : 'Chrome';
}

/** Looks once. A code that was denied or has expired ends the request. Throws a `ParlanceError` if the server is away. */
export async function pollPairing(now: Extract<Connection, { status: 'waiting' }>): Promise<void> {
  const { url, token } = now;
  try {
    const own = await connect({ url, token, attempts: 1, timeoutMs: 5_000 }).pairings.own();
    if (own.status === 'allowed') await connection.set({ status: 'paired', url, token, owner: own.owner });
  } catch (thrown) {
    if (thrown instanceof ParlanceError && thrown.code === 'not_found')
      await connection.set({ status: 'none', url });
    else throw thrown;
  }
}

/** The server forgets the token; the extension does so even if the server is away. */
export async function endPairing({ url, token }: Pick<Paired, 'url' | 'token'>): Promise<void> {
  await connection.set({ status: 'none', url });
  await connect({ url, token, attempts: 1, timeoutMs: 5_000 })
    .pairings.end()
    .catch((thrown) => {
      if (!(thrown instanceof ParlanceError)) throw thrown;
    });
}
