/** Pairing of browser extensions: the extension requests it, a logged-in user approves it. */
import { Fault } from '@parlance/protocol';
import {
  NewPairing,
  type Pairing,
  PairingAnswer,
  PairingCode,
  type PairingRequest,
} from '@parlance/protocol/api';
import {
  OWN_PAIRING_PATH,
  PAIRINGS_PATH,
  type PairingRequestView,
  type PairingView,
} from '../../http/pairings.ts';
import { keyOf, tokenOf } from '../../http/request-identity.ts';
import { type Call, type Context, endpoint } from './context.ts';

/** An extension must not approve others, and a key limited to some dialects must not create one for all. */
async function isPerson({ principal, request }: Call, { authenticator }: Context): Promise<void> {
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
      return { ...made, expiresAt: time(made.expiresAt) };
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
      return state.status === 'waiting' ? { ...state, expiresAt: time(state.expiresAt) } : state;
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
    method: 'get',
    path: PAIRINGS_PATH,
    summary: 'The caller’s paired extensions; in open mode also those waiting for approval',
    security: 'caller',
    answers: { 200: { description: 'In order of approval', schema: 'PairingList' } },
    errors: [401, 403, 429],
    allow: isPerson,
    async handle({ principal }, { administration: { pairings }, authenticator }) {
      // With logins, users type the code that their own extension shows: a list would invite them to approve a
      // stranger's request.
      const waiting = authenticator.open ? await pairings.waiting() : [];
      const paired = await pairings.list(principal);
      return { pairings: paired.map(pairingView), waiting: waiting.map(requestView) };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/pairings/find',
    summary: 'The pairing request with this code',
    security: 'caller',
    examples: ({ code }) => [{ body: { code } }],
    body: PairingCode,
    answers: { 200: { description: 'It waits', schema: 'PairingRequest' } },
    errors: [400, 401, 403, 404, 429],
    allow: isPerson,
    handle: async ({ principal, body: { code } }, { administration }) =>
      requestView(await administration.pairings.find(code, principal)),
  }),
  endpoint({
    method: 'post',
    path: '/v1/pairings/answer',
    summary:
      'Approves or denies the pairing request with this code. An approved extension acts as the caller',
    security: 'caller',
    examples: ({ code }) => [{ body: { code, allow: true } }],
    body: PairingAnswer,
    answers: { 200: { description: 'Paired', schema: 'Pairing' }, 204: { description: 'Denied' } },
    errors: [400, 401, 403, 404, 429],
    allow: isPerson,
    async handle({ principal, request, body: { code, allow } }, { administration, authenticator }) {
      const key = await keyOf(authenticator, request);
      if (allow) return pairingView(await administration.pairings.allow(code, principal, key));
      return administration.pairings.deny(code, principal);
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/pairings/{id}',
    summary:
      'Revokes a paired extension of the caller, or of any user for admins, and closes its connections',
    security: 'caller',
    examples: ({ pairing }) => [{ params: { id: pairing } }],
    answers: { 204: { description: 'Revoked' } },
    errors: [401, 403, 404, 429],
    allow: isPerson,
    handle: ({ principal, params }, { administration }) =>
      administration.pairings.revoke(params.id, principal.role === 'admin' ? undefined : principal),
  }),
];

const time = (at: number): string => new Date(at).toISOString();

const requestView = ({ createdAt, expiresAt, ...request }: PairingRequestView): PairingRequest => ({
  ...request,
  createdAt: time(createdAt),
  expiresAt: time(expiresAt),
});

const pairingView = ({ allowedAt, expiresAt, lastUsedAt, ...pairing }: PairingView): Pairing => ({
  ...pairing,
  expiresAt: expiresAt === null ? null : time(expiresAt),
  allowedAt: time(allowedAt),
  lastUsedAt: lastUsedAt === null ? null : time(lastUsedAt),
});
