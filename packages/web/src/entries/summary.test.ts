import { expect, test } from 'bun:test';
import { type DurableEvent, EVENTS, type EventType, parseDurableEvent } from '@parlance/protocol';
import { Glob } from 'bun';
import { duration, eventSummary, frameSummary, oneLine, SUMMARISED } from './summary.ts';

const TRANSCRIPTS = new URL('../../../server/src/testing/transcripts', import.meta.url).pathname;
const HEAD = { session: 's', id: 'f1', at: 1, seq: 1 };

test('every durable event type has a summary', () => {
  const events = (Object.keys(EVENTS) as EventType[]).filter((type) => EVENTS[type].durable);
  expect<string[]>([...SUMMARISED].sort()).toEqual(events.sort());
});

test('summaries of recorded scenarios are one line of bounded length', async () => {
  const types = new Set<string>();
  for await (const path of new Glob('**/*.jsonl').scan(TRANSCRIPTS))
    for (const line of (await Bun.file(`${TRANSCRIPTS}/${path}`).text()).trim().split('\n')) {
      const event = JSON.parse(line) as DurableEvent;
      if (!Number.isInteger(event.seq)) continue;
      const summary = eventSummary(parseDurableEvent(event));
      types.add(event.type);
      expect(summary).not.toBe('');
      expect(summary).not.toContain('\n');
      expect(summary).not.toContain('undefined');
      expect(summary).not.toContain('[object');
      expect(summary.length).toBeLessThanOrEqual(321);
    }
  expect(types.size).toBeGreaterThan(15);
});

test('a summary names the important fields', () => {
  const said = (body: object) => eventSummary(parseDurableEvent({ ...HEAD, ...body }));
  expect(said({ type: 'text.ended', turn: 't', block: 'b', text: 'Hello\n  there' })).toBe('“Hello there”');
  expect(
    said({
      type: 'tool.ended',
      turn: 't',
      call: 'c',
      outcome: 'failed',
      parts: [{ type: 'text', text: 'no such file' }],
      durationMs: 1_500,
      untrusted: true,
    }),
  ).toBe('failed after 1.5 s: “no such file” (untrusted content)');
  expect(said({ type: 'session.configured', model: null, by: 'uma' })).toBe('model: server default; by uma');
});

test('an unknown event of a newer server shows its own fields', () => {
  const newer = { ...HEAD, type: 'mood.changed', mood: 'glad' } as unknown as DurableEvent;
  expect(eventSummary(newer)).toBe('{"mood":"glad"}');
  expect(eventSummary({ ...HEAD, type: 'constructor' } as unknown as DurableEvent)).toBe('{}');
});

test('truncates long text with an ellipsis', () => {
  expect(oneLine('a'.repeat(1_000_000), 10)).toBe(`${'a'.repeat(10)}…`);
  expect(oneLine(' '.repeat(1_000), 10)).toBe('…');
  expect(oneLine('short', 10)).toBe('short');
});

test('formats durations in a fitting unit', () => {
  expect([0.4, 999, 1_000, 61_000].map(duration)).toEqual(['0 ms', '999 ms', '1.0 s', '1 min 1 s']);
});

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
