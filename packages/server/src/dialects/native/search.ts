/** Full-text search over the messages of the caller's sessions. */
import { type FoundPage, SearchQuery } from '@parlance/protocol/api';
import type { Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import type { Context } from './context.ts';
import { checked, type Sent } from './requests.ts';

export function searchRoutes(api: Hono, { engine, authenticator }: Context): void {
  api.get('/v1/search', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const { q: text, ...page } = checked(SearchQuery, c.req.query());
    const { messages, next, complete } = await engine.search(principal, { text, ...page });
    return c.json({
      messages: messages.map(({ ref, title, archived, seq, at, from, excerpt }) => ({
        session: ref.id,
        title,
        archived,
        seq,
        at: new Date(at).toISOString(),
        from,
        excerpt,
      })),
      next,
      complete,
    } satisfies Sent<FoundPage>);
  });
}
