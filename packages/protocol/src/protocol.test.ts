import { describe, expect, test } from 'bun:test';
import {
  asFault,
  Command,
  Fault,
  isObject,
  LOCAL,
  ROLE_PERMISSIONS,
  SessionId,
  textOf,
  textPart,
} from './index.ts';

describe('commands', () => {
  test('have defaults for optional fields', () => {
    expect(Command.parse({ type: 'input.submit', parts: [] })).toEqual({
      type: 'input.submit',
      parts: [],
      mode: 'queue',
      named: true,
    });
    expect(Command.parse({ type: 'approval.answer', answer: 'deny' })).toMatchObject({ exit: false });
    expect(Command.parse({ type: 'session.create' })).toMatchObject({ named: true });
  });

  test('are refused if they are invalid', () => {
    const wrong = [
      { type: 'input.send', parts: [] },
      { type: 'input.submit' },
      { type: 'input.submit', parts: 'Hello' },
      { type: 'input.submit', parts: [{ type: 'text' }] },
      { type: 'input.submit', parts: [], mode: 'now' },
      { type: 'input.submit', parts: Array.from({ length: 101 }, () => textPart('x')) },
      { type: 'input.submit', parts: [{ type: 'image', mime: 'image/png', data: 'not base64!' }] },
      { type: 'approval.answer', answer: 'yes' },
      { type: 'approval.answer', answer: 'once', approval: '' },
    ];
    for (const command of wrong) expect(Command.safeParse(command).success).toBe(false);
  });
});

describe('session ids', () => {
  test('are printable and at most 200 characters long', () => {
    for (const id of ['a', 'session-1', 'Ümläut 日本 🙂', 'x'.repeat(200), '../../etc/passwd'])
      expect(SessionId.safeParse(id).success).toBe(true);
  });

  test('have no control characters or lone surrogates, and are neither empty nor too long', () => {
    for (const id of ['', 'x'.repeat(201), 'a\nb', 'a\0', '\u007f', 'a\ud800'])
      expect(SessionId.safeParse(id).success).toBe(false);
  });
});

describe('faults', () => {
  test('stay the same, and any other error becomes an internal fault without details', () => {
    const fault = new Fault('busy', 'Later.');
    expect(asFault(fault)).toBe(fault);
    expect(fault.data()).toEqual({ code: 'busy', message: 'Later.' });
    const cause = new Error('secret');
    const hidden = asFault(cause);
    expect(hidden.data()).toEqual({ code: 'internal', message: 'Something went wrong.' });
    expect(hidden.cause).toBe(cause);
    for (const thrown of [undefined, null, 'text', 7]) expect(asFault(thrown).code).toBe('internal');
  });
});

test('the text of parts is one line per text part, without images and files', () => {
  expect(textOf([])).toBe('');
  const image = { type: 'image', mime: 'image/png', data: 'AAAA' } as const;
  expect(textOf([textPart('one'), image, textPart('two')])).toBe('one\ntwo');
});

test('isObject is false for null and arrays', () => {
  expect([{}, { a: 1 }].every(isObject)).toBe(true);
  expect([null, undefined, [], 'x', 7].some(isObject)).toBe(false);
});

test('a caller without a token has all permissions on its own sessions and is not an admin', () => {
  expect(LOCAL.role).not.toBe('admin');
  expect(LOCAL.permissions).toEqual(ROLE_PERMISSIONS.developer);
  expect(ROLE_PERMISSIONS.user).not.toContain('tool:approve');
});
