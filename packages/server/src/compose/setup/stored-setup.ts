/** Reads, changes and applies the stored settings, including those written by other nodes. */
import { Fault, isObject, type Json, type JsonObject } from '@parlance/protocol';
import { seal, unseal } from '../../accounts/seal.ts';
import type { SettingsStore } from '../../accounts/store.ts';
import {
  addressSetting,
  type Changeable,
  type Config,
  ConfigError,
  isSameAddress,
  keyProblem,
  keySetting,
  STORED_KEYS,
  STORED_LISTS,
  type StoredKey,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
} from '../../config/config.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import type { FixedIds, SetupChange, SetupView } from '../../dialects/kit/administration.ts';
import type { LiveConfig } from './live-config.ts';

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
    // Another call may have applied them meanwhile.
    if (version <= this.#loaded.version) return;
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

// Applies changes to the stored settings, and hides their secrets.

const SECRETS: readonly string[] = VENDOR_NAMES.map(keySetting);

const isStoredKey = (key: string): key is StoredKey => STORED_KEYS.some((known) => known === key);
const isSecret = (key: string): boolean => SECRETS.includes(key);

type Values = Readonly<Record<string, Json>>;
type SettingSources = Config['given'];

/**
 * Throws `invalid` for unknown settings, and for those set by a flag, an environment variable or the config
 * file.
 */
function changed(stored: JsonObject, values: Values, given: SettingSources): JsonObject {
  for (const key of Object.keys(values)) checkKey(key, given);
  const next: JsonObject = { ...stored, ...values };
  if (isObject(values.mcpServers)) next.mcpServers = withSecrets(values.mcpServers, stored.mcpServers);
  for (const vendor of VENDOR_NAMES) forgetKeyOfOtherAddress(vendor, { stored, values, given }, next);
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null));
}

/** Not a setting: the address that each stored key was entered for, by vendor. */
const KEY_ADDRESSES = 'keyAddresses';

/**
 * Records the address in use with each new key, and forgets those of removed keys. `inUse` combines `next` with
 * the settings of the start.
 */
function withKeyAddresses(next: JsonObject, values: Values, inUse: Changeable): JsonObject {
  const addresses = VENDOR_NAMES.flatMap((vendor) => {
    const key = keySetting(vendor);
    const choice = inUse.vendor(vendor);
    if (next[key] === undefined || choice.provider === 'offline') return [];
    const address = key in values ? choice.baseUrl : keyAddressIn(next, vendor);
    return address === undefined ? [] : [[vendor, address] as const];
  });
  const { [KEY_ADDRESSES]: _, ...rest } = next;
  return addresses.length === 0 ? rest : { ...rest, [KEY_ADDRESSES]: Object.fromEntries(addresses) };
}

function keyAddressIn({ [KEY_ADDRESSES]: addresses }: JsonObject, vendor: Vendor): string | undefined {
  const address = isObject(addresses) ? addresses[vendor] : undefined;
  return typeof address === 'string' ? address : undefined;
}

/** Lists are extended, so they can be changed although there are given entries. */
const LISTS: readonly string[] = STORED_LISTS;

function checkKey(key: string, given: SettingSources): void {
  if (!isStoredKey(key))
    throw new Fault('invalid', `The setting ${key.slice(0, 100)} cannot be changed here.`);
  const label = given.get(key);
  if (label !== undefined && !LISTS.includes(key))
    throw new Fault('invalid', `${label} is set at startup, which takes precedence. Change it there.`);
}

type Change = { readonly stored: JsonObject; readonly values: Values; readonly given: SettingSources };

