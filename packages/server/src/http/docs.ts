/** The documentation at `/docs`. Releases contain it; a clone builds it when it is first asked for. */

import { existsSync } from 'node:fs';
import { decodedUri } from '@parlance/protocol';
import type { Hono } from 'hono';
import type { Log } from '../core/index.ts';
import { builtFiles, IMMUTABLE, type Manifest, NO_SNIFFING } from './built-files.ts';

/** `builder` is the script that builds the folder, in a clone. */
export function docsRoutes(app: Hono, folder: string, builder: string, log: Log): void {
  const files = builtFiles(folder);
  const unbuilt = buildOnce(builder, log);

  // The pattern also matches the path before it.
  app.get('/docs/*', async (c) => {
    if (c.req.path === '/docs') return c.redirect('/docs/', 308);
    const requested = decodedUri(c.req.path.slice('/docs/'.length)) ?? '';
    const path = requested === '' || requested.endsWith('/') ? `${requested}index.html` : requested;
    const request = c.req.raw;
    const keep = path.startsWith('assets/') ? IMMUTABLE : 'no-cache';
    const headers = (manifest: Manifest) => ({ ...headersOf(manifest), 'cache-control': keep });
    const served = await files({ path, request, headers });
    if (served) return served;
    for (const page of pagesOf(path))
      if (await files({ path: page, request, headers })) return c.redirect(`/docs/${encodeURI(page)}`, 308);
    const missing = await files({ path: '404.html', request: new Request(request.url), headers });
    if (missing) return new Response(missing.body, { status: 404, headers: missing.headers });
    return new Response(unbuilt(), {
      status: 503,
      headers: { ...headersOf({ files: {}, scripts: [] }), 'cache-control': 'no-store' },
    });
  });
}

/** What the builder needs of the environment, which has keys of models as well. */
const BUILD_VARIABLES = /^(?:PATH|HOME|TMPDIR|(?:https?|no)_proxy|npm_config_.*|NODE_EXTRA_CA_CERTS)$/i;

/** Starts the builder at the first call. Returns the page to show until there is a documentation. */
function buildOnce(builder: string, log: Log): () => string {
  let page: string | null = null;
  async function build(): Promise<void> {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => BUILD_VARIABLES.test(name)),
    );
    const child = Bun.spawn([process.execPath, builder], {
      env,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const [problem, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    page = UNBUILT;
    if (code !== 0) log.warn({ problem: problem.slice(-1_000) }, 'failed to build the documentation');
  }
  return () => {
    if (page !== null) return page;
    page = existsSync(builder) ? BUILDING : UNBUILT;
    if (page === BUILDING) void build();
    return page;
  };
}

/** The built pages that a source (`guides/tls.md`), a name without a suffix or a folder may mean. */
function pagesOf(path: string): readonly string[] {
  const name = path.replace(/\.(?:md|html)$/, '').replace(/(^|\/)README$/, '$1index');
  return [`${name}.html`, `${name}/index.html`];
}

/**
 * The generator writes code colours as inline styles, and small inline scripts, which are allowed by hash.
 */
const headersOf = ({ scripts }: Manifest): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'self'${scripts.map((hash) => ` 'sha256-${hash}'`).join('')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  ...NO_SNIFFING,
  'cross-origin-opener-policy': 'same-origin',
});

const BUILDING = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parlance</title>
<meta http-equiv="refresh" content="2">
<h1>The documentation is being built</h1>
<p>This is done once, and takes about half a minute. The page appears by itself.</p></html>
`;

const UNBUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parlance</title>
<h1>The documentation is not built</h1>
<p>Run <code>npm run build:docs</code> in the folder of the server and load this page again, or read the files in
<code>docs/</code>.</p></html>
`;
