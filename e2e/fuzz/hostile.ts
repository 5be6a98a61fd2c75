/** Turns valid example messages into hostile ones, and generates noise. */
import type { RandomSource } from './random.ts';

/** JSON as text, because the worst cases cannot be expressed as a value. */
type Text = string;

const nested = (levels: number, open: string, close: string): Text =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

const LEAVES: readonly [Text, ...Text[]] = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  '1e-999',
  '9007199254740993',
  '123456789012345678901234567890',
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00x"',
  '"\\u202egnp.exe\\u2066"',
  '"\\u200b\\u200b"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"hasOwnProperty"',
  '"../../../../etc/passwd"',
  '"%00%2e%2e"',
  '"\'; drop table events; --"',
  '"<script>alert(1)</script>"',
  '"{{7*7}}"',
  '"\\u001b[2J\\u0007"',
  '[]',
  '{}',
  '[null]',
  '[[],[[]],{}]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1,"valueOf":1,"toJSON":1}',
  '{"length":4294967295}',
  '{"type":"text","text":"\\ud83d"}',
  JSON.stringify('x'.repeat(20_000)),
  JSON.stringify('é'.repeat(5_000)),
  JSON.stringify('\u202e'.repeat(1_000)),
  nested(200, '[', ']'),
  nested(12_000, '[', ']'),
  nested(12_000, '{"a":', '}'),
  nested(3_000, '{"type":"x","payload":[', ']}'),
  `[${'1,'.repeat(5_000)}1]`,
  `{${Array.from({ length: 500 }, (_, n) => `"k${n}":${n}`).join(',')}}`,
];

const KEYS: readonly [string, ...string[]] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  '\u0000',
  'id',
  'type',
  'payload',
];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Serialises the value and replaces each place that `change` selects; null removes the place. */
function written(
  value: unknown,
  change: (place: number) => Text | null | undefined,
  count = { at: 0 },
): Text | null {
  const changed = change(count.at++);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) {
    const items = value.map((inner) => written(inner, change, count)).filter((text) => text !== null);
    return `[${items.join(',')}]`;
  }
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).flatMap(([key, inner]) => {
    const text = inner === undefined ? null : written(inner, change, count);
    return text === null ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(',')}}`;
}

function places(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, inner) => sum + places(inner), 1);
  return isObject(value) ? Object.values(value).reduce((sum: number, inner) => sum + places(inner), 1) : 1;
}

const asIs = (example: unknown): Text => JSON.stringify(example);

const replaced = (example: unknown, chance: RandomSource): Text => {
  const [place, leaf] = [1 + chance.below(places(example)), chance.pick(LEAVES)];
  return written(example, (at) => (at === place ? leaf : undefined)) ?? '';
};

const removed = (example: unknown, chance: RandomSource): Text => {
  const place = 1 + chance.below(places(example));
  return written(example, (at) => (at === place ? null : undefined)) ?? '';
};

/** Adds a key, or repeats one, before or after the others. */
const extended = (example: unknown, chance: RandomSource): Text => {
  const text = asIs(example);
  const keys = isObject(example) ? Object.keys(example) : [];
  const key = chance.below(2) === 0 ? chance.pick(KEYS) : (keys[chance.below(keys.length)] ?? 'x');
  const member = `${JSON.stringify(key)}:${chance.pick(LEAVES)}`;
  return chance.below(2) === 0 ? text.replace(/^\{/, `{${member},`) : text.replace(/\}$/, `,${member}}`);
};

const cut = (example: unknown, chance: RandomSource): Text =>
  asIs(example).slice(0, chance.below(asIs(example).length));

const flipped = (example: unknown, chance: RandomSource): Text => {
  const text = asIs(example);
  const at = chance.below(text.length);
  return text.slice(0, at) + String.fromCharCode(chance.below(0x250)) + text.slice(at + 1);
};

const bare = (_: unknown, chance: RandomSource): Text => chance.pick(LEAVES);

const noise = (_: unknown, chance: RandomSource): Uint8Array =>
  Uint8Array.from({ length: chance.below(200) }, () => chance.below(256));

const bytes = (example: unknown, chance: RandomSource): Uint8Array => {
  const encoded = new TextEncoder().encode(asIs(example));
  if (encoded.length > 0 && chance.below(2) === 0) encoded[chance.below(encoded.length)] = chance.below(256);
  return encoded;
};

export type Hostile = string | Uint8Array;

/** Some mutations are harmless: valid messages must keep working between invalid ones. */
const WAYS: readonly [
  (example: unknown, chance: RandomSource) => Hostile,
  ...((example: unknown, chance: RandomSource) => Hostile)[],
] = [
  replaced,
  replaced,
  replaced,
  replaced,
  removed,
  extended,
  extended,
  cut,
  flipped,
  bare,
  noise,
  bytes,
  asIs,
];

export const hostile = (example: unknown, chance: RandomSource): Hostile =>
  chance.pick(WAYS)(example, chance);
