/** Setup while the server runs: the model and its keys, agents, MCP servers and browser origins. */
import { Fault, LOCAL, type Principal } from '@parlance/protocol';
import { AddSkill, ModelQuestion, SettingsChange } from '@parlance/protocol/api';
import { requirePermission } from '../../core/index.ts';
import { keyOf, requireLogin } from '../../http/request-identity.ts';
import type { SetupView } from '../kit/administration.ts';
import { type Call, endpoint, type NativeContext } from './context.ts';
import { agentView, timeView } from './views.ts';

/** API keys may change these. The other settings grant access or run commands, and need a login. */
const changedByKeys = ({ setup }: NativeContext['administration']): ReadonlySet<string> =>
  new Set([...setup.modelSettings, 'contextLimits', 'agents', 'domains']);

/** In open mode the local user may change these without a login. */
const changedByLocal = (administration: NativeContext['administration']): ReadonlySet<string> =>
  new Set([...changedByKeys(administration), 'mcpServers', 'spendLimits']);

/** Throws `forbidden` unless the caller may set up the server. */
export async function setsUp({ principal, request }: Call, ctx: NativeContext): Promise<void> {
  if (principal.role !== 'admin' && !isLocal(principal))
    throw new Fault('forbidden', 'Only an admin may set up the server.');
  if (isLocal(principal)) await requireConsole(request, ctx);
}

const SETUP = { security: 'token', allow: setsUp } as const;

