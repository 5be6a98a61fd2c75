/** Keys that act as a user: API keys, and paired browser extensions. */
import { Fault } from '@parlance/protocol';
import {
  type ApiKey,
  NewApiKey,
  NewPairing,
  type Pairing,
  PairingAnswer,
  PairingCode,
  type PairingRequest,
} from '@parlance/protocol/api';
import type { ApiKeyView } from '../../http/api-keys.ts';
import {
  OWN_PAIRING_PATH,
  PAIRINGS_PATH,
  type PairingRequestView,
  type PairingView,
} from '../../http/pairings.ts';
import { API_KEY_PREFIX, isApiKey, keyOf, tokenOf } from '../../http/request-identity.ts';
import type { Sent } from '../kit/endpoint.ts';
import { type Call, endpoint, type NativeContext } from './context.ts';
import { timeOrNull, timeView } from './views.ts';

// API keys: users manage their own, admins manage all.

/** Requires a login: a key must not create keys that outlive it or grant more, and `local` is not a user. */
function loggedIn({ request }: Call): void {
  const token = tokenOf(request);
  if (token === null) throw new Fault('forbidden', 'API keys belong to users: log in.');
  if (isApiKey(token)) throw new Fault('forbidden', 'An API key cannot manage API keys: log in.');
}

const LOGIN = { security: 'token', allow: loggedIn } as const;

