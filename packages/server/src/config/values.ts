/**
 * Schemas of single settings. Each accepts the text of a variable or flag as well as JSON from the config file.
 * Messages continue a sentence that starts with the name of the setting, and never quote a secret.
 */
import { isObject, Role } from '@parlance/protocol';
import { z } from 'zod';
import { DIALECT_NAMES } from '../dialects/names.ts';

/** An extra listener of one dialect. */
export type ListenerAddress = { readonly dialect: string; readonly port: number };

const textToNumber = (raw: unknown) =>
  typeof raw === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(raw.trim()) ? Number(raw) : raw;

export function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.preprocess(textToNumber, z.number(message).int(message).min(min, message).max(max, message));
}

export function fraction() {
  const message = 'must be a number above 0 and at most 1';
  return z.preprocess(textToNumber, z.number(message).gt(0, message).max(1, message));
}

export const oneOf = <const Choices extends readonly [string, ...string[]]>(choices: Choices) =>
  z.enum(choices, `must be one of ${choices.join(', ')}`);

/** true, 1, yes or on; false, 0, no or off. */
export const flag = () =>
  z.preprocess(
    (raw) => (typeof raw === 'string' ? FLAG_WORDS.get(raw.trim().toLowerCase()) : raw),
    z.boolean('must be true or false'),
  );

const FLAG_WORDS = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

export const text = () => z.string('must be text').min(1, 'must not be empty');

const splitCommas = (raw: unknown): unknown => {
  if (Array.isArray(raw)) return raw.flatMap(splitCommas);
  if (typeof raw !== 'string') return raw;
  return raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
};

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(splitCommas, z.array(item, 'must be a list'));

/** Also an object instead of a list of `NAME=VALUE`. */
const pairsOf = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(
    (raw) => (isObject(raw) ? Object.entries(raw).map(([name, value]) => `${name}=${value}`) : raw),
    listOf(item),
  );

export const textList = () => listOf(z.string('must be a list of texts'));

/** A host name or address to listen on. The brackets of an IPv6 address are removed. */
export const host = () =>
  z
    .string('must be a host name or an address')
    .transform((raw) => raw.trim().replace(/^\[(.*)\]$/, '$1'))
    .pipe(
      z
        .string()
        .regex(/^([A-Za-z0-9._-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/, 'must be a host name or an address'),
    );

const EXTENSION_ORIGIN = /^(chrome|moz)-extension:\/\/[a-z0-9-]+$/;

/** Reason why a browser origin is invalid, or null. Origins must match exactly. */
function originProblem(origin: string): string | null {
  if (origin.includes('*')) return 'must name origins one by one: * is refused';
  if (EXTENSION_ORIGIN.test(origin)) return null;
  const url = URL.parse(origin);
  if (
    url === null ||
    (url.protocol !== 'http:' && url.protocol !== 'https:') ||
    url.username !== '' ||
    url.password !== ''
  )
    return 'must hold origins such as https://example.com';
  return url.origin === origin ? null : `must hold exact origins: write ${url.origin}`;
}

const originText = (what: string) =>
  z.string(what).superRefine((origin, context) => {
    const message = originProblem(origin);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

export const origins = () => listOf(originText('must be a list of origins'));

/** The address of a server: an origin of the web. */
export const webOrigin = () =>
  originText('must be an address such as https://chat.example.com').regex(
    /^https?:/,
    'must be an address such as https://chat.example.com',
  );

const alias = z.string('must hold FROM=TO').transform((raw, context) => {
  const [from = '', to = '', ...rest] = raw.split('=').map((side) => side.trim());
  if (from !== '' && to !== '' && rest.length === 0 && !/\*./.test(from)) return { from, to };
  context.addIssue({
    code: 'custom',
    message: `must hold FROM=TO with * only at the end of FROM, not "${raw}"`,
  });
  return z.NEVER;
});

/** `claude-*=gpt-5.5,gpt-4o=coder`, a list of these, or in the file also `{"gpt-4o": "coder"}`. */
export const aliases = () => pairsOf(alias);

/** `gpt-5=400000,llama3=8192`, or in the file `{"gpt-5": 400000}`. */
export const tokensByModel = () =>
  z.preprocess(
    (raw) =>
      typeof raw !== 'string'
        ? raw
        : Object.fromEntries(
            raw
              .split(',')
              .filter((pair) => pair.trim() !== '')
              .map((pair) => {
                const at = pair.lastIndexOf('=');
                return [
                  pair.slice(0, Math.max(at, 0)).trim(),
                  Number(pair.slice(at + 1).trim() || Number.NaN),
                ];
              }),
          ),
    z.record(
      z.string().min(1, 'must hold NAME=TOKENS').max(200),
      z.int('must hold NAME=TOKENS').min(1_000).max(100_000_000),
    ),
  );

const isDialect = (name: string): boolean => DIALECT_NAMES.some((dialect) => dialect === name);

const listener = z.string('must hold NAME=PORT').transform((raw, context): ListenerAddress => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const [name = '', port = '', ...rest] = raw.split('=').map((side) => side.trim());
  if (port === '' || rest.length > 0) return refuse(`must hold NAME=PORT, not "${raw}"`);
  if (!isDialect(name))
    return refuse(`names "${name}", which is not a dialect (${DIALECT_NAMES.join(', ')})`);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    return refuse(`gives ${name} the port "${port}": it must be a whole number from 0 to 65535`);
  return { dialect: name, port: Number(port) };
});

/** `agentloop=8080,broadcast=8001`, a list of these, or in the file also `{"agentloop": 8080}`. */
export const listeners = () => pairsOf(listener);

const user = z.strictObject(
  {
    name: z
      .string('has no name')
      .regex(/^[A-Za-z0-9._@-]{1,64}$/, 'has a name that is not 1 to 64 letters, digits or . _ @ -')
      .refine((name) => name !== 'local', 'has the name local, which is kept for callers without a token'),
    password: z.string('has no password').min(1, 'has an empty password'),
    role: z.enum(Role.options, `has a role that is not one of ${Role.options.join(', ')}`),
  },
  'must be name:password:role',
);
export type ConfiguredUser = z.output<typeof user>;

/** The password is the text between the first colon and the last: it may contain colons, but no semicolon. */
const splitUser = (entry: string) => {
  const first = entry.indexOf(':');
  const last = entry.lastIndexOf(':');
  if (first === last) return entry;
  return {
    name: entry.slice(0, first).trim(),
    password: entry.slice(first + 1, last),
    role: entry.slice(last + 1).trim(),
  };
};

export const users = () =>
  z.preprocess(
    (raw) =>
      typeof raw === 'string'
        ? raw
            .split(';')
            .filter((entry) => entry.trim() !== '')
            .map(splitUser)
        : raw,
    z
      .array(user, 'must be a list of name:password:role')
      .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'names a user twice'),
  );

export const secret = () =>
  z
    .string('must be text')
    .refine((value) => new TextEncoder().encode(value).length >= 32, 'must be at least 32 bytes long');

export const httpUrl = () =>
  z
    .string('must be text')
    .transform((value) => value.replace(/\/+$/, ''))
    .refine(
      (value) => /^https?:\/\/[^\s/]/.test(value) && URL.canParse(value),
      'must be an http:// or https:// URL',
    );

/** The address of a server, with its credentials. */
export const serverUrl = (protocols: readonly string[]) => {
  const message = `must be a ${protocols[0]}:// URL`;
  return z
    .string('must be text')
    .refine((value) => protocols.includes(URL.parse(value)?.protocol.replace(/:$/, '') ?? ''), message);
};
