/** Setup while the server runs: the model and its keys, agents, MCP servers and browser origins. */
import { Fault, LOCAL, type Principal } from '@parlance/protocol';
import {
  type AgentSetup,
  type ModelList,
  type ModelListing,
  ModelQuestion,
  type RefusedOriginList,
  type Settings,
  SettingsChange,
} from '@parlance/protocol/api';
import type { Hono } from 'hono';
import { type Agent, requirePermission } from '../../core/index.ts';
import { keyOf, principalOf, requireLogin } from '../../http/request-identity.ts';
import type { SetupView } from '../kit/setup.ts';
import type { Context } from './context.ts';
import { body, checked, type Sent } from './requests.ts';

export function setupRoutes(api: Hono, ctx: Context): void {
  const setup = () => ctx.administration.setup;
  /** API keys may change these. The other settings grant access or run commands, and need a login. */
  const changedByKeys = () => new Set([...setup().modelSettings, 'agents', 'domains']);
  /** In open mode the local user may change these without a login. */
  const changedByLocal = () => new Set([...changedByKeys(), 'mcpServers']);

  async function caller(request: Request): Promise<Principal> {
    const principal = await principalOf(ctx.authenticator, request);
    if (principal.role !== 'admin' && !isLocal(principal))
      throw new Fault('forbidden', 'Only an admin may set up the server.');
    if (isLocal(principal)) await requireConsole(request, ctx);
    return principal;
  }

  async function admin(request: Request): Promise<void> {
    if ((await caller(request)).role !== 'admin')
      throw new Fault('forbidden', 'Only an admin may do this: sign in as one.');
  }

  api.get('/v1/admin/settings', async (c) => {
    const principal = await caller(c.req.raw);
    return c.json(settingsView(setup().view(), principal, changedByLocal()) satisfies Sent<Settings>);
  });

  api.patch('/v1/admin/settings', async (c) => {
    const principal = await caller(c.req.raw);
    const change = checked(SettingsChange, await body(ctx, c.req.raw));
    const reserved = Object.keys(change.values).find((key) => !changedByLocal().has(key));
    if (principal.role !== 'admin' && reserved !== undefined)
      throw new Fault('forbidden', 'Only an admin may change this: sign in as one.');
    const privileged = Object.keys(change.values).find((key) => !changedByKeys().has(key));
    if (privileged !== undefined)
      await requireLogin(ctx.authenticator, c.req.raw, `change the setting ${privileged}`);
    return c.json(
      settingsView(await setup().change(change), principal, changedByLocal()) satisfies Sent<Settings>,
    );
  });

  api.post('/v1/admin/models', async (c) => {
    await caller(c.req.raw);
    return c.json(
      (await setup().models(checked(ModelQuestion, await body(ctx, c.req.raw)))) satisfies Sent<ModelListing>,
    );
  });

  api.get('/v1/admin/agents', async (c) => {
    await caller(c.req.raw);
    const { agents } = ctx.engine.catalog.listed;
    const tools = ctx.engine.toolSpecs().map(({ name, description }) => ({ name, description }));
    return c.json({
      agents: agents.map(agentView),
      tools,
      fixed: setup().fixedIds(),
    } satisfies Sent<AgentSetup>);
  });

  api.post('/v1/admin/mcp/:name/restart', async (c) => {
    await caller(c.req.raw);
    if (!(await setup().restartMcp(c.req.param('name'))))
      throw new Fault('not_found', 'There is no such MCP server.');
    return c.body(null, 204);
  });

  api.get('/v1/admin/origins', async (c) => {
    await admin(c.req.raw);
    const refused = setup().refusedOrigins();
    return c.json({
      refused: refused.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
    } satisfies RefusedOriginList);
  });

  api.get('/v1/server/models', async (c) => {
    requirePermission(await principalOf(ctx.authenticator, c.req.raw), 'chat:send');
    return c.json({ providers: await setup().listModels() } satisfies Sent<ModelList>);
  });
}

const agentView = ({ id, name, description, instructions, model, tools, starters }: Agent) => ({
  id,
  name,
  description,
  instructions,
  model: model ?? null,
  tools: tools ?? null,
  starters: starters ?? [],
});

export const isLocal = ({ id }: Principal): boolean => id === LOCAL.id;

/**
 * Pages of other origins on the same machine are callers without a token as well, and extensions paired in open
 * mode act as the same user.
 */
async function requireConsole(request: Request, { authenticator, originOf }: Context): Promise<void> {
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
