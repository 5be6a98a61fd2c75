/** Setup at run time: loads stored settings and applies their changes. */
import { type Changeable, type Config, lacksKey, requireKey, requireKeyOf } from '../../config/config.ts';
import type { AgentCatalog, Log } from '../../core/index.ts';
import type { Dialect } from '../../dialects/kit/dialect.ts';
import type { McpTools } from '../../tools/mcp/open.ts';
import { agentCatalog, chainsIn } from '../domains.ts';
import type { Storage } from '../storage.ts';
import { LiveConfig } from './live-config.ts';
import { StoredSetup } from './stored-setup.ts';

export type LiveSetup = { readonly live: LiveConfig; readonly stored: StoredSetup };

export type SetupParts = {
  readonly storage: Pick<Storage, 'store' | 'secret'>;
  readonly dialects: readonly Dialect[];
  readonly log: Log;
};

/**
 * Stored settings are applied when it resolves; changes by other nodes or processes are applied when noticed.
 * Throws `ConfigError` if the model needs a key that is neither given nor stored.
 */
export async function openSetup(
  config: Config,
  { storage: { store, secret }, dialects, log }: SetupParts,
  resources: AsyncDisposableStack,
): Promise<LiveSetup> {
  const live = new LiveConfig(config);
  let read = null as Changeable | null;
  const stored = new StoredSetup({
    config,
    live,
    settings: store.settings,
    secret,
    check(next) {
      read = next;
      requireKey(next.model);
      for (const model of chainsIn(next, agentCatalog(next, dialects))) next.modelNamed(model);
    },
    log,
  });
  await stored.load();
  if (lacksKey(live.current.model)) {
    // Stored settings that were refused say more: their key was entered for another address.
    if (read !== null) requireKeyOf(config, read);
    requireKeyOf(config, live.current);
  }
  const load = () => stored.load().catch((err) => log.warn({ err }, 'failed to read stored settings'));
  resources.defer(store.revocations.follow(() => void load()));
  return { live, stored };
}

export type ChangeHandlers = {
  readonly catalog: AgentCatalog;
  readonly mcp: McpTools;
  readonly dialects: readonly Dialect[];
  readonly log: Log;
};

/** Applies later changes to agents and MCP servers. */
export function followSettings(live: LiveConfig, { catalog, mcp, dialects, log }: ChangeHandlers): void {
  live.onChange((current) => {
    catalog.replace(agentCatalog(current, dialects));
    mcp.configure(current.mcpServers).catch((err) => log.error({ err }, 'failed to change MCP servers'));
  });
}
