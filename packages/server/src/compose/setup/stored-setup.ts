/** Reads, changes and applies the stored settings, including those written by other nodes. */
import { Fault, type JsonObject } from '@parlance/protocol';
import { seal, unseal } from '../../auth/seal.ts';
import { type Changeable, type Config, ConfigError } from '../../config/config.ts';
import type { Log } from '../../core/ports/logger.ts';
import type { SettingsStore } from '../../core/ports/settings.ts';
import type { FixedIds, SetupChange, SetupView } from '../../dialects/shared/setup.ts';
import type { LiveConfig } from './live-config.ts';
import { asSentence, changed, keyProblemsOf, shown, withKeyAddresses } from './stored-values.ts';

/** name of the document */
const DOCUMENT = 'setup';
const UNREADABLE =
  'The stored settings were encrypted with another AUTH_SECRET and cannot be read. Enter them again.';
const MAX_CHARACTERS = 1_000_000;

export type StoredSetupParts = {
  readonly config: Pick<Config, 'changeable' | 'given'>;
  readonly live: LiveConfig;
  readonly settings: SettingsStore;
  readonly secret: Uint8Array<ArrayBuffer>;
  /** Throws `ConfigError` or `Fault` if the server cannot use the settings. */
  readonly check: (next: Changeable) => void;
  readonly log: Log;
};

type Loaded = { readonly version: number; readonly stored: JsonObject; readonly problem: string | null };

export class StoredSetup {
  #loaded: Loaded = { version: 0, stored: {}, problem: null };

  constructor(private readonly parts: StoredSetupParts) {}

  /** Applies the stored settings if they are new. Logs and ignores unusable ones. */
  async load(): Promise<void> {
    const { settings, secret, log } = this.parts;
    const found = await settings.read(DOCUMENT);
    const version = found?.version ?? 0;
    if (version <= this.#loaded.version) return;
    const stored = await unseal(String(found?.value.sealed), secret);
    const problem = stored ? this.#apply(stored) : UNREADABLE;
    this.#loaded = { version, stored: stored ?? {}, problem };
    if (problem !== null) log.warn({ problem }, 'ignoring unusable stored settings');
    for (const reason of Object.values(keyProblemsOf(this.parts.live.current)))
      log.warn({ reason }, 'stored API key is not used');
  }

  /** Returns null if the settings were applied, otherwise the reason. */
  #apply(stored: JsonObject): string | null {
    try {
      this.parts.live.replace(this.#checked(stored));
      return null;
    } catch (thrown) {
      return reasonOf(thrown);
    }
  }

  #checked(stored: JsonObject): Changeable {
    const next = this.parts.config.changeable(stored);
    this.parts.check(next);
    return next;
  }

  async change({ version, values }: SetupChange): Promise<SetupView> {
    const { config, settings, secret } = this.parts;
    await this.load();
    const combined = changed(this.#loaded.stored, values, config.given);
    let next: JsonObject;
    try {
      next = withKeyAddresses(combined, values, config.changeable(combined));
      this.#checked(next);
    } catch (thrown) {
      throw new Fault('invalid', reasonOf(thrown));
    }
    const sealed = await seal(next, secret);
    if (sealed.length > MAX_CHARACTERS) throw new Fault('too_large', 'The settings are too long.');
    const isCurrent = version === this.#loaded.version;
    if (!isCurrent || !(await settings.write(DOCUMENT, { sealed }, version)))
      throw new Fault('busy', 'The settings have changed since they were loaded. Reload them.');
    await this.load();
    return this.view();
  }

  fixedIds(): FixedIds {
    const { agents, domains } = this.parts.config.changeable({});
    return { agents: agents.map(({ id }) => id), domains: domains.map(({ id }) => id) };
  }

  view(): SetupView {
    const { version, stored, problem } = this.#loaded;
    const { current } = this.parts.live;
    const { model } = current;
    return {
      version,
      problem,
      model:
        model.provider === 'offline'
          ? { provider: 'offline', model: 'offline', address: null }
          : { provider: model.provider, model: model.model, address: model.baseUrl },
      given: Object.fromEntries(this.parts.config.given),
      ...shown(stored),
      keyProblems: keyProblemsOf(current),
    };
  }
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof ConfigError || thrown instanceof Fault)) throw thrown;
  return asSentence(thrown.message);
}
