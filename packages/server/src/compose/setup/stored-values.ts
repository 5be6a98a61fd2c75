/** Applies changes to the stored settings, and hides their secrets. */
import { Fault, isObject, type Json, type JsonObject } from '@parlance/protocol';
import {
  addressSetting,
  type Changeable,
  type Config,
  isSameAddress,
  keyProblem,
  keySetting,
  STORED_KEYS,
  type StoredKey,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
} from '../../config/config.ts';

const SECRETS: readonly string[] = VENDOR_NAMES.map(keySetting);

const isStoredKey = (key: string): key is StoredKey => STORED_KEYS.some((known) => known === key);
const isSecret = (key: string): boolean => SECRETS.includes(key);

type Values = Readonly<Record<string, Json>>;
type Given = Config['given'];

/**
 * Throws `invalid` for unknown settings, and for those set by a flag, an environment variable or the config
 * file.
 */
export function changed(stored: JsonObject, values: Values, given: Given): JsonObject {
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
export function withKeyAddresses(next: JsonObject, values: Values, inUse: Changeable): JsonObject {
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
const LISTS: readonly string[] = [
  'agents',
  'domains',
  'mcpServers',
  'allowedOrigins',
  'doors',
] satisfies StoredKey[];

function checkKey(key: string, given: Given): void {
  if (!isStoredKey(key))
    throw new Fault('invalid', `The setting ${key.slice(0, 100)} cannot be changed here.`);
  const label = given.get(key);
  if (label !== undefined && !LISTS.includes(key))
    throw new Fault('invalid', `${label} is set at startup, which takes precedence. Change it there.`);
}

type Change = { readonly stored: JsonObject; readonly values: Values; readonly given: Given };

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
  return filled as Json;
}

const hasMoved = (next: unknown, before: unknown): boolean =>
  typeof before === 'string' && URL.parse(String(next))?.origin !== URL.parse(before)?.origin;

/** Why stored keys are not sent, by the name of the setting. */
export function keyProblemsOf(inUse: Changeable): Readonly<Record<string, string>> {
  return Object.fromEntries(
    VENDOR_NAMES.flatMap((vendor) => {
      const problem = keyProblem(inUse.vendor(vendor));
      return problem === null ? [] : [[keySetting(vendor), asSentence(problem)]];
    }),
  );
}

/** Messages of settings are part of a line; the console shows them as sentences. */
export function asSentence(message: string): string {
  // The name of a setting keeps its case.
  const sentence = message.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase());
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}

/** Removes secrets: leaves out keys, and replaces the values of variables and headers with null. */
export function shown(stored: JsonObject): { readonly stored: JsonObject; readonly secrets: string[] } {
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
  return open as Json;
}
