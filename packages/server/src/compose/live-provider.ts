/** Provider for the server's default model: each request uses the model configured at that time. */
import type { Changeable, Config } from '../config/config.ts';
import type { Provider } from '../core/ports/provider.ts';
import type { Log } from '../core/ports/telemetry.ts';
import { fallbacksNamed, openProvider } from './model-provider.ts';
import type { LiveConfig } from './setup/live-config.ts';

export function liveProvider(
  config: Config,
  { live, providerFor, log }: { live: LiveConfig; providerFor: (model: string) => Provider; log: Log },
): Provider {
  const open = ({ model, contextLimits, fallbacks }: Changeable): Provider => ({
    ...openProvider(model, { ...config, contextLimits }, log),
    fallbacks: fallbacksNamed(fallbacks, providerFor, log),
  });
  let current = open(live.current);
  live.onChange((changed) => {
    current = open(changed);
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
    get fallbacks() {
      return current.fallbacks ?? [];
    },
    acceptsLink: (link) => current.acceptsLink?.(link) ?? false,
    stream: (prompt, signal, take) => current.stream(prompt, signal, take),
  };
}
