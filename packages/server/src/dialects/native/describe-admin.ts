/** Administration endpoints. */

import { type Endpoint, named } from '../shared/description.ts';
import { Token } from '../shared/token-schema.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { DoorList, McpServerList, NodeList, StandingGrants, User, UserList } from './response-schemas.ts';
import { NewPassword, NewUser, PageQuery, UserChange } from './schemas.ts';

export const admin: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/admin/users',
    summary: 'Lists the users; for admins',
    security: 'token',
    answers: { 200: { description: 'The users, by name', schema: UserList }, ...errors(401, 403) },
  },
  {
    method: 'post',
    path: '/v1/admin/users',
    summary: 'Adds a user; for admins',
    security: 'token',
    examples: ({ owner }) => [{ body: { name: owner, password: 'a password', role: 'admin' } }],
    body: named('NewUser', NewUser),
    answers: { 201: { description: 'The user', schema: User }, ...errors(400, 401, 403) },
  },
  {
    method: 'patch',
    path: '/v1/admin/users/{name}',
    summary:
      'Changes the role or password of a user and revokes their tokens; for admins. The last admin cannot be demoted',
    security: 'token',
    examples: ({ owner: name }) => [
      { params: { name }, body: { password: 'a password' } },
      { params: { name }, body: { role: 'user' } },
    ],
    body: named('UserChange', UserChange),
    answers: { 200: { description: 'The user', schema: User }, ...errors(400, 401, 403, 404) },
  },
  {
    method: 'delete',
    path: '/v1/admin/users/{name}',
    summary: 'Removes a user and revokes their tokens; for admins. The last admin cannot be removed',
    security: 'token',
    examples: ({ owner: name }) => [{ params: { name } }],
    answers: { 204: { description: 'Removed' }, ...errors(401, 403, 404) },
  },
  {
    method: 'post',
    path: '/v1/admin/users/{name}/logout',
    summary: 'Revokes all tokens of a user and closes their connections; for admins',
    security: 'token',
    examples: ({ owner: name }) => [{ params: { name } }],
    answers: { 204: { description: 'The tokens are revoked' }, ...errors(401, 403, 404) },
  },
  {
    method: 'post',
    path: '/v1/auth/password',
    summary: 'Changes the password of the caller and revokes earlier tokens',
    security: 'token',
    examples: ({ owner }) => [{ body: { old: `${owner}-password`, new: 'a password' } }],
    body: named('NewPassword', NewPassword),
    answers: {
      200: { description: 'Changed; a new token', schema: Token },
      ...errors(400, 401, 403, 429),
    },
  },
  {
    method: 'get',
    path: '/v1/admin/nodes',
    summary: 'The nodes that serve together, with the sessions that each drives; for admins',
    security: 'token',
    changing: true,
    answers: {
      200: { description: 'In the order of their start; one without DATABASE_URL', schema: NodeList },
      ...errors(401, 403),
    },
  },
  {
    method: 'get',
    path: '/v1/admin/doors',
    summary: 'The listeners with their socket counts',
    security: 'caller',
    changing: true,
    answers: {
      200: { description: 'The listeners, the default one first', schema: DoorList },
      ...errors(401, 403),
    },
  },
  {
    method: 'get',
    path: '/v1/admin/mcp',
    summary: 'The configured MCP servers and their state',
    security: 'caller',
    answers: { 200: { description: 'The servers', schema: McpServerList }, ...errors(401, 403) },
  },
  {
    method: 'get',
    path: '/v1/grants',
    summary: 'The standing grants in all sessions of the caller',
    security: 'caller',
    examples: ({ owner }) => [{}, { query: { owner, limit: '500' } }],
    query: PageQuery,
    answers: {
      200: { description: 'The grants of one page of sessions', schema: StandingGrants },
      ...errors(400, 401, 403),
    },
  },
];
