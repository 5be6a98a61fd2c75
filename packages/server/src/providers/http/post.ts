/**
 * A request to a model, over HTTP/1.1 on the event loop itself. `fetch` reads on a thread of its own and hands every piece
 * over, which is a third of what a bare relay costs per token (docs/decisions/0007). Behind a proxy it is `fetch` that
 * asks: it knows them.
 */
import { bodyOf } from './body.ts';
import type { HttpAnswer, Origin } from './connection.ts';
import { Connections } from './connections.ts';
import { HttpError } from './error.ts';

export type Posted = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Whoever asks: a connection does not care for whom it is used again. */
const connections = new Connections();

/** Redirects are not followed. Throws where there is no answer, and when the signal is aborted. */
export async function post(posted: Posted, signal: AbortSignal): Promise<HttpAnswer> {
  const url = addressOf(posted.url);
  return proxied(url)
    ? postByFetch(posted, signal)
    : connections.ask(originOf(url), written(url, posted), signal);
}

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new HttpError('BAD_ADDRESS', 'The address is not one of HTTP.');
}

function originOf({ protocol, hostname, port }: URL): Origin {
  const secure = protocol === 'https:';
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (secure ? 443 : 80), secure };
}

function written(url: URL, { headers, body }: Posted): string {
  // `Headers` refuses what would not stay on its line.
  const fields = new Headers({
    host: url.host,
    'user-agent': 'Parlance',
    'accept-encoding': 'identity',
  });
  for (const [name, value] of Object.entries(headers)) fields.set(name, value);
  fields.set('content-length', String(Buffer.byteLength(body)));
  if ((url.username || url.password) && !fields.has('authorization')) fields.set('authorization', basic(url));
  const lines = [...fields].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines}\r\n${body}`;
}

const basic = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;

const proxied = ({ protocol }: URL): boolean => {
  const name = protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  return Boolean(process.env[name] || process.env[name.toUpperCase()]);
};

async function postByFetch({ url, headers, body }: Posted, signal: AbortSignal): Promise<HttpAnswer> {
  // `timeout`: whoever asks counts the time.
  const answer = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal,
    redirect: 'manual',
    timeout: false,
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: bodyOf(answer.body),
  };
}
