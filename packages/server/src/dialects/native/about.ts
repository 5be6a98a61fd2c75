/** Public information about the server and its setup, for users of the API. */
import type { Principal } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import type { Engine } from '../../core/index.ts';
import type { About } from '../kit/about.ts';
import type { Sent } from '../kit/endpoint.ts';

export function aboutView(about: About, { catalog }: Engine, principal: Principal): Sent<api.About> {
  const { domains, agents } = catalog.listed;
  const named = agents.flatMap(({ model }) => (model === undefined ? [] : [model]));
  return {
    version: about.version,
    auth: about.auth,
    principal,
    provider: about.provider,
    model: about.model,
    models: [...new Set([about.model, ...named, 'offline'])].flatMap((id) => {
      const provider = id === about.model ? about.provider : about.providerOf(id);
      return provider === null ? [] : [{ id, provider }];
    }),
    vendors: about.vendors,
    approval: about.approval,
    sandbox: about.sandbox,
    listeners: about.listeners(),
    dialects: about.dialects,
    // The dialect of the channels adds what it has to say.
    ...(about.additions() as Pick<api.About, 'channels'>),
    defaultDomain: catalog.defaultDomain,
    domains: domains.map(({ id, name, description, defaultAgent, agents }) => ({
      id,
      name,
      description,
      defaultAgent,
      agents,
    })),
    agents: agents.map(({ id, name, description, model = null, tools = null, starters = [] }) => ({
      id,
      name,
      description,
      model,
      tools,
      starters,
    })),
  };
}