export const setupEndpoints = [
  endpoint({
    ...SETUP,
    method: 'get',
    path: '/v1/admin/settings',
    summary:
      'The settings that can be changed while the server runs, without secrets; for admins, in part for the local user in open mode',
    answers: { 200: { description: 'The settings', schema: 'Settings' } },
    errors: [401, 403],
    handle: ({ principal }, { administration }) =>
      settingsView(administration.setup.view(), principal, changedByLocal(administration)),
  }),
  endpoint({
    ...SETUP,
    method: 'patch',
    path: '/v1/admin/settings',
    summary:
      'Changes stored settings and applies them at once, on every node. Flags, environment and config file take precedence',
    examples: () => [{ body: { version: 0, values: { allowedOrigins: ['https://chat.example.com'] } } }],
    body: SettingsChange,
    answers: { 200: { description: 'Stored and in use', schema: 'Settings' } },
    errors: [400, 401, 403, 409],
    async handle({ principal, request, body: change }, { administration, authenticator }) {
      const local = changedByLocal(administration);
      const keys = changedByKeys(administration);
      if (principal.role !== 'admin' && Object.keys(change.values).some((key) => !local.has(key)))
        throw new Fault('forbidden', 'Only an admin may change this: sign in as one.');
      const privileged = Object.keys(change.values).find((key) => !keys.has(key));
      if (privileged !== undefined)
        await requireLogin(authenticator, request, `change the setting ${privileged}`);
      return settingsView(await administration.setup.change(change), principal, local);
    },
  }),
  endpoint({
    ...SETUP,
    method: 'post',
    path: '/v1/admin/models',
    summary: 'Lists the models of a model API, to test a key and a base URL before storing them',
    examples: () => [{ body: { provider: 'google', address: 'http://127.0.0.1:9' } }],
    body: ModelQuestion,
    answers: { 200: { description: 'The models', schema: 'ModelListing' } },
    errors: [400, 401, 403, 502],
    handle: ({ body }, { administration }) => administration.setup.models(body),
  }),
  endpoint({
    ...SETUP,
    method: 'get',
    path: '/v1/admin/vendors',
    summary: 'All vendors of models: keys, packages, and the models that the catalogue knows',
    answers: { 200: { description: 'The vendors', schema: 'VendorList' } },
    errors: [401, 403],
    handle: (_, { administration }) => administration.setup.vendors(),
  }),
  endpoint({
    ...SETUP,
    method: 'get',
    path: '/v1/admin/agents',
    summary: 'Agents with their instructions, and the tools that an agent can have',
    answers: { 200: { description: 'The agents and tools', schema: 'AgentSetup' } },
    errors: [401, 403],
    handle: (_, { administration, engine }) => ({
      agents: engine.catalog.listed.agents.map((agent) => ({
        ...agentView(agent),
        instructions: agent.instructions,
        skills: agent.skills ?? null,
      })),
      tools: engine.toolSpecs().map(({ name, description }) => ({ name, description })),
      fixed: administration.setup.fixedIds(),
    }),
  }),
  endpoint({
    ...SETUP,
    method: 'get',
    path: '/v1/admin/skills',
    summary: 'The skills of this node: those in the data folder, and those of the configured folders',
    answers: { 200: { description: 'By name', schema: 'ServerSkillList' } },
    errors: [401, 403],
    handle: async (_, { administration }) => ({ skills: await administration.skills.list() }),
  }),
  endpoint({
    ...SETUP,
    method: 'post',
    path: '/v1/admin/skills',
    summary:
      'Adds a skill to the data folder of this node, or replaces it: uploaded files, or a copy of a folder',
    examples: () => [{ body: { path: '.agents/skills/release' } }],
    body: AddSkill,
    answers: { 201: { description: 'Added', schema: 'ServerSkill' } },
    errors: [400, 401, 403],
    handle: ({ body }, { administration }) => administration.skills.add(body),
  }),
  endpoint({
    ...SETUP,
    method: 'get',
    path: '/v1/admin/skills/{name}',
    summary: 'A skill of this node, with its SKILL.md',
    examples: () => [{ params: { name: 'release' } }],
    answers: { 200: { description: 'The skill', schema: 'ServerSkillText' } },
    errors: [401, 403, 404],
    handle: ({ params }, { administration }) => administration.skills.read(params.name),
  }),
  endpoint({
    ...SETUP,
    method: 'delete',
    path: '/v1/admin/skills/{name}',
    summary: 'Removes a skill from the data folder of this node',
    examples: () => [{ params: { name: 'release' } }],
    answers: { 204: { description: 'Removed' } },
    errors: [401, 403, 404],
    handle: ({ params }, { administration }) => administration.skills.remove(params.name),
  }),
  endpoint({
    ...SETUP,
    method: 'post',
    path: '/v1/admin/mcp/{name}/restart',
    summary: 'Stops an MCP server and starts it again; for admins, and for the local user in open mode',
    examples: () => [{ params: { name: 'files' } }],
    answers: { 204: { description: 'Restarted; the start may still fail' } },
    errors: [401, 403, 404],
    async handle({ params }, { administration }) {
      if (!(await administration.setup.restartMcp(params.name)))
        throw new Fault('not_found', 'There is no such MCP server.');
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/admin/origins',
    summary: 'Browser origins that were refused recently, latest first; for admins',
    security: 'token',
    changing: true,
    answers: { 200: { description: 'The origins', schema: 'RefusedOriginList' } },
    errors: [401, 403],
    async allow(call, ctx) {
      await setsUp(call, ctx);
      if (call.principal.role !== 'admin')
        throw new Fault('forbidden', 'Only an admin may do this: sign in as one.');
    },
    handle: (_, { administration }) => ({
      refused: administration.setup.refusedOrigins().map((one) => ({ ...one, at: timeView(one.at) })),
    }),
  }),
  endpoint({
    method: 'get',
    path: '/v1/server/models',
    summary: 'The models of all providers that have a key or an address, the one in use first',
    limited: false,
    answers: { 200: { description: 'The models', schema: 'ModelList' } },
    errors: [401, 403],
    allow: ({ principal }) => requirePermission(principal, 'chat:send'),
    handle: async (_, { administration }) => ({ providers: await administration.setup.listModels() }),
  }),
];

export const isLocal = ({ id }: Principal): boolean => id === LOCAL.id;

/**
 * Pages of other origins on the same machine are callers without a token as well, and extensions paired in open
 * mode act as the same user.
 */
async function requireConsole(request: Request, { authenticator, originOf }: NativeContext): Promise<void> {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site') ?? 'none';
  const isOwn = origin === null ? site === 'none' || site === 'same-origin' : origin === originOf(request);
  if (!isOwn || (await keyOf(authenticator, request)))
    throw new Fault('forbidden', 'Only the console of this server may set it up without a login.');
}

/** Settings that only admins may change are visible only to admins. */
function settingsView(view: SetupView, { role }: Principal, visible: ReadonlySet<string>): SetupView {
  if (role === 'admin') return view;
  const open = <Value>(values: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(values).filter(([key]) => visible.has(key)));
  return { ...view, given: open(view.given), stored: open(view.stored) };
}
