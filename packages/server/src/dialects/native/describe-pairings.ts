/** Pairing of browser extensions. */
import { type Endpoint, named } from '../shared/description.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { MadePairingRequest, OwnPairing, Pairing, PairingList, PairingRequest } from './response-schemas.ts';
import { NewPairing, PairingAnswer, PairingCode } from './schemas.ts';

export const pairings: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/v1/pairings',
    summary: 'A browser extension asks to be paired. The origin of the request must be that of an extension',
    security: 'nobody',
    examples: () => [{ body: { name: 'Parlance on my laptop' } }],
    body: named('NewPairing', NewPairing),
    answers: {
      201: {
        description: 'The code that a person allows, and the token that is valid from then on',
        schema: MadePairingRequest,
      },
      ...errors(400, 403, 429),
    },
  },
  {
    method: 'get',
    path: '/v1/pairings/own',
    summary: 'The state of the pairing that the token belongs to, also before it is allowed',
    security: 'token',
    answers: {
      200: { description: 'It waits, or it was allowed', schema: OwnPairing },
      ...errors(401, 404, 429),
    },
  },
  {
    method: 'delete',
    path: '/v1/pairings/own',
    summary: 'The extension ends its own pairing',
    security: 'token',
    answers: { 204: { description: 'The token is refused from now on' }, ...errors(401, 404, 429) },
  },
  {
    method: 'get',
    path: '/v1/pairings',
    summary: 'The caller’s paired extensions; in open mode also those that wait',
    security: 'caller',
    answers: {
      200: { description: 'In the order in which they were allowed', schema: PairingList },
      ...errors(401, 403, 429),
    },
  },
  {
    method: 'post',
    path: '/v1/pairings/find',
    summary: 'The extension that waits with a code',
    security: 'caller',
    examples: ({ code }) => [{ body: { code } }],
    body: named('PairingCode', PairingCode),
    answers: { 200: { description: 'It waits', schema: PairingRequest }, ...errors(400, 401, 403, 404, 429) },
  },
  {
    method: 'post',
    path: '/v1/pairings/answer',
    summary: 'Allows or denies the extension that waits with a code. Allowed, it acts as the caller',
    security: 'caller',
    examples: ({ code }) => [{ body: { code, allow: true } }],
    body: named('PairingAnswer', PairingAnswer),
    answers: {
      200: { description: 'It is paired', schema: Pairing },
      204: { description: 'It was denied' },
      ...errors(400, 401, 403, 404, 429),
    },
  },
  {
    method: 'delete',
    path: '/v1/pairings/{id}',
    summary:
      'Revokes a paired extension of the caller, of anyone for admins: whatever is connected with it is closed',
    security: 'caller',
    examples: ({ pairing }) => [{ params: { id: pairing } }],
    answers: { 204: { description: 'It is refused from now on' }, ...errors(401, 403, 404, 429) },
  },
];
