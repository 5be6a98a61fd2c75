/** What the server is and how it was set up, as far as those who use it need to know. */
import type { ApprovalMode, Principal } from '@parlance/protocol';
import type { Engine } from '../../core/api/index.ts';

export type About = {
  readonly version: string;
  readonly auth: 'open' | 'required';
  /** what answers where neither session nor agent says otherwise */
  readonly provider: string;
  readonly model: string;
  readonly approval: ApprovalMode;
  /** commands run in one */
  readonly sandbox: boolean;
  /** where it listens, the default door first; known when it does */
  readonly doors: () => readonly { readonly dialect: string; readonly port: number }[];
  /** Pusher channels: the public key of the application, and the server that serves them where that is another */
  readonly channels: { readonly key: string; readonly host: string | null } | null;
  /** the provider that answers for a model; null where it cannot be reached */
  readonly providerOf: (model: string) => string | null;
};

export function aboutView(about: About, { catalog }: Engine, principal: Principal) {
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
    approval: about.approval,
    sandbox: about.sandbox,
    doors: about.doors(),
    channels: about.channels,
    defaultDomain: catalog.defaultDomain,
    domains: domains.map(({ id, name, description, defaultAgent, agents }) => ({
      id,
      name,
      description,
      defaultAgent,
      agents,
    })),
    agents: agents.map(({ id, name, description, model = null }) => ({ id, name, description, model })),
  };
}
