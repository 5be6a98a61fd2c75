/** API keys. */
import { type Endpoint, named } from '../shared/description.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { ApiKeyList, MadeApiKey } from './response-schemas.ts';
import { NewApiKey } from './schemas.ts';

export const keys: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/keys',
    summary: 'The caller’s API keys',
    security: 'token',
    answers: {
      200: { description: 'In order of creation', schema: ApiKeyList },
      ...errors(401, 403),
    },
  },
  {
    method: 'post',
    path: '/v1/keys',
    summary: 'Creates an API key that acts as the caller. Needs a login: a key cannot create keys',
    security: 'token',
    examples: () => [
      { body: { name: 'laptop', role: 'user', dialects: ['native'] } },
      { body: { name: 'everything', role: 'admin' }, probe: true },
    ],
    body: named('NewApiKey', NewApiKey),
    answers: {
      201: { description: '`key` is the secret; it is not shown again', schema: MadeApiKey },
      ...errors(400, 401, 403),
    },
  },
  {
    method: 'delete',
    path: '/v1/keys/{id}',
    summary: 'Revokes an API key of the caller, or of any user for admins, and closes its connections',
    security: 'token',
    examples: ({ key }) => [{ params: { id: key } }],
    answers: { 204: { description: 'Revoked' }, ...errors(401, 403, 404) },
  },
  {
    method: 'get',
    path: '/v1/admin/keys',
    summary: 'The API keys of all users; for admins',
    security: 'token',
    answers: {
      200: { description: 'In order of creation', schema: ApiKeyList },
      ...errors(401, 403),
    },
  },
];
