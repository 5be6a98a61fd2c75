/** What clients are told about the server: it follows from the configuration. */
import { version } from '../../package.json' with { type: 'json' };
import { type Config, ConfigError } from '../config/config.ts';
import type { About } from '../dialects/native/about.ts';

export function aboutOf(config: Config, sandbox: boolean, doors: About['doors']): About {
  const { auth, approval, model } = config;
  return {
    version,
    auth,
    approval,
    provider: model.provider,
    model: model.provider === 'offline' ? 'offline' : model.model,
    sandbox,
    doors,
    channels: config.channels ? { key: config.channelsKey, host: config.channelsHost ?? null } : null,
    providerOf(name) {
      try {
        return config.modelNamed(name).provider;
      } catch (thrown) {
        if (thrown instanceof ConfigError) return null;
        throw thrown;
      }
    },
  };
}
