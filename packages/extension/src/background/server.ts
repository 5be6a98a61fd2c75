/** Requests to the paired server. */
import type { Connection, Paired } from '../shared/records.ts';
import { connection } from '../shared/storage.ts';

/** `retry`: the server may answer later. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  constructor(
    message: string,
    readonly retry: boolean,
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

const NOT_PAIRED = 'The extension is not paired with a server. Open the side panel to pair it.';

export async function pairedNow(): Promise<Paired> {
  const now = await connection.get();
  if (now.status !== 'paired') throw new ServerError(NOT_PAIRED, false);
  return now;
}

export type Call = {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/** Throws a `ServerError`, or the reason of the signal. */
export async function ask<Answer>({ method, path, body, headers, signal }: Call): Promise<Answer> {
  const { url, token } = await pairedNow();
  let response: Response;
  try {
    response = await fetch(url + path, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
      signal,
    });
  } catch {
    signal?.throwIfAborted();
    throw new ServerError(`Cannot reach the server at ${url}. Is it running?`, true);
  }
  if (response.ok) return (await readJson(response, signal)) as Answer;
  if (response.status === 401 || response.status === 403) await checkPairing(url, token);
  throw await refusal(response);
}

async function readJson(response: Response, signal?: AbortSignal): Promise<unknown> {
  try {
    return response.status === 204 ? null : await response.json();
  } catch {
    signal?.throwIfAborted();
    throw new ServerError('The connection to the server was lost.', true);
  }
}

async function refusal(response: Response): Promise<ServerError> {
  const { status, headers } = response;
  const body = (await response.json().catch(() => null)) as { message?: unknown; detail?: unknown } | null;
  const text = body?.message ?? body?.detail;
  const waitMs = 1_000 * Number(headers.get('retry-after') ?? 0) || 0;
  const retry = status === 429 || status === 502 || status === 503 || status === 504;
  return new ServerError(typeof text === 'string' ? text : `The server answered ${status}.`, retry, waitMs);
}

/** A token that is refused was revoked, unless the server says that it is still paired. */
export async function checkPairing(url: string, token: string): Promise<void> {
  const response = await fetch(`${url}/v1/pairings/own`, {
    headers: { authorization: `Bearer ${token}` },
  }).catch(() => null);
  if (response?.status !== 404 && response?.status !== 401) return;
  await connection.change((now: Connection) =>
    now.status === 'paired' && now.token === token ? { status: 'revoked', url } : now,
  );
}
