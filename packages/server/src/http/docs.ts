/** The built documentation at `/docs`. */
import type { Hono } from 'hono';
import { builtFiles, IMMUTABLE, type Manifest, NO_SNIFFING } from './built-files.ts';

export function docsRoutes(app: Hono, folder: string): void {
  const files = builtFiles(folder);

  // The pattern also matches the path before it.
  app.get('/docs/*', async (c) => {
    if (c.req.path === '/docs') return c.redirect('/docs/', 308);
    const requested = decodedPath(c.req.path.slice('/docs/'.length));
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
    return new Response(UNBUILT, { status: 503, headers: headersOf({ files: {}, scripts: [] }) });
  });
}

/** The built pages that a source (`guides/tls.md`), a name without a suffix or a folder may mean. */
function pagesOf(path: string): readonly string[] {
  const name = path.replace(/\.(?:md|html)$/, '').replace(/(^|\/)README$/, '$1index');
  return [`${name}.html`, `${name}/index.html`];
}

/** Empty if the percent-encoding is invalid. */
function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
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

const UNBUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parlance</title>
<h1>The documentation is not built</h1>
<p>Run <code>npm run build:docs</code> in the folder of the server and load this page again, or read the files in
<code>docs/</code>.</p></html>
`;
