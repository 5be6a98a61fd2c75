/** Pairing of browser extensions. */
import { type Endpoint, named } from '../shared/description.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { MadePairingRequest, OwnPairing, Pairing, PairingList, PairingRequest } from './response-schemas.ts';
import { NewPairing, PairingAnswer, PairingCode } from './schemas.ts';

export const pairings: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/v1/pairings',
    summary: 'Requests the pairing of a browser extension. The request must have the origin of an extension',
    security: 'nobody',
    examples: () => [{ body: { name: 'Parlance on my laptop' } }],
    body: named('NewPairing', NewPairing),
    answers: {
      201: {
        description: 'The code that a user approves, and the token that becomes valid then',
        schema: MadePairingRequest,
      },
      ...errors(400, 403, 429),
    },
  },
  {
    method: 'get',
    path: '/v1/pairings/own',
    summary: 'The state of the pairing that the token belongs to, including before it is approved',
    security: 'token',
    answers: {
      200: { description: 'Waiting or approved', schema: OwnPairing },
      ...errors(401, 404, 429),
    },
  },
  {
    method: 'delete',
    path: '/v1/pairings/own',
    summary: 'Ends the pairing of the calling extension',
    security: 'token',
    answers: { 204: { description: 'The token is revoked' }, ...errors(401, 404, 429) },
  },
  {
    method: 'get',
    path: '/v1/pairings',
    summary: 'The caller’s paired extensions; in open mode also those waiting for approval',
    security: 'caller',
    answers: {
      200: { description: 'In order of approval', schema: PairingList },
      ...errors(401, 403, 429),
    },
  },
  {
    method: 'post',
    path: '/v1/pairings/find',
    summary: 'The pairing request with this code',
    security: 'caller',
    examples: ({ code }) => [{ body: { code } }],
    body: named('PairingCode', PairingCode),
    answers: { 200: { description: 'It waits', schema: PairingRequest }, ...errors(400, 401, 403, 404, 429) },
  },
  {
    method: 'post',
    path: '/v1/pairings/answer',
    summary:
      'Approves or denies the pairing request with this code. An approved extension acts as the caller',
    security: 'caller',
    examples: ({ code }) => [{ body: { code, allow: true } }],
    body: named('PairingAnswer', PairingAnswer),
    answers: {
      200: { description: 'Paired', schema: Pairing },
      204: { description: 'Denied' },
      ...errors(400, 401, 403, 404, 429),
    },
  },
  {
    method: 'delete',
    path: '/v1/pairings/{id}',
    summary:
      'Revokes a paired extension of the caller, or of any user for admins, and closes its connections',
    security: 'caller',
    examples: ({ pairing }) => [{ params: { id: pairing } }],
    answers: { 204: { description: 'Revoked' }, ...errors(401, 403, 404, 429) },
  },
];
