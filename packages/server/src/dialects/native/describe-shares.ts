/** Links to a session for people without an account. */
import { z } from 'zod';
import type { Endpoint } from '../shared/description.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { MadeShare, ShareList } from './library-schemas.ts';

export const shares: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/sessions/{id}/shares',
    summary: 'The links to this session',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: {
      200: { description: 'In order of creation', schema: ShareList },
      ...errors(401, 403, 404),
    },
  },
  {
    method: 'post',
    path: '/v1/sessions/{id}/shares',
    summary: 'Creates a read-only link to this session as it is now, for everyone who has the link',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: {
      201: { description: '`path` is the link; it is not shown again', schema: MadeShare },
      ...errors(400, 401, 403, 404),
    },
  },
  {
    method: 'delete',
    path: '/v1/sessions/{id}/shares/{share}',
    summary: 'Revokes a link',
    security: 'caller',
    examples: ({ session, key }) => [{ params: { id: session, share: key } }],
    answers: { 204: { description: 'Revoked' }, ...errors(401, 403, 404) },
  },
  {
    method: 'get',
    path: '/shared/{token}',
    summary: 'The page behind a link: the messages, without input and output of tools',
    security: 'nobody',
    examples: ({ key }) => [{ params: { token: key } }],
    answers: {
      200: { description: 'The messages', type: 'text/html', schema: z.string() },
      404: {
        description: 'Unknown, revoked, or its session was archived',
        type: 'text/html',
        schema: z.string(),
      },
    },
  },
];
