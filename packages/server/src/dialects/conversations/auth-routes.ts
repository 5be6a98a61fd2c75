/** Login, logout and the caller's own account. */
import { Fault } from '@parlance/protocol';
import type { Context, Hono } from 'hono';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { body } from './request-body.ts';
import { Credentials } from './schemas.ts';

export function authRoutes(
  api: Hono,
  ctx: Pick<DialectContext, 'addressOf' | 'authenticator' | 'readBody'>,
): void {
  const { authenticator, readBody } = ctx;

  api.post('/auth/login', async (c) => {
    const { username, password } = await body(readBody(c.req.raw, 'anonymous'), Credentials);
    const { token, principal } = await authenticator.login(username, password, ctx.addressOf(c.req.raw));
    return c.json({ access_token: token, token_type: 'bearer', role: principal.role });
  });

  /** Revokes the token: its connections are closed. */
  api.post('/auth/logout', async (c) => {
    await authenticator.revoke(shownToken(c));
    return c.body(null, 204);
  });

  api.get('/auth/me', async (c) => {
    shownToken(c);
    const { id, role, permissions } = await principalOf(authenticator, c.req.raw);
    return c.json({ sub: id, role, perms: permissions });
  });
}

/** Throws `unauthenticated` without a token, even in open mode: `local` has not logged in. */
function shownToken(c: Context): string {
  const token = tokenOf(c.req.raw);
  if (token === null) throw new Fault('unauthenticated', 'A token is required.');
  return token;
}
