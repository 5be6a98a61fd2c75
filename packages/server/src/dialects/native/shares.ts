/** Links to a session for people without an account, and the page they open. */
import { Fault } from '@parlance/protocol';
import type { Hono } from 'hono';
import { requestLimit } from '../shared/request-limit.ts';
import type { Context } from './context.ts';
import { sessionOf } from './requests.ts';
import { entriesOf } from './transcript/fold.ts';
import { htmlOf, PAGE_POLICY } from './transcript/html.ts';
import { STYLE } from './transcript/style.ts';

export function shareRoutes(api: Hono, ctx: Context): void {
  const { engine } = ctx;
  api.use('/shared/*', requestLimit(ctx));

  api.get('/v1/sessions/:id/shares', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    return c.json({ shares: (await engine.shares(ref, principal)).map(shareView) });
  });

  api.post('/v1/sessions/:id/shares', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    const { share, token } = await engine.share(ref, principal);
    c.header('cache-control', 'no-store');
    return c.json({ ...shareView(share), path: `/shared/${token}` }, 201);
  });

  api.delete('/v1/sessions/:id/shares/:share', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    await engine.unshare(ref, principal, c.req.param('share'));
    return c.body(null, 204);
  });

  // Anyone with the link: the caller is not authenticated, and nothing else of the session is reachable from
  // here.
  api.get('/shared/:token', async (c) => {
    try {
      const { record, events } = await engine.shared(c.req.param('token'));
      const document = documentOf(record, await entriesOf(events));
      return c.body(htmlOf(document, { shared: true }), 200, PAGE_HEADERS);
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== 'not_found') throw thrown;
      return c.body(GONE, 404, PAGE_HEADERS);
    }
  });
}

type ShareFields = { readonly id: string; readonly seq: number; readonly createdAt: number };

const shareView = ({ id, seq, createdAt }: ShareFields) => ({
  id,
  seq,
  createdAt: new Date(createdAt).toISOString(),
});

type SharedTitle = { readonly title: string; readonly createdAt: number };

export const documentOf = (
  { title, createdAt }: SharedTitle,
  entries: Awaited<ReturnType<typeof entriesOf>>,
) => ({
  title: title || 'Untitled',
  agent: 'Assistant',
  createdAt,
  entries,
});

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `${PAGE_POLICY}; frame-ancestors 'none'`,
  'x-robots-tag': 'noindex, nofollow',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'private, no-store',
};

const GONE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Link not found</title><style>${STYLE}</style></head>
<body><main><h1>Link not found</h1><p>It was revoked, the conversation was deleted, or the address is wrong.</p></main></body></html>
`;
