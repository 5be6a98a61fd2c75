/**
 * Arguments so deeply nested that a recursive walk would overflow the stack: the model gets a tool error and
 * the turn continues.
 */
import { expect, test } from 'bun:test';
import { type DurableEvent, textOf } from '../packages/protocol/src/index.ts';
import { startTestServer } from '../packages/server/src/testing/server.ts';
import { followed, submit } from './server-process.ts';

const deep = (levels: number): string => `${'{"value":'.repeat(levels)}1${'}'.repeat(levels)}`;
const event = (data: string | object): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

type ModelApi = {
  readonly settings: (url: string) => Record<string, string>;
  readonly call: (written: string) => string;
  readonly done: string;
};

const chat = (delta: object, finish_reason: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason }] });
const openai = (api: string) => (url: string) => ({
  OPENAI_BASE_URL: url,
  OPENAI_API_KEY: 'key',
  OPENAI_API: api,
  MODEL: 'deep',
});
const completed = event({ type: 'response.completed', response: {} });
const anthropicEnd = (stop_reason: string): string =>
  event({ type: 'content_block_stop', index: 0 }) +
  event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } }) +
  event({ type: 'message_stop' });
const anthropicStart = (block: string): string =>
  event({ type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } }) +
  event(`{"type":"content_block_start","index":0,"content_block":${block}}`);

const APIS: Record<string, ModelApi> = {
  chat: {
    settings: openai('chat'),
    call: (written) =>
      chat({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'echo', arguments: written } }] }) +
      chat({}, 'tool_calls') +
      event('[DONE]'),
    done: chat({ content: 'Done.' }) + chat({}, 'stop') + event('[DONE]'),
  },
  responses: {
    settings: openai('responses'),
    call: (written) =>
      event({
        type: 'response.output_item.done',
        item: { type: 'function_call', call_id: 'call_1', name: 'echo', arguments: written },
      }) + completed,
    done: event({ type: 'response.output_text.delta', delta: 'Done.' }) + completed,
  },
  anthropic: {
    settings: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'key', MODEL: 'claude-deep' }),
    call: (written) =>
      anthropicStart(`{"type":"tool_use","id":"call_1","name":"echo","input":${written}}`) +
      anthropicEnd('tool_use'),
    done: anthropicStart('{"type":"text","text":"Done."}') + anthropicEnd('end_turn'),
  },
  google: {
    settings: (url) => ({ GOOGLE_BASE_URL: url, GOOGLE_API_KEY: 'key', MODEL: 'gemini-deep' }),
    call: (written) =>
      event(
        `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"functionCall":{"name":"echo","args":${written}}}]}}]}`,
      ),
    done: event({ candidates: [{ finishReason: 'STOP', content: { parts: [{ text: 'Done.' }] } }] }),
  },
};

const over = (events: readonly DurableEvent[]): boolean =>
  events.some(({ type }) => type === 'turn.failed' || type === 'turn.ended');

test.each(
  Object.keys(APIS).flatMap((name) => [
    [name, 100_000, 'failed'] as const,
    [name, 300, 'failed'] as const,
    [name, 100, 'ok'] as const,
  ]),
)('%s: arguments of %d levels: %s', async (name, levels, outcome) => {
  const api = APIS[name];
  if (!api) throw new Error(name);
  let asked = 0;
  const model = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(asked++ === 0 ? api.call(deep(levels)) : api.done, {
        headers: { 'content-type': 'text/event-stream' },
      }),
  });
  const server = await startTestServer(api.settings(`http://127.0.0.1:${model.port}`));
  try {
    await submit(server, 'one', 'Echo.');
    const events = await followed(server, 'one', over);
    expect(events.at(-1)?.type).toBe('turn.ended');
    const ended = events.find((event) => event.type === 'tool.ended');
    if (ended?.type !== 'tool.ended') throw new Error('the call did not end');
    expect(ended.outcome).toBe(outcome);
    if (outcome === 'failed') expect(textOf(ended.parts)).toContain('nested deeper than 200 levels');
    expect(events.find((event) => event.type === 'text.ended')).toMatchObject({ text: 'Done.' });
  } finally {
    await server.stop();
    await model.stop(true);
  }
});
