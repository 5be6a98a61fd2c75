/** A local site for tests, and a tool that may reach it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { textOf } from '@parlance/protocol';
import { type FetchOptions, fetchPage } from '../../tools/fetch/tool.ts';
import { until } from '../until.ts';
import { contextIn, faultOf, use } from './tool-context.ts';

export type Site = AsyncDisposable & {
  readonly port: number;
  /** method, path and host of every request */
  readonly requests: string[];
  /** number of open connections */
  connections(): Promise<number>;
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function openSite(answer: Answer, tls?: { key: string; cert: string }): Promise<Site> {
  const requests: string[] = [];
  const listener: Answer = (request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.host}`);
    response.on('error', () => response.destroy());
    answer(request, response);
  };
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Every name resolves to the site; only the site is reachable. */
export const towardsSite: FetchOptions = {
  resolve: async () => ['127.0.0.1'],
  allow: (address) => address === '127.0.0.1',
};

export type Page = {
  type?: string;
  body?: string | Uint8Array;
  status?: number;
  headers?: Record<string, string>;
};

export const serving = (pages: Record<string, Page>) =>
  openSite((request, response) => {
    const {
      status = 200,
      type = 'text/plain',
      body = '',
      headers,
    } = pages[request.url ?? ''] ?? { status: 404 };
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  });

export const get = (
  site: Site,
  path: string,
  { host = 'site.test', signal, ...options }: FetchOptions & { host?: string; signal?: AbortSignal } = {},
) =>
  use(
    fetchPage({ ...towardsSite, ...options }),
    { url: `http://${host}:${site.port}${path}` },
    contextIn('/', signal ? { signal } : {}),
  );

export const textAt = async (site: Site, path: string) => textOf((await get(site, path)).parts);
export const faultAt = async (...request: Parameters<typeof get>) => (await faultOf(get(...request))).message;

export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  await until(holds);
}
