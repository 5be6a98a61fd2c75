/** The built console of `packages/web`. */
import type { Hono } from 'hono';
import { coversHost, isPublicOrigin } from '../lib/public-origin.ts';
import { builtFiles, IMMUTABLE, type Manifest, NO_SNIFFING } from './built-files.ts';

export function consoleRoutes(app: Hono, folder: string): void {
  const files = builtFiles(folder);
  const file = (path: string, request: Request, keep: string): Promise<Response | null> =>
    files({
      path,
      request,
      headers: (manifest) => ({ ...headersOf(path, request, manifest), 'cache-control': keep }),
    });

  app.get('/', async ({ req: { raw } }) => {
    const served = await file('index.html', raw, 'no-cache');
    return served ?? new Response(UNBUILT, { status: 503, headers: pageHeaders(raw) });
  });

  app.get('/assets/:file', async (c) => {
    const served = await file(`assets/${c.req.param('file')}`, c.req.raw, IMMUTABLE);
    return served ?? c.json(NOT_FOUND, 404);
  });

  // Asked for again on every visit, so that a new build replaces it.
  app.get('/service-worker.js', async (c) => {
    const served = await file('service-worker.js', c.req.raw, 'no-cache');
    return served ?? c.json(NOT_FOUND, 404);
  });
}

const NOT_FOUND = { error: 'Not found', detail: 'Not found' };

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

function headersOf(path: string, request: Request, { scripts }: Manifest): Record<string, string> {
  if (path === 'index.html') return pageHeaders(request);
  if (path === 'service-worker.js') return { ...NO_SNIFFING, 'content-security-policy': WORKER_POLICY };
  if (path.startsWith('assets/document-worker-'))
    return { ...NO_SNIFFING, 'content-security-policy': READER_POLICY };
  if (!path.endsWith('.html')) return NO_SNIFFING;
  if (path.startsWith('assets/preview-'))
    return { ...NO_SNIFFING, 'content-security-policy': previewPolicy(request) };
  const policy = [
    ...FRAME_POLICY,
    `script-src ${scripts.map((hash) => `'sha256-${hash}'`).join(' ') || "'none'"}`,
  ].join('; ');
  return { ...NO_SNIFFING, 'content-security-policy': policy };
}

/** It fetches the files of the console, and loads no scripts. */
const WORKER_POLICY = "default-src 'none'; connect-src 'self'";

/**
 * Policy for what a model or an MCP server has written: its scripts and styles run with an opaque origin, and reach nothing.
 * The query may name public origins: to send requests to (`connect`), and to load files from (`load`).
 */
function previewPolicy({ url }: Request): string {
  const { searchParams, host } = new URL(url);
  const named = (name: string): string =>
    searchParams
      .getAll(name)
      .slice(0, MAX_ORIGINS)
      .filter((origin) => isPublicOrigin(origin) && !coversHost(origin, host))
      .map((origin) => ` ${origin}`)
      .join('');
  const [connect, load] = [named('connect'), named('load')];
  return [
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src 'unsafe-inline'${load}`,
    `style-src 'unsafe-inline'${load}`,
    `img-src data: blob:${load}`,
    `font-src data:${load}`,
    `media-src data: blob:${load}`,
    ...(connect === '' ? [] : [`connect-src${connect}`]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

const MAX_ORIGINS = 20;

/** It reads documents from anywhere: it can load and send nothing. */
const READER_POLICY = "default-src 'none'";

/** Policy for frames that render model output: an opaque origin that cannot load or send anything. */
const FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
];

/**
 * Not all browsers include our own sockets in `'self'`, so name them. The Host header has been checked
 * before.
 */
function pageHeaders(request: Request): Record<string, string> {
  const { host } = new URL(request.url);
  return {
    ...NO_SNIFFING,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [...POLICY, `connect-src 'self' ws://${host} wss://${host}`].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  };
}

const UNBUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parlance</title>
<h1>The console is not built</h1>
<p>The server is running, and every client can use it. To see the console here, run <code>npm run build</code>
in its folder and load this page again.</p></html>
`;
