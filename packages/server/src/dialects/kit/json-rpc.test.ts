import { expect, test } from 'bun:test';
import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import { errorOf, messageOf, methodNamed, paramsOf, RPC_CODES, RpcFault } from './json-rpc.ts';

const message = (fields: object) => messageOf({ jsonrpc: '2.0', ...fields });

test('requests, notifications and responses are told apart', () => {
  expect(message({ id: 1, method: 'a' })).toEqual({ kind: 'request', id: 1, method: 'a', params: {} });
  expect(message({ id: null, method: 'a', params: null })).toMatchObject({ kind: 'request', id: null });
  expect(message({ method: 'a', params: { b: 1 } })).toEqual({
    kind: 'notification',
    method: 'a',
    params: { b: 1 },
  });
  expect(message({ id: 'x', result: {} })).toEqual({ kind: 'response', id: 'x', result: {} });
  expect(message({ id: 'x', error: { code: 1, message: '' } })).toMatchObject({ result: undefined });
  expect(message({ error: {} })).toMatchObject({ kind: 'response', id: null });
});

test.each([
  [null, null],
  ['text', null],
  [[{ jsonrpc: '2.0', id: 1, method: 'a' }], null],
  [{ id: 1, method: 'a' }, 1],
  [{ jsonrpc: '2.0', id: {}, method: 'a' }, null],
  [{ jsonrpc: '2.0', id: 'x'.repeat(1_001), method: 'a' }, null],
  [{ jsonrpc: '2.0', id: Number.POSITIVE_INFINITY, method: 'a' }, null],
  [{ jsonrpc: '2.0', id: 1 }, 1],
  [{ jsonrpc: '2.0', id: 1, method: 7 }, 1],
  [{ jsonrpc: '2.0', id: 1, method: 'x'.repeat(201) }, 1],
  [{ jsonrpc: '2.0', id: 1, method: 'a', params: [1] }, 1],
  [{ jsonrpc: '2.0', result: {} }, null],
])('%j is invalid', (value, id) => {
  expect(messageOf(value)).toMatchObject({ kind: 'invalid', id });
});

test('a method is one of the table, not one of its prototype', () => {
  expect(methodNamed({ ping: 1 }, 'ping')).toBe(1);
  for (const name of ['constructor', '__proto__', 'toString'])
    expect(methodNamed({ ping: 1 }, name)).toBeUndefined();
});

test('faults become errors', () => {
  const codes = { not_found: -32_002 };
  expect(errorOf(new Fault('not_found', 'None.'), codes, -1)).toEqual({ code: -32_002, message: 'None.' });
  expect(errorOf(new Fault('busy', 'Busy.'), codes, -1)).toEqual({ code: -1, message: 'Busy.' });
  expect(errorOf(new RpcFault(-32_022, 'Old.', { supported: [] }), codes, -1)).toEqual({
    code: -32_022,
    message: 'Old.',
    data: { supported: [] },
  });
  expect(() => paramsOf(z.object({ a: z.object({ b: z.string('must be a text') }) }), { a: {} })).toThrow(
    new RpcFault(RPC_CODES.params, 'a.b: must be a text'),
  );
});