export const apiKeyEndpoints = [
  endpoint({
    ...LOGIN,
    method: 'get',
    path: '/v1/keys',
    summary: 'The caller’s API keys',
    answers: { 200: { description: 'In order of creation', schema: 'ApiKeyList' } },
    errors: [401, 403],
    handle: async ({ principal }, { administration }) => ({
      keys: (await administration.apiKeys.list(principal.id)).map(keyView),
    }),
  }),
  endpoint({
    ...LOGIN,
    method: 'post',
    path: '/v1/keys',
    summary: 'Creates an API key that acts as the caller. Needs a login: a key cannot create keys',
    examples: () => [
      { body: { name: 'laptop', role: 'user', dialects: ['native'] } },
      { body: { name: 'everything', role: 'admin' }, probe: true },
    ],
    body: NewApiKey,
    answers: { 201: { description: '`key` is the secret; it is not shown again', schema: 'MadeApiKey' } },
    errors: [400, 401, 403],
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

const keyView = ({ createdAt, expiresAt, lastUsedAt, ...key }: ApiKeyView): Sent<ApiKey> => ({
  ...key,
  createdAt: timeView(createdAt),
  expiresAt: timeOrNull(expiresAt),
  lastUsedAt: timeOrNull(lastUsedAt),
});

// Pairing of browser extensions: the extension requests it, a logged-in user approves it.

/** An extension must not approve others, and a key limited to some dialects must not create one for all. */
async function isPerson({ principal, request }: Call, { authenticator }: NativeContext): Promise<void> {
  const isPaired = (await keyOf(authenticator, request))?.origin != null;
  if (isPaired || principal.dialects !== undefined)
    throw new Fault('forbidden', 'Only users manage paired extensions: log in.');
}

function ownToken(request: Request): string {
  const token = tokenOf(request);
  if (token === null) throw new Fault('unauthenticated', 'The token of a pairing is required.');
  return token;
}

export const pairingEndpoints = [
  endpoint({
    method: 'post',
    path: PAIRINGS_PATH,
    summary: 'Requests the pairing of a browser extension. The request must have the origin of an extension',
    security: 'nobody',
    examples: () => [{ body: { name: 'Parlance on my laptop' } }],
    body: NewPairing,
    answers: {
      201: {
        description: 'The code that a user approves, and the token that becomes valid then',
        schema: 'MadePairingRequest',
      },
    },
    errors: [400, 403, 429],
    async handle({ c, request, body: { name } }, { administration, addressOf }) {
      const origin = request.headers.get('origin');
      const made = await administration.pairings.request({ origin, name }, addressOf(request));
      c.header('cache-control', 'no-store');
      return { ...made, expiresAt: timeView(made.expiresAt) };
    },
  }),
  endpoint({
    method: 'get',
    path: OWN_PAIRING_PATH,
    summary: 'The state of the pairing that the token belongs to, including before it is approved',
    security: 'token',
    identified: false,
    answers: { 200: { description: 'Waiting or approved', schema: 'OwnPairing' } },
    errors: [401, 404, 429],
    async handle({ c, request }, { administration }) {
      const state = await administration.pairings.own(ownToken(request));
      c.header('cache-control', 'no-store');
      return state.status === 'waiting' ? { ...state, expiresAt: timeView(state.expiresAt) } : state;
    },
  }),
  endpoint({
    method: 'delete',
    path: OWN_PAIRING_PATH,
    summary: 'Ends the pairing of the calling extension',
    security: 'token',
    identified: false,
    answers: { 204: { description: 'The token is revoked' } },
    errors: [401, 404, 429],
    handle: ({ request }, { administration }) => administration.pairings.end(ownToken(request)),
  }),
  endpoint({
    allow: isPerson,
    method: 'get',
    path: PAIRINGS_PATH,
    summary: 'The caller’s paired extensions; in open mode also those waiting for approval',
    answers: { 200: { description: 'In order of approval', schema: 'PairingList' } },
    errors: [401, 403, 429],
    async handle({ principal }, { administration: { pairings }, authenticator }) {
      // With logins, users type the code that their own extension shows: a list would invite them to approve a
      // stranger's request.
      const waiting = authenticator.open ? await pairings.waiting() : [];
      const paired = await pairings.list(principal);
      return { pairings: paired.map(pairingView), waiting: waiting.map(requestView) };
    },
  }),
  endpoint({
    allow: isPerson,
    method: 'post',
    path: '/v1/pairings/find',
    summary: 'The pairing request with this code',
    examples: ({ code }) => [{ body: { code } }],
    body: PairingCode,
    answers: { 200: { description: 'It waits', schema: 'PairingRequest' } },
    errors: [400, 401, 403, 404, 429],
    handle: async ({ principal, body: { code } }, { administration }) =>
      requestView(await administration.pairings.find(code, principal)),
  }),
  endpoint({
    allow: isPerson,
    method: 'post',
    path: '/v1/pairings/answer',
    summary:
      'Approves or denies the pairing request with this code. An approved extension acts as the caller',
    examples: ({ code }) => [{ body: { code, allow: true } }],
    body: PairingAnswer,
    answers: { 200: { description: 'Paired', schema: 'Pairing' }, 204: { description: 'Denied' } },
    errors: [400, 401, 403, 404, 429],
    async handle({ principal, request, body: { code, allow } }, { administration, authenticator }) {
      const key = await keyOf(authenticator, request);
      if (allow) return pairingView(await administration.pairings.allow(code, principal, key));
      return administration.pairings.deny(code, principal);
    },
  }),
  endpoint({
    allow: isPerson,
    method: 'delete',
    path: '/v1/pairings/{id}',
    summary:
      'Revokes a paired extension of the caller, or of any user for admins, and closes its connections',
    examples: ({ pairing }) => [{ params: { id: pairing } }],
    answers: { 204: { description: 'Revoked' } },
    errors: [401, 403, 404, 429],
    handle: ({ principal, params }, { administration }) =>
      administration.pairings.revoke(params.id, principal.role === 'admin' ? undefined : principal),
  }),
];

const requestView = ({ createdAt, expiresAt, ...request }: PairingRequestView): PairingRequest => ({
  ...request,
  createdAt: timeView(createdAt),
  expiresAt: timeView(expiresAt),
});

const pairingView = ({ allowedAt, expiresAt, lastUsedAt, ...pairing }: PairingView): Pairing => ({
  ...pairing,
  expiresAt: timeOrNull(expiresAt),
  allowedAt: timeView(allowedAt),
  lastUsedAt: timeOrNull(lastUsedAt),
});
