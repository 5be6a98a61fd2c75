/** Links to a session for people without an account, and the page they open. */
import { Fault } from '@parlance/protocol';
import type { Share } from '@parlance/protocol/api';
import type { SharedSession } from '../../core/index.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { endpoint, sessionOf } from './context.ts';
import { documentOf, transcriptOf } from './transcript/fold.ts';
import { htmlOf, PAGE_POLICY, STYLE } from './transcript/html.ts';
import { timeView } from './views.ts';

/** Of all pages that are kept; what a link shows never changes. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** The page of a link: rendered once, also for concurrent requests, and kept while there is room. */
export function sharedPages(): (shared: SharedSession) => Promise<Uint8Array<ArrayBuffer>> {
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

export const shareEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/shares',
    summary: 'The links to this session',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: { 200: { description: 'In order of creation', schema: 'ShareList' } },
    errors: [401, 403, 404],
    async handle({ principal, params }, ctx) {
      const ref = await sessionOf(ctx, principal, params.id);
      return { shares: (await ctx.engine.shares(ref, principal)).map(shareView) };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/shares',
    summary: 'Creates a read-only link to this session as it is now, for everyone who has the link',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: { 201: { description: '`path` is the link; it is not shown again', schema: 'MadeShare' } },
    errors: [400, 401, 403, 404],
    async handle({ c, principal, params }, ctx) {
      const { engine, log, pageOf } = ctx;
      const { share, token } = await engine.share(await sessionOf(ctx, principal, params.id), principal);
      // So that the first reader does not wait.
      void engine
        .shared(token)
        .then(pageOf)
        .catch((cause) => log.warn({ err: cause }, 'failed to render a shared page in advance'));
      c.header('cache-control', 'no-store');
      return { ...shareView(share), path: `/shared/${token}` };
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}/shares/{share}',
    summary: 'Revokes a link',
    examples: ({ session, key }) => [{ params: { id: session, share: key } }],
    answers: { 204: { description: 'Revoked' } },
    errors: [401, 403, 404],
    handle: async ({ principal, params }, ctx) =>
      ctx.engine.unshare(await sessionOf(ctx, principal, params.id), principal, params.share),
  }),
  // Anyone with the link: the caller is not authenticated, and nothing else of the session is reachable from
  // here.
  endpoint({
    method: 'get',
    path: '/shared/{token}',
    summary: 'The page behind a link: the messages, without input and output of tools',
    security: 'nobody',
    examples: ({ key }) => [{ params: { token: key } }],
    answers: {
      200: { description: 'The messages', type: 'text/html' },
      404: { description: 'Unknown, revoked, or its session was archived', type: 'text/html' },
    },
    async handle({ c, params }, { engine, pageOf }) {
      try {
        return c.body(await pageOf(await engine.shared(params.token)), 200, PAGE_HEADERS);
      } catch (thrown) {
        if (!(thrown instanceof Fault) || thrown.code !== 'not_found') throw thrown;
        return c.body(GONE, 404, PAGE_HEADERS);
      }
    },
  }),
];

type ShareFields = { readonly id: string; readonly seq: number; readonly createdAt: number };

const shareView = ({ id, seq, createdAt }: ShareFields): Share => ({
  id,
  seq,
  createdAt: timeView(createdAt),
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
