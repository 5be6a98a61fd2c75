/** Whole turns as clients of the vendors' APIs see them, with a scripted model. */
import { join } from 'node:path';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { waitingApproval } from '../exchange.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../scripted-model.ts';
import { postJson } from '../server-process.ts';
import { Recording } from './recording.ts';

type Turn = (recording: Recording, http: string) => Promise<unknown>;

const WEATHER = { name: 'weather', description: 'The weather of a city.' };
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** The scripted model: calls the tool named by the message, otherwise repeats the message. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content);
  if (last?.role === 'tool') return { say: 'It is done.' };
  if (text.startsWith('weather')) return { call: 'weather', input: { city: 'Rome' } };
  if (text.startsWith('touch')) return { call: 'shell', input: { command: ['touch', 'a.txt'] } };
  return { say: `You said ${text}.`, think: 'Hm, let me see.' };
}

const response = (input: unknown, more: object = {}) => ({ model: 'fake', input, stream: true, ...more });
const chat = (messages: unknown, more: object = {}) => ({ model: 'fake', messages, stream: true, ...more });
const message = (messages: unknown, more: object = {}) => ({
  model: 'fake',
  max_tokens: 100,
  messages,
  stream: true,
  ...more,
});
const user = (content: unknown) => ({ role: 'user', content });

type Item = Record<string, unknown>;

/** The final response of a stream. */
function finalOf(events: readonly Record<string, unknown>[]) {
  const { response: final } = (events.at(-1) ?? {}) as { response?: { id: string; output: Item[] } };
  return { id: final?.id ?? '', last: final?.output.at(-1) ?? {} };
}

async function answeredApproval(recording: Recording, answer: object): Promise<void> {
  const { id, last } = finalOf(await recording.send('/v1/responses', response('touch')));
  const reply = { type: 'mcp_approval_response', approval_request_id: last.id, ...answer };
  await recording.send('/v1/responses', response([reply], { previous_response_id: id }));
}

export const TURNS: Readonly<Record<string, Turn>> = {
  'responses-text': (recording) => recording.send('/v1/responses', response('hello there')),

  'responses-whole': (recording) =>
    recording.send('/v1/responses', response('hello there', { stream: false, metadata: { a: 'b' } })),

  async 'responses-caller-tool'(recording) {
    const tools = [{ type: 'function', ...WEATHER, parameters: SCHEMA, strict: false }];
    const { id, last } = finalOf(await recording.send('/v1/responses', response('weather', { tools })));
    const output = { type: 'function_call_output', call_id: last.call_id, output: 'sunny' };
    await recording.send('/v1/responses', response([output], { previous_response_id: id, tools }));
  },

  'responses-approval': (recording) => answeredApproval(recording, { approve: true }),

  'responses-denial': (recording) => answeredApproval(recording, { approve: false, reason: 'not now' }),

  async 'responses-background'(recording) {
    const events = await recording.send('/v1/responses', response('hello', { background: true }));
    const { id } = finalOf(events);
    await recording.get(`/v1/responses/${id}`);
    await recording.get(`/v1/responses/${id}?stream=true&starting_after=${events.length - 3}`);
    await recording.get(`/v1/responses/${id}/input_items`);
  },

  'chat-text': (recording) =>
    recording.send(
      '/v1/chat/completions',
      chat([user('hello')], { stream_options: { include_usage: true } }),
    ),

  async 'chat-caller-tool'(recording) {
    const tools = [{ type: 'function', function: { ...WEATHER, parameters: SCHEMA } }];
    const events = await recording.send('/v1/chat/completions', chat([user('weather')], { tools }));
    const calls = events.flatMap(({ choices }) => {
      const [choice] = (choices ?? []) as { delta: { tool_calls?: { id?: string }[] } }[];
      return choice?.delta.tool_calls?.flatMap(({ id }) => id ?? []) ?? [];
    });
    const call = {
      id: calls[0],
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    };
    const messages = [
      user('weather'),
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: calls[0], content: 'sunny' },
    ];
    await recording.send('/v1/chat/completions', chat(messages, { tools, stream: false }));
  },

  'messages-text': (recording) =>
    recording.send('/v1/messages', message([user('hello')], { thinking: { type: 'adaptive' } })),

  async 'messages-caller-tool'(recording) {
    const tools = [{ ...WEATHER, input_schema: SCHEMA }];
    const events = await recording.send('/v1/messages', message([user('weather')], { tools }));
    const { content_block: block } = events.find(({ type }) => type === 'content_block_start') as {
      content_block: { id: string };
    };
    const result = { type: 'tool_result', tool_use_id: block.id, content: 'sunny' };
    const called = { type: 'tool_use', id: block.id, name: 'weather', input: { city: 'Rome' } };
    const messages = [user('weather'), { role: 'assistant', content: [called] }, user([result])];
    await recording.send('/v1/messages', message(messages, { tools, stream: false }));
  },

  async 'messages-approval'(recording, http) {
    const asked = recording.send('/v1/messages', message([user('touch')]));
    const approval = await waitingApproval({ http });
    await postJson(`${http}/v1/approvals/${approval}`, { answer: 'deny' });
    await asked;
  },
};

export const goldenFile = (name: string): string => join(import.meta.dir, 'golden', `${name}.jsonl`);

/** What was sent and received in each of the turns. */
export async function recordedTurns(): Promise<Record<string, string>> {
  const model = scriptedModel(answerTo);
  const server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  const recorded: Record<string, string> = {};
  try {
    for (const [name, play] of Object.entries(TURNS)) {
      const recording = new Recording(server.http);
      await play(recording, server.http);
      recorded[name] = String(recording);
    }
  } finally {
    await server.stop();
    model.stop();
  }
  return recorded;
}
