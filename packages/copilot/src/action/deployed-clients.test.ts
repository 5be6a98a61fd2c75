import { describe, expect, test } from 'bun:test';
import { readAction } from '../testing/deployed-client.ts';
import { ACTION_NAMES, type Action, type Argument, type Parameter, parametersOf } from './action.ts';
import { parseAction } from './parse.ts';
import { sendAction } from './print.ts';

describe('deployed clients read what was meant', () => {
  /** Mulberry32: deterministic per seed. */
  function numbers(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  const ALPHABET = [
    '"',
    '\\',
    '\n',
    '\t',
    '\r',
    '(',
    ')',
    ',',
    ' ',
    'n',
    'u',
    '0',
    'a',
    'é',
    '你',
    '👋',
    '\u0000',
    '\ud800',
    '\udc00',
    '\u2028',
    "'",
    '`',
    '}',
  ];

  function randomAction(next: () => number): Action {
    const whole = (limit: number) => Math.floor(next() * limit);
    const text = () =>
      Array.from({ length: whole(12) }, () => ALPHABET[whole(ALPHABET.length)] ?? '').join('');
    const amount = () => Math.round(next() * 10_000) / 100;
    const name = ACTION_NAMES[whole(ACTION_NAMES.length)] ?? 'finish';
    const made: Record<Parameter, () => Argument> = {
      text,
      exact: text,
      url: () => `https://example.com/${text()}`,
      number: () => whole(2 ** 31),
      amount,
      offset: amount,
      flag: () => next() < 0.5,
    };
    const parameters = parametersOf(name) ?? [];
    const given = name === 'scroll' ? parameters.slice(0, whole(4)) : parameters;
    return { name, ...Object.fromEntries(given.map(([field, kind]) => [field, made[kind]()])) } as Action;
  }

  const argumentsOf = ({ name: _, ...fields }: Action) => Object.values(fields) as Argument[];
  const hasAll = (text: Argument) => ['"', "'", '`'].every((quote) => String(text).includes(quote));

  test.each([1, 2, 3, 4, 5])('2,000 actions of seed %d', (seed) => {
    const next = numbers(seed);
    for (let round = 0; round < 2_000; round++) {
      const action = randomAction(next);
      const { name, ...fields } = action;
      const meant = Object.values(fields) as Argument[];
      const sent = sendAction(action);
      if (meant.some(hasAll)) {
        // Replaced and reported, encoded, or not sent.
        if (sent) expect(readAction(sent.text).args).toHaveLength(meant.length);
        if (sent && name !== 'navigate' && name !== 'createTab') expect(sent.note).not.toBeNull();
        continue;
      }
      expect(sent).toEqual({ text: expect.any(String), action, note: null });
      expect(readAction(sent?.text ?? '')).toEqual({ name, args: meant });
    }
  });

  test.each([11, 12, 13])('a damaged action is refused or parsed as another valid one: seed %d', (seed) => {
    const next = numbers(seed);
    for (let round = 0; round < 2_000; round++) {
      const printed = sendAction(randomAction(next))?.text ?? '';
      const at = Math.floor(next() * printed.length);
      const damaged =
        printed.slice(0, at) + (ALPHABET[Math.floor(next() * ALPHABET.length)] ?? '') + printed.slice(at + 1);
      const action = parseAction(damaged);
      if (action) expect(readAction(damaged)).toEqual({ name: action.name, args: argumentsOf(action) });
    }
  });
});
