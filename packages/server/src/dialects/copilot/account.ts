/** The account endpoints of `copilot`: login, preferences, and knowledge about a site. */
import { asFault, type Principal } from '@parlance/protocol';
import { Hono, type Context as RequestContext } from 'hono';
import type { Context } from './context.ts';
import { checked, checkedBody, principalOf, shownToken } from './envelope.ts';
import { errorAnswer, errorBody } from './faults.ts';
import { addressOf, rootDomain } from './root-domain.ts';
import { KnowledgeQuery, LoginBody, Preferences } from './schemas.ts';

type AccountContext = Pick<
  Context,
  'addressOf' | 'authenticator' | 'log' | 'now' | 'preferences' | 'readBody'
>;

export function accountRoutes(app: Hono, ctx: AccountContext): void {
  const { authenticator, preferences, readBody } = ctx;
  const api = new Hono();
  api.onError(errorAnswer(ctx));
  const caller = (c: RequestContext) => principalOf(authenticator, c.req.raw);

  api.post('/v1/auth/login', async (c) => {
    const { email, password } = await checkedBody(LoginBody, readBody(c.req.raw, 'anonymous'));
    try {
      const { token, expiresAt, principal } = await authenticator.login(
        email,
        password,
        ctx.addressOf(c.req.raw),
      );
      return c.json({
        accessToken: token,
        expiresAt: new Date(expiresAt).toISOString(),
        ...accountObject(principal),
      });
    } catch (thrown) {
      const fault = asFault(thrown);
      if (fault.code !== 'unauthenticated') throw thrown;
      return c.json(errorBody('INVALID_CREDENTIALS', fault.message), 401);
    }
  });

  api.get('/v1/auth/session', async (c) => c.json(accountObject(await caller(c))));

  /** Revokes the token and closes its connections. */
  api.post('/v1/auth/logout', async (c) => {
    await authenticator.revoke(shownToken(c.req.raw));
    return c.body(null, 204);
  });

  api.get('/v1/user/preferences', async (c) => {
    const { id } = await caller(c);
    const { syncedAt, ...kept } = (await preferences.get(id)) ?? {};
    const parsed = Preferences.safeParse(kept);
    return c.json({ preferences: parsed.success ? parsed.data : DEFAULT_PREFERENCES, syncedAt });
  });

  api.post('/v1/user/preferences', async (c) => {
    const { id } = await caller(c);
    const chosen = await checkedBody(Preferences, readBody(c.req.raw, 'identified'));
    const syncedAt = new Date(ctx.now()).toISOString();
    await preferences.put(id, { ...chosen, syncedAt });
    return c.json({ success: true, preferences: chosen, syncedAt });
  });

  /** There is no knowledge base: every site is allowed, and the knowledge is empty. */
  api.get('/knowledge/resolve', async (c) => {
    await caller(c);
    const { url } = checked(KnowledgeQuery, c.req.query());
    const domain = rootDomain(addressOf(url) ?? '');
    return c.json({ allowed: true, domain, hasOrgKnowledge: false, context: [], citations: [] });
  });

  app.route('/api', api);
}

const DEFAULT_PREFERENCES: Preferences = { theme: 'system' };

/** One server is one tenant. Users have a name but no email address. */
const accountObject = ({ id }: Principal) => ({
  user: { id, email: id, name: id },
  tenantId: 'default',
  tenantName: 'Parlance',
});
