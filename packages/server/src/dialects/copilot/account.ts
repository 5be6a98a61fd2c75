/** The account endpoints of `copilot`: login, preferences, and knowledge about a site. */
import { asFault, type Principal } from '@parlance/protocol';
import { KnowledgeQuery, LoginBody, Preferences } from './contract.ts';
import { endpoint, errorBody, shownToken } from './rest.ts';
import { addressOf, rootDomain } from './root-domain.ts';

export const accountEndpoints = [
  endpoint({
    method: 'post',
    path: '/api/v1/auth/login',
    summary: 'A token for a name and a password; it works in every dialect',
    security: 'nobody',
    examples: ({ owner }) => [{ title: 'Log in', body: { email: owner, password: 'a guess' } }],
    body: LoginBody,
    answers: {
      200: { description: 'The token', schema: 'CopilotLogin' },
      401: { description: 'INVALID_CREDENTIALS', schema: 'CopilotError' },
    },
    errors: [400, 429],
    async handle({ c, request, body: { email, password } }, { authenticator, addressOf }) {
      try {
        const { token, expiresAt, principal } = await authenticator.login(
          email,
          password,
          addressOf(request),
        );
        return {
          accessToken: token,
          expiresAt: new Date(expiresAt).toISOString(),
          ...accountObject(principal),
        };
      } catch (thrown) {
        const fault = asFault(thrown);
        if (fault.code !== 'unauthenticated') throw thrown;
        return c.json(errorBody('INVALID_CREDENTIALS', fault.message), 401);
      }
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/v1/auth/session',
    summary: 'The user of the token',
    security: 'token',
    examples: () => [{ title: 'Who am I?' }],
    answers: { 200: { description: 'The account', schema: 'CopilotAccount' } },
    errors: [401],
    handle: ({ principal }) => accountObject(principal),
  }),
  endpoint({
    method: 'post',
    path: '/api/v1/auth/logout',
    summary: 'Revokes the token and closes its connections',
    security: 'token',
    examples: () => [{ title: 'Log out: ends the token of this client' }],
    revokesToken: true,
    answers: { 204: { description: 'The token is revoked' } },
    errors: [401],
    identified: false,
    handle: ({ request }, { authenticator }) => authenticator.revoke(shownToken(request)),
  }),
  endpoint({
    method: 'get',
    path: '/api/v1/user/preferences',
    summary: 'The preferences of the user',
    security: 'token',
    examples: () => [{ title: 'Get user preferences' }],
    answers: { 200: { description: 'The preferences', schema: 'CopilotKeptPreferences' } },
    errors: [401],
    async handle({ principal }, { preferences }) {
      const { syncedAt, ...kept } = (await preferences.get(principal.id)) ?? {};
      const parsed = Preferences.safeParse(kept);
      return {
        preferences: parsed.success ? parsed.data : DEFAULT_PREFERENCES,
        syncedAt: syncedAt as string | undefined,
      };
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/v1/user/preferences',
    summary: 'Stores preferences of the user',
    security: 'token',
    examples: ({ owner }) => [
      { title: 'Set the light theme', body: { theme: 'light' } },
      {
        title: 'Set the theme of another user',
        probe: true,
        body: { theme: 'light', id: owner, user: owner },
      },
    ],
    body: Preferences,
    answers: { 200: { description: 'Stored', schema: 'CopilotSavedPreferences' } },
    errors: [400, 401],
    async handle({ principal, body }, { now, preferences }) {
      const syncedAt = new Date(now()).toISOString();
      await preferences.put(principal.id, { ...body, syncedAt });
      return { success: true, preferences: body, syncedAt };
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/knowledge/resolve',
    summary: 'Knowledge of a site: always empty, there is no knowledge base',
    security: 'token',
    examples: ({ site }) => [{ title: 'Get knowledge of a site', query: { url: `http://${site}/` } }],
    query: KnowledgeQuery,
    answers: { 200: { description: 'Empty lists', schema: 'CopilotKnowledge' } },
    errors: [400, 401],
    /** There is no knowledge base: every site is allowed, and the knowledge is empty. */
    handle: ({ query: { url } }) => ({
      allowed: true,
      domain: rootDomain(addressOf(url) ?? ''),
      hasOrgKnowledge: false,
      context: [],
      citations: [],
    }),
  }),
];

const DEFAULT_PREFERENCES: Preferences = { theme: 'system' };

/** One server is one tenant. Users have a name but no email address. */
const accountObject = ({ id }: Principal) => ({
  user: { id, email: id, name: id },
  tenantId: 'default',
  tenantName: 'Parlance',
});
