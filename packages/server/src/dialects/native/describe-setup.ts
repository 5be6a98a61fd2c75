/** Endpoints that change the setup while the server runs. */
import { type Endpoint, named } from '../shared/description.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { AgentSetup, ModelList, ModelListing, RefusedOriginList, Settings } from './response-schemas.ts';
import { SetupChange, VendorQuestion } from './schemas.ts';

export const setup: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/admin/settings',
    summary:
      'The settings that can be changed while the server runs, without secrets; for admins, in part for the local user in open mode',
    security: 'token',
    answers: { 200: { description: 'The settings', schema: Settings }, ...errors(401, 403) },
  },
  {
    method: 'patch',
    path: '/v1/admin/settings',
    summary:
      'Changes stored settings and applies them at once, on every node. Flags, environment and config file take precedence',
    security: 'token',
    examples: () => [{ body: { version: 0, values: { allowedOrigins: ['https://chat.example.com'] } } }],
    body: named('SettingsChange', SetupChange),
    answers: {
      200: { description: 'Stored and in use', schema: Settings },
      ...errors(400, 401, 403, 409),
    },
  },
  {
    method: 'post',
    path: '/v1/admin/models',
    summary: 'Lists the models of a model API, to test a key and a base URL before storing them',
    security: 'token',
    examples: () => [{ body: { provider: 'google', address: 'http://127.0.0.1:9' } }],
    body: named('ModelQuestion', VendorQuestion),
    answers: { 200: { description: 'The models', schema: ModelListing }, ...errors(400, 401, 403, 502) },
  },
  {
    method: 'get',
    path: '/v1/admin/agents',
    summary: 'Agents with their instructions, and the tools that an agent can have',
    security: 'token',
    answers: { 200: { description: 'The agents and tools', schema: AgentSetup }, ...errors(401, 403) },
  },
  {
    method: 'post',
    path: '/v1/admin/mcp/{name}/restart',
    summary: 'Stops an MCP server and starts it again; for admins, and for the local user in open mode',
    security: 'token',
    examples: () => [{ params: { name: 'files' } }],
    answers: { 204: { description: 'Restarted; the start may still fail' }, ...errors(401, 403, 404) },
  },
  {
    method: 'get',
    path: '/v1/admin/origins',
    summary: 'Browser origins that were refused recently, latest first; for admins',
    security: 'token',
    changing: true,
    answers: { 200: { description: 'The origins', schema: RefusedOriginList }, ...errors(401, 403) },
  },
  {
    method: 'get',
    path: '/v1/server/models',
    summary: 'The models of all providers that have a key or an address, the one in use first',
    security: 'caller',
    answers: { 200: { description: 'The models', schema: ModelList }, ...errors(401, 403) },
  },
];
