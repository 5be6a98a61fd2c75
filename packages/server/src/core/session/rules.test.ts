import { describe, expect, test } from 'bun:test';
import { canMatch, decisionOf, MATCHED_CHARACTERS, matches, type Rule } from './rules.ts';

const deny = (pattern: string): Rule => ({ tool: 'shell', pattern, decision: 'deny' });
const ask = (pattern: string): Rule => ({ tool: 'shell', pattern, decision: 'ask' });
const allow = (pattern: string): Rule => ({ tool: 'shell', pattern, decision: 'allow' });
const SHELL = ['shell'];

describe('a pattern', () => {
  test.each([
    ['git push', 'git push', true],
    ['git push', 'git push origin', false],
    ['git push*', 'git push origin', true],
    ['git push*', 'git pus', false],
    ['*', '', true],
    ['**', 'anything\nat all', true],
    ['*.env', 'a/.env', true],
    ['*.env', 'a/.envy', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b*', 'xxbxxaxx', false],
    ['ab*ba', 'aba', false],
    ['*ab*ab', 'abab', true],
    ['*ab*ab', 'ab', false],
    ['make (all)+', 'make (all)+', true],
    ['make (all)+', 'make all', false],
  ])('%j and %j: %p', (pattern, subject, expected) => {
    expect(matches(pattern, subject)).toBe(expected);
  });

  test('with many stars matches a long command in one pass', () => {
    const pattern = '* push * main * --force';
    const near = 'git push main --forc'.repeat(10_000);
    expect(matches(pattern, near)).toBe(false);
    expect(matches(pattern, `${near} push x main x --force`)).toBe(true);
    expect(matches(`${'*a'.repeat(50)}*b`, 'a'.repeat(200_000))).toBe(false);
  });

  test.each([
    ['git push*', 'git ', true],
    ['git push*', 'git push origin ', true],
    ['git push*', 'echo ', false],
    ['git push*', '', true],
    ['git push', 'git pu', true],
    ['git push', 'git push ', false],
    ['*secret*', 'echo ', true],
  ])('%j could match a text that starts with %j: %p', (pattern, beginning, expected) => {
    expect(canMatch(pattern, beginning)).toBe(expected);
  });
});

describe('a call that is longer than the matched prefix', () => {
  const long = `echo ${'x'.repeat(MATCHED_CHARACTERS)}`;

  test('is denied if a rule that denies could match', () => {
    expect(decisionOf([deny('*secret*')], SHELL, { literal: [long] })).toBe('deny');
    expect(decisionOf([deny('echo *')], SHELL, { literal: [long] })).toBe('deny');
  });

  test('requires approval if a rule that asks could match', () => {
    expect(decisionOf([ask('*secret*'), deny('git push*')], SHELL, { literal: [long] })).toBe('ask');
  });

  test('is not allowed by a rule, and ignores rules for other commands', () => {
    expect(decisionOf([allow('*')], SHELL, { literal: [long] })).toBeNull();
    expect(decisionOf([deny('git push*')], SHELL, { literal: [long] })).toBeNull();
    expect(decisionOf([allow('*')], SHELL, { literal: [long.slice(0, 1_000)] })).toBe('allow');
  });
});

describe('names other than the literal one', () => {
  const subjects = { literal: ['/tmp/git push'], normalised: ['git push'] };

  test('match rules that deny or ask, but not rules that allow', () => {
    expect(decisionOf([deny('git push*')], SHELL, subjects)).toBe('deny');
    expect(decisionOf([ask('git push*')], SHELL, subjects)).toBe('ask');
    expect(decisionOf([allow('git push*')], SHELL, subjects)).toBeNull();
    expect(decisionOf([allow('/tmp/git push*')], SHELL, subjects)).toBe('allow');
  });

  test('rules for each name of the tool apply', () => {
    expect(decisionOf([deny('git push*')], ['local_shell', 'shell'], subjects)).toBe('deny');
    expect(decisionOf([deny('git push*')], ['local_shell'], subjects)).toBeNull();
  });
});

describe('a command that cannot be parsed completely', () => {
  test('requires approval if a rule that denies or asks could match it', () => {
    const partial = ['git '];
    expect(decisionOf([deny('git push*')], SHELL, { literal: null, partial })).toBe('ask');
    expect(decisionOf([ask('git push*')], SHELL, { literal: null, partial })).toBe('ask');
    expect(decisionOf([deny('rm *')], SHELL, { literal: null, partial })).toBeNull();
    expect(decisionOf([allow('*')], SHELL, { literal: null, partial })).toBeNull();
  });

  test('matches every rule if no part of it is known', () => {
    expect(decisionOf([deny('rm *')], SHELL, { literal: null })).toBe('ask');
    expect(decisionOf([], SHELL, { literal: null })).toBeNull();
  });
});