/** A key is sent only to the address it was entered for: a new address requires entering the key again. */
function forgetKeyOfOtherAddress(vendor: Vendor, { stored, values, given }: Change, next: JsonObject): void {
  const [key, address] = [keySetting(vendor), addressSetting(vendor)] as const;
  const addressOf = (of: JsonObject) => String(of[address] ?? VENDORS[vendor].address);
  const before = [addressOf(stored), keyAddressIn(stored, vendor) ?? addressOf(stored)];
  if (!(address in values) || before.some((one) => isSameAddress(one, addressOf(next)))) return;
  const label = given.get(key);
  if (label !== undefined)
    throw new Fault('invalid', `${label} is set at startup: set the address there as well.`);
  if (!(key in values)) next[key] = null;
}

/**
 * Values of variables and headers are never shown: null keeps the stored one. Throws `invalid` if a header would be
 * sent to another host.
 */
function withSecrets(servers: JsonObject, stored: Json | undefined): JsonObject {
  const before = isObject(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [name, kept(server, before[name])]),
  );
}

function kept(server: Json, before: unknown): Json {
  if (!isObject(server)) return server;
  const old = isObject(before) ? before : {};
  const filled = { ...server };
  for (const field of ['env', 'headers']) {
    const [entries, known] = [server[field], old[field]];
    if (!isObject(entries)) continue;
    filled[field] = Object.fromEntries(
      Object.entries(entries).flatMap(([name, value]) => {
        if (value === null && hasMoved(server.url, old.url))
          throw new Fault('invalid', `Enter the value of ${name} again: the address is of another server.`);
        const text = value ?? (isObject(known) ? known[name] : undefined);
        return typeof text === 'string' ? [[name, text]] : [];
      }),
    );
  }
  return { ...filled, ...keptSecret(server, old) } as Json;
}

/** The secret of an OAuth client goes only to the authorization server that it was entered for. */
function keptSecret({ oauth }: JsonObject, { oauth: before }: Readonly<Record<string, unknown>>): JsonObject {
  if (!isObject(oauth) || oauth.clientSecret !== null) return {};
  const { clientSecret: _, ...rest } = oauth;
  const known = isObject(before) ? before.clientSecret : undefined;
  if (typeof known !== 'string') return { oauth: rest };
  if (isObject(before) && before.issuer !== oauth.issuer)
    throw new Fault('invalid', 'Enter the client secret again: the issuer is another one.');
  return { oauth: { ...rest, clientSecret: known } };
}

const hasMoved = (next: unknown, before: unknown): boolean =>
  typeof before === 'string' && URL.parse(String(next))?.origin !== URL.parse(before)?.origin;

/** Why stored keys are not sent, by the name of the setting. */
function keyProblemsOf(inUse: Changeable): Readonly<Record<string, string>> {
  return Object.fromEntries(
    VENDOR_NAMES.flatMap((vendor) => {
      const problem = keyProblem(inUse.vendor(vendor));
      return problem === null ? [] : [[keySetting(vendor), asSentence(problem)]];
    }),
  );
}

/** Messages of settings are part of a line; the console shows them as sentences. */
function asSentence(message: string): string {
  // The name of a setting keeps its case.
  const sentence = message.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase());
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}

/** Removes secrets: leaves out keys, and replaces the values of variables and headers with null. */
function shown(stored: JsonObject): { readonly stored: JsonObject; readonly secrets: string[] } {
  const open = Object.fromEntries(
    Object.entries(stored).filter(([key]) => !isSecret(key) && key !== KEY_ADDRESSES),
  );
  if (isObject(stored.mcpServers))
    open.mcpServers = Object.fromEntries(
      Object.entries(stored.mcpServers).map(([name, server]) => [name, hidden(server)]),
    );
  return { stored: open, secrets: Object.keys(stored).filter(isSecret) };
}

function hidden(server: Json): Json {
  if (!isObject(server)) return server;
  const open = { ...server };
  for (const field of ['env', 'headers'])
    if (isObject(server[field]))
      open[field] = Object.fromEntries(Object.keys(server[field]).map((name) => [name, null]));
  if (isObject(server.oauth) && server.oauth.clientSecret !== undefined)
    open.oauth = { ...server.oauth, clientSecret: null };
  return open as Json;
}
