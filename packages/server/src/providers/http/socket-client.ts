/**
 * HTTP/1.1 client over sockets of the event loop. `fetch` reads on another thread and passes on every piece, which is a
 * third of the cost of a bare relay per token (docs/decisions/0014). Behind a proxy `fetch` is used.
 */
import { fetchClient, type HttpClient, type HttpRequest } from './client.ts';
import type { Origin } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { HttpError } from './error.ts';

/** Connection pool shared by all providers. */
const connections = new ConnectionPool();

export const socketClient: HttpClient = async (request, signal) => {
  const url = addressOf(request.url);
  return proxied(url)
    ? fetchClient(request, signal)
    : connections.ask(originOf(url), written(url, request), signal);
};

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new HttpError('BAD_ADDRESS', 'The address is not an HTTP URL.');
}

function originOf({ protocol, hostname, port }: URL): Origin {
  const secure = protocol === 'https:';
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (secure ? 443 : 80), secure };
}

function written(url: URL, { headers, body }: HttpRequest): string {
  // `Headers` refuses line breaks in values.
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
