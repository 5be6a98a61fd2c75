/** API keys: users manage their own, admins manage all. */
import { Fault, type Principal } from '@parlance/protocol';
import { type ApiKey, type ApiKeyList, type MadeApiKey, NewApiKey } from '@parlance/protocol/api';
import type { Hono } from 'hono';
import type { ApiKeyView } from '../../http/api-keys.ts';
import { API_KEY_PREFIX, isApiKey, principalOf, tokenOf } from '../../http/request-identity.ts';
import { requestLimit } from '../kit/request-limit.ts';
import type { Context } from './context.ts';
import { body, checked, type Sent } from './requests.ts';

export function apiKeyRoutes(api: Hono, ctx: Context): void {
  const apiKeys = () => ctx.administration.apiKeys;
  // A pattern ending in `/*` also matches the path without it.
  api.use('/v1/keys/*', requestLimit(ctx));

  /** Requires a login: a key must not create keys that outlive it or grant more, and `local` is not a user. */
  async function caller(request: Request): Promise<Principal> {
    const principal = await principalOf(ctx.authenticator, request);
    const token = tokenOf(request);
    if (token === null) throw new Fault('forbidden', 'API keys belong to users: log in.');
    if (isApiKey(token)) throw new Fault('forbidden', 'An API key cannot manage API keys: log in.');
    return principal;
  }

  api.get('/v1/keys', async (c) => {
    const { id } = await caller(c.req.raw);
    return c.json({ keys: (await apiKeys().list(id)).map(keyView) } satisfies Sent<ApiKeyList>);
  });

  api.post('/v1/keys', async (c) => {
    const { id } = await caller(c.req.raw);
    const { expiresAt, ...wanted } = checked(NewApiKey, await body(ctx, c.req.raw));
    const until = expiresAt === undefined ? undefined : Date.parse(expiresAt);
    const { key, ...view } = await apiKeys().add(id, { ...wanted, expiresAt: until });
    c.header('cache-control', 'no-store');
    return c.json({ ...keyView(view), key } satisfies Sent<MadeApiKey>, 201);
  });

  /** A key may revoke itself: this is how a client with a stored key signs out. */
  api.delete('/v1/keys/:id', async (c) => {
    const key = c.req.param('id');
    const isOwn = tokenOf(c.req.raw)?.startsWith(`${API_KEY_PREFIX}${key}_`);
    const { id, role } = isOwn ? await principalOf(ctx.authenticator, c.req.raw) : await caller(c.req.raw);
    await apiKeys().revoke(key, role === 'admin' ? undefined : id);
    return c.body(null, 204);
  });

  api.get('/v1/admin/keys', async (c) => {
    const { role } = await caller(c.req.raw);
    if (role !== 'admin') throw new Fault('forbidden', 'Only an admin may see the API keys of others.');
    return c.json({ keys: (await apiKeys().list()).map(keyView) } satisfies Sent<ApiKeyList>);
  });
}

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const keyView = ({ createdAt, expiresAt, lastUsedAt, ...key }: ApiKeyView): Sent<ApiKey> => ({
  ...key,
  createdAt: new Date(createdAt).toISOString(),
  expiresAt: time(expiresAt),
  lastUsedAt: time(lastUsedAt),
});
