/** Provider for the server's default model: each request uses the model configured at that time. */
import type { Config } from '../config/config.ts';
import type { Provider } from '../core/ports/provider.ts';
import type { Log } from '../core/ports/telemetry.ts';
import { openProvider } from './model-provider.ts';
import type { LiveConfig } from './setup/live-config.ts';

export function liveProvider(config: Config, live: LiveConfig, log: Log): Provider {
  let current = openProvider(live.current.model, config, log);
  live.onChange(({ model }) => {
    current = openProvider(model, config, log);
  });
  return {
    get name() {
      return current.name;
    },
    get model() {
      return current.model;
    },
    get contextLimit() {
      return current.contextLimit;
    },
    get counts() {
      return current.counts ?? false;
    },
    acceptsLink: (link) => current.acceptsLink?.(link) ?? false,
    stream: (prompt, signal, take) => current.stream(prompt, signal, take),
  };
}
