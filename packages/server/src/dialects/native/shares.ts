/** Links to a session for people without an account, and the page they open. */
import { Fault } from '@parlance/protocol';
import type { MadeShare, Share, ShareList } from '@parlance/protocol/api';
import type { Hono } from 'hono';
import type { SharedSession } from '../../core/index.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { requestLimit } from '../kit/request-limit.ts';
import type { Context } from './context.ts';
import { sessionOf } from './requests.ts';
import { transcriptOf } from './transcript/fold.ts';
import { htmlOf, PAGE_POLICY } from './transcript/html.ts';
import { documentOf } from './transcript/markdown.ts';
import { STYLE } from './transcript/style.ts';

/** Of all pages that are kept; what a link shows never changes. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** The page of a link: rendered once, also for concurrent requests, and kept while there is room. */
function sharedPages(): (shared: SharedSession) => Promise<Uint8Array<ArrayBuffer>> {
  const kept = new LruMap<Uint8Array<ArrayBuffer>>(KEPT_BYTES, ({ byteLength }) => byteLength);
  const started = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

  async function render({ share, record, events }: SharedSession): Promise<Uint8Array<ArrayBuffer>> {
    const html = await htmlOf(documentOf(record, await transcriptOf(events)), { shared: true });
    const page = new TextEncoder().encode(html);
    kept.set(share.id, page);
    return page;
  }

  return (shared) => {
    const { id } = shared.share;
    const page = kept.get(id);
    if (page) return Promise.resolve(page);
    const rendering = started.get(id) ?? render(shared).finally(() => started.delete(id));
    started.set(id, rendering);
    return rendering;
  };
}

export function shareRoutes(api: Hono, ctx: Context): void {
  const { engine, log } = ctx;
  const pageOf = sharedPages();
  api.use('/shared/*', requestLimit(ctx));

  api.get('/v1/sessions/:id/shares', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    return c.json({ shares: (await engine.shares(ref, principal)).map(shareView) } satisfies ShareList);
  });

  api.post('/v1/sessions/:id/shares', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    const { share, token } = await engine.share(ref, principal);
    // So that the first reader does not wait.
    void engine
      .shared(token)
      .then(pageOf)
      .catch((cause) => log.warn({ err: cause }, 'failed to render a shared page in advance'));
    c.header('cache-control', 'no-store');
    return c.json({ ...shareView(share), path: `/shared/${token}` } satisfies MadeShare, 201);
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
      return c.body(await pageOf(await engine.shared(c.req.param('token'))), 200, PAGE_HEADERS);
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== 'not_found') throw thrown;
      return c.body(GONE, 404, PAGE_HEADERS);
    }
  });
}

type ShareFields = { readonly id: string; readonly seq: number; readonly createdAt: number };

const shareView = ({ id, seq, createdAt }: ShareFields): Share => ({
  id,
  seq,
  createdAt: new Date(createdAt).toISOString(),
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
