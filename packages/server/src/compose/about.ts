/** Public information about the server, from the configuration and the dialects. */
import type { DialectList } from '@parlance/protocol/api';
import { version } from '../../package.json' with { type: 'json' };
import { type Config, ConfigError } from '../config/config.ts';
import type { About } from '../dialects/shared/about.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import { socketRoutes } from '../dialects/shared/listen.ts';
import { vendorViews } from '../providers/vendors.ts';
import type { LiveConfig } from './setup/live-config.ts';
import type { ServerState } from './state.ts';

export type AboutParts = {
  readonly hasSandbox: boolean;
  readonly dialects: readonly Dialect[];
  readonly state: ServerState;
  readonly live: LiveConfig;
};

export function aboutOf(config: Config, { hasSandbox, dialects, state, live }: AboutParts): About {
  const { auth, approval } = config;
  let dialectList: Promise<DialectList> | null = null;
  return {
    version,
    auth,
    approval,
    get provider() {
      return live.current.model.provider;
    },
    get model() {
      const { model } = live.current;
      return model.provider === 'offline' ? 'offline' : model.model;
    },
    vendors: vendorViews(),
    sandbox: hasSandbox,
    doors: () => state.listening.map(({ dialect, port }) => ({ dialect, port })),
    dialects: dialects.map(({ name, listen }) => ({
      name,
      sockets: [...new Set(socketRoutes(listen).map(({ ws }) => ws))],
    })),
    dialectList() {
      dialectList ??= import('../describe/dialect-list.ts').then((built) => built.dialectList(state.served));
      return dialectList;
    },
    additions: () => Object.assign({}, ...state.served.map(({ inbound }) => inbound.about)),
    providerOf(name) {
      try {
        return live.current.modelNamed(name).provider;
      } catch (thrown) {
        if (thrown instanceof ConfigError) return null;
        throw thrown;
      }
    },
  };
}
