import { expect, test } from 'bun:test';
import { frameSummary } from './frame-summary.ts';

test('summarises frames of every contract by type and text', () => {
  const named = (value: unknown) => {
    const { type, text } = frameSummary(JSON.stringify(value));
    return `${type}: ${text}`;
  };
  expect(named({ id: '1', type: 'chat_message', content: 'Hello' })).toBe('chat_message: Hello');
  expect(
    named({
      type: 'response_item',
      payload: { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] },
    }),
  ).toBe('response_item message: Hi');
  expect(named({ event: 'pusher:subscribe', data: { channel: 'news' } })).toBe('pusher:subscribe: news');
  const content = [{ type: 'input_text', text: 'Hi' }];
  const input = [{ type: 'message', role: 'user', content }, { role: 'user' }];
  expect(named({ id: '1', type: 'user_input', payload: { input } })).toBe('user_input: Hi');
  const body = { success: true, data: { thought: 'I click.', action: 'click(2)' } };
  expect(named({ status: 200, body })).toBe('answer 200: click(2)');
  expect(named({ method: 'GET', path: '/api/session?limit=1' })).toBe(
    'GET /api/session: {"method":"GET","path":"/api/session?limit=1"}',
  );
  const rpc = { jsonrpc: '2.0', id: 1 };
  const prompt = [{ type: 'text', text: 'Hi' }];
  expect(named({ ...rpc, method: 'session/prompt', params: { sessionId: 'a', prompt } })).toBe(
    'session/prompt: {"sessionId":"a","prompt":[{"type":"text","text":"Hi"}]}',
  );
  expect(named({ ...rpc, result: { stopReason: 'end_turn' } })).toBe('result: {"stopReason":"end_turn"}');
  expect(named({ ...rpc, error: { code: -32601, message: 'Unknown' } })).toBe('error: Unknown');
  expect(named({ type: 'PONG' })).toBe('PONG: ');
  expect(named([1])).toBe('untyped: [1]');
  expect(frameSummary('{"half')).toEqual({ type: 'not JSON', text: '{"half' });
});
