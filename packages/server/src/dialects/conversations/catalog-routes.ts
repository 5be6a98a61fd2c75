/** Lists the domains, agents and tools of the server. */
import { Fault } from '@parlance/protocol';
import type { Context, Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { agentObject, domainObject, toolObject } from './objects.ts';
import { parseAs } from './request-body.ts';
import { AgentsQuery } from './schemas.ts';

export function catalogRoutes(
  api: Hono,
  ctx: Pick<DialectContext, 'about' | 'authenticator' | 'engine'>,
): void {
  const { engine, authenticator } = ctx;
  const caller = (c: Context) => principalOf(authenticator, c.req.raw);

  api.get('/domains', async (c) => {
    await caller(c);
    return c.json(engine.catalog.listed.domains.map(domainObject));
  });

  api.get('/domains/:domain', async (c) => {
    await caller(c);
    const found = engine.catalog.listed.domains.find(({ id }) => id === c.req.param('domain'));
    if (!found) throw new Fault('not_found', 'Unknown domain');
    return c.json(domainObject(found));
  });

  api.get('/agents', async (c) => {
    await caller(c);
    const { domain_id: domain } = parseAs(AgentsQuery, c.req.query());
    const { domains, agents } = engine.catalog.listed;
    const members = domains.find(({ id }) => id === domain)?.agents ?? [];
    const listed = domain === undefined ? agents : agents.filter(({ id }) => members.includes(id));
    return c.json(listed.map((agent) => agentObject(agent, ctx, domain)));
  });

  api.get('/agents/:agent', async (c) => {
    await caller(c);
    const found = engine.catalog.listed.agents.find(({ id }) => id === c.req.param('agent'));
    if (!found) throw new Fault('not_found', 'Unknown agent');
    return c.json(agentObject(found, ctx));
  });

  api.get('/tools', async (c) => {
    await caller(c);
    return c.json(engine.toolSpecs().map(toolObject));
  });
}
