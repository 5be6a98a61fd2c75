/** Serves the test pages on loopback. The same server under another name is another origin. */
import { join } from 'node:path';

export type Site = {
  readonly url: string;
  /** what pages reported with `/api/log` */
  readonly events: string[];
  stop(): void;
};

const PAGES = join(import.meta.dir, 'pages');
const ITEMS = Array.from({ length: 60 }, (_, index) => `Story ${index + 1}`);

export function serveSite(): Site {
  const events: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, searchParams, port } = new URL(request.url);
      switch (pathname) {
        case '/api/items': {
          const from = Number(searchParams.get('from'));
          return Response.json(ITEMS.slice(from, from + 10));
        }
        case '/api/slow':
          await Bun.sleep(Math.min(5_000, Number(searchParams.get('ms'))));
          return Response.json({ text: 'Sales rose by 12 percent.' });
        case '/api/log':
          events.push(searchParams.get('event') ?? '');
          return new Response(null, { status: 204 });
        case '/react.js':
          return new Response(await reactPage(), { headers: { 'content-type': 'text/javascript' } });
        default:
          return await page(pathname, port);
      }
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, events, stop: () => void server.stop(true) };
}

async function page(pathname: string, port: string): Promise<Response> {
  const name = /^\/([a-z-]+\.html)$/.exec(pathname)?.[1];
  const file = Bun.file(join(PAGES, name ?? 'missing'));
  if (!name || !(await file.exists())) return new Response('Not found', { status: 404 });
  const html = (await file.text()).replaceAll('OTHER_ORIGIN', `http://localhost:${port}`);
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

let built: Promise<string> | null = null;

function reactPage(): Promise<string> {
  built ??= Bun.build({
    entrypoints: [join(import.meta.dir, 'pages/react.tsx')],
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
  }).then(({ outputs: [output] }) => output?.text() ?? '');
  return built;
}
