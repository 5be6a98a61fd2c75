/**
 * Settings that admins can change at run time. Flags, environment and config file take precedence over stored
 * values.
 */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { isObject } from '@parlance/protocol';
import type { z } from 'zod';
import { byId } from '../lib/by-id.ts';
import type { Vendor } from '../providers/vendors.ts';
import {
  chooseModel,
  hasOwnAddress,
  type ModelChoice,
  type ModelSettings,
  modelNamed,
  modelsOfChain,
  requireKey,
  STORED_MODEL_SETTINGS,
} from './model.ts';
import { parse } from './parse.ts';
import type { SETTINGS } from './settings.ts';

/** Stored entries are added to the given ones. */
export const STORED_LISTS = [
  'agents',
  'domains',
  'mcpServers',
  'allowedOrigins',
  'listeners',
  'contextLimits',
  'spendLimits',
] as const;

export const STORED_KEYS = [...STORED_MODEL_SETTINGS, ...STORED_LISTS] as const;
export type StoredKey = (typeof STORED_KEYS)[number];
/** Values as they would be in the config file, and the address of each key, by vendor. */
export type StoredSettings = Readonly<Partial<Record<StoredKey | 'keyAddresses', unknown>>>;

type Parsed<Key extends StoredKey> = z.output<ReturnType<(typeof SETTINGS)[Key]['schema']>>;
type Lists = { readonly [Key in (typeof STORED_LISTS)[number]]: Parsed<Key> };

export type Changeable = Lists & {
  /** its key may be missing if it is not stored yet */
  readonly model: ModelChoice;
  /** names of the models that answer if it cannot, in order */
  readonly fallbacks: readonly string[];
  /** resolves another model by name, for an agent; throws `ConfigError` if its key is missing */
  readonly modelNamed: (model: string) => ModelChoice;
  /** the provider that answers for a model; its key may be missing */
  readonly providerNamed: (model: string) => ModelChoice['provider'];
  /** the key and address for a vendor; its key may be missing */
  readonly vendor: (provider: Vendor) => ModelChoice;
};

/** Throws `ConfigError` if a stored value is invalid or conflicts with another. */
export function changeableWith(given: ModelSettings & Lists, stored: StoredSettings): Changeable {
  const parsed = <Key extends StoredKey>(key: Key) =>
    (stored[key] === undefined ? undefined : parse(key, { label: key, raw: stored[key] })) as
      | Parsed<Key>
      | undefined;
  const combined: ModelSettings = {
    openaiModel: given.openaiModel,
    keyNames: given.keyNames,
    keyAddresses: addressesIn(stored.keyAddresses),
    // A single value that is given replaces the stored one.
    ...Object.fromEntries(STORED_MODEL_SETTINGS.map((key) => [key, given[key] ?? parsed(key)])),
  };
  // A stored provider was chosen for another model, unless it is a server of one's own.
  const nameDecides = given.model !== undefined && given.provider === undefined && !hasOwnAddress(combined);
  const [model, ...fallbacks] = combined.model === undefined ? [undefined] : modelsOfChain(combined.model);
  const settings = { ...combined, model, ...(nameDecides && { provider: undefined }) };
  return {
    model: chooseModel(settings),
    fallbacks,
    vendor: (provider) => chooseModel({ ...settings, provider }),
    providerNamed: (name) => modelNamed(settings, name).provider,
    modelNamed: (name) => requireKey(modelNamed(settings, name)),
    agents: byId(parsed('agents') ?? [], given.agents),
    domains: byId(parsed('domains') ?? [], given.domains),
    mcpServers: { ...startedIn(homeFolder(), parsed('mcpServers') ?? {}), ...given.mcpServers },
    contextLimits: { ...parsed('contextLimits'), ...given.contextLimits },
    spendLimits: [...given.spendLimits, ...(parsed('spendLimits') ?? [])],
    listeners: [...given.listeners, ...(parsed('listeners') ?? [])],
    allowedOrigins: [...new Set([...given.allowedOrigins, ...(parsed('allowedOrigins') ?? [])])],
  };
}

const addressesIn = (stored: unknown): NonNullable<ModelSettings['keyAddresses']> =>
  Object.fromEntries(
    Object.entries(isObject(stored) ? stored : {}).filter(([, address]) => typeof address === 'string'),
  );

/** In a container, a user id may have no entry and so no home folder. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/**
 * Programs start in the folder of the file that names them: in the current folder, a cloned repository could
 * decide what `npx` runs.
 */
export const startedIn = (folder: string, servers: Lists['mcpServers']): Lists['mcpServers'] =>
  Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      'url' in server ? server : { ...server, cwd: resolve(folder, server.cwd ?? '.') },
    ]),
  );
