/** API keys: users manage their own, admins manage all. */
import { Fault } from '@parlance/protocol';
import { type ApiKey, NewApiKey } from '@parlance/protocol/api';
import type { ApiKeyView } from '../../http/api-keys.ts';
import { API_KEY_PREFIX, isApiKey, tokenOf } from '../../http/request-identity.ts';
import type { Sent } from '../kit/endpoint.ts';
import { type Call, endpoint } from './context.ts';

/** Requires a login: a key must not create keys that outlive it or grant more, and `local` is not a user. */
function loggedIn({ request }: Call): void {
  const token = tokenOf(request);
  if (token === null) throw new Fault('forbidden', 'API keys belong to users: log in.');
  if (isApiKey(token)) throw new Fault('forbidden', 'An API key cannot manage API keys: log in.');
}

export const apiKeyEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/keys',
    summary: 'The caller’s API keys',
    security: 'token',
    answers: { 200: { description: 'In order of creation', schema: 'ApiKeyList' } },
    errors: [401, 403],
    allow: loggedIn,
    handle: async ({ principal }, { administration }) => ({
      keys: (await administration.apiKeys.list(principal.id)).map(keyView),
    }),
  }),
  endpoint({
    method: 'post',
    path: '/v1/keys',
    summary: 'Creates an API key that acts as the caller. Needs a login: a key cannot create keys',
    security: 'token',
    examples: () => [
      { body: { name: 'laptop', role: 'user', dialects: ['native'] } },
      { body: { name: 'everything', role: 'admin' }, probe: true },
    ],
    body: NewApiKey,
    answers: { 201: { description: '`key` is the secret; it is not shown again', schema: 'MadeApiKey' } },
    errors: [400, 401, 403],
    allow: loggedIn,
    async handle({ c, principal, body: { expiresAt, ...wanted } }, { administration }) {
      const until = expiresAt === undefined ? undefined : Date.parse(expiresAt);
      const { key, ...view } = await administration.apiKeys.add(principal.id, {
        ...wanted,
        expiresAt: until,
      });
      c.header('cache-control', 'no-store');
      return { ...keyView(view), key };
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/keys/{id}',
    summary: 'Revokes an API key of the caller, or of any user for admins, and closes its connections',
    security: 'token',
    examples: ({ key }) => [{ params: { id: key } }],
    answers: { 204: { description: 'Revoked' } },
    errors: [401, 403, 404],
    /** A key may revoke itself: this is how a client with a stored key signs out. */
    allow(call) {
      if (!tokenOf(call.request)?.startsWith(`${API_KEY_PREFIX}${call.params.id}_`)) loggedIn(call);
    },
    handle: ({ principal: { id, role }, params }, { administration }) =>
      administration.apiKeys.revoke(params.id, role === 'admin' ? undefined : id),
  }),
  endpoint({
    method: 'get',
    path: '/v1/admin/keys',
    summary: 'The API keys of all users; for admins',
    security: 'token',
    answers: { 200: { description: 'In order of creation', schema: 'ApiKeyList' } },
    errors: [401, 403],
    allow(call) {
      loggedIn(call);
      if (call.principal.role !== 'admin')
        throw new Fault('forbidden', 'Only an admin may see the API keys of others.');
    },
    handle: async (_, { administration }) => ({ keys: (await administration.apiKeys.list()).map(keyView) }),
  }),
];

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const keyView = ({ createdAt, expiresAt, lastUsedAt, ...key }: ApiKeyView): Sent<ApiKey> => ({
  ...key,
  createdAt: new Date(createdAt).toISOString(),
  expiresAt: time(expiresAt),
  lastUsedAt: time(lastUsedAt),
});
