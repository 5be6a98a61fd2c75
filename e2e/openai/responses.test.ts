/** The Responses API, driven by the official client. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, type FakeModel, fakeModel } from '../fake-model.ts';
import { durableOf } from '../server-process.ts';
import { failure, openaiClient } from './client.ts';

type Event = OpenAI.Responses.ResponseStreamEvent;

const WEATHER: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};
const OWN_TOOLS = { type: 'mcp', server_label: 'parlance' } as OpenAI.Responses.Tool;

/** Repeats the last message of the user; calls what it is told to call. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `It is ${text}.` };
  if (text.startsWith('both'))
    return {
      calls: [
        ['weather', { city: 'Rome' }],
        ['weather', { city: 'Oslo' }],
      ],
    };
  if (text.startsWith('weather')) return { call: 'weather', input: { city: 'Rome' } };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: 'seen' } };
  return { say: `You said ${text}.`, think: 'Hm, let me see.' };
}

let model: FakeModel;
let server: TestServer;
let client: OpenAI;

beforeAll(async () => {
  model = fakeModel((request) => answerTo(request));
  server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
  });
  client = openaiClient(server.http);
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

type Params = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

const ask = (input: Params['input'], more: Params = {}) =>
  client.responses.create({ model: 'fake', input, ...more }).withResponse();

const sessionOf = (response: Response): string => response.headers.get('x-parlance-session') ?? '';
const turnsOf = async (session: string): Promise<number> =>
  (await durableOf(server, session)).filter(({ type }) => type === 'turn.started').length;
const promptOf = (): string => JSON.stringify(model.requests.at(-1)?.messages);

describe('a whole response', () => {
  test('has the fields of the API', async () => {
    const { data, response } = await ask('hello', { metadata: { topic: 'greeting' }, temperature: 0.5 });
    expect(data).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: { topic: 'greeting' },
      model: 'fake',
      parallel_tool_calls: true,
      previous_response_id: null,
      conversation: null,
      store: true,
      temperature: 0.5,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 105,
      },
    });
    expect(data.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(data.output_text).toBe('You said hello.');
    expect(sessionOf(response)).not.toBe('');
  });

  test('is retrieved by its id as it was given, and its input is listed', async () => {
    const { data } = await ask('to be kept', { instructions: 'Rhyme.' });
    const kept = await client.responses.retrieve(data.id);
    expect(kept).toEqual(data);
    expect(kept.instructions).toBe('Rhyme.');
    const items = await client.responses.inputItems.list(data.id);
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'to be kept' }] },
    ]);
  });

  test('deleted is not found from then on; the session stays', async () => {
    const { data, response } = await ask('delete me');
    expect((await ask('another')).data.status).toBe('completed');
    const deleted: unknown = await client.responses.delete(data.id);
    expect(deleted).toEqual({ id: data.id, object: 'response.deleted', deleted: true });
    expect(await failure(client.responses.retrieve(data.id))).toMatchObject({ status: 404 });
    expect(await failure(client.responses.delete(data.id))).toMatchObject({ status: 404 });
    expect(await failure(ask('more', { previous_response_id: data.id }))).toMatchObject({ status: 400 });
    expect(await turnsOf(sessionOf(response))).toBe(1);
  });

  test('that is not stored is not found afterwards', async () => {
    const { data } = await ask('forget', { store: false });
    expect(data).toMatchObject({ store: false });
    expect(await failure(client.responses.retrieve(data.id))).toMatchObject({ status: 404 });
    expect(await failure(ask('more', { previous_response_id: data.id }))).toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
  });
});

describe('a stream', () => {
  test('has its events in order, numbered without a gap, each with its name', async () => {
    const response = await fetch(`${server.http}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fake', input: 'one two', stream: true }),
    });
    expect(response.headers.get('x-parlance-session')).not.toBeNull();
    const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
    const events = frames.map((frame) => {
      const [name, data] = frame.split('\n');
      const event: Event = JSON.parse(data?.slice('data: '.length) ?? '');
      expect(name).toBe(`event: ${event.type}`);
      return event;
    });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace(/^response\./, ''));
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    const deltas = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    );
    expect(deltas).toEqual(['You ', 'said ', 'one ', 'two.']);
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('the response was not completed');
    expect(last.response.output).toHaveLength(2);
    expect(last.response.usage?.total_tokens).toBe(105);
    expect(JSON.parse(JSON.stringify(await client.responses.retrieve(last.response.id)))).toMatchObject(
      JSON.parse(JSON.stringify(last.response)),
    );
  });

  test('is put together by the client, and its id is good at once', async () => {
    const stream = client.responses.stream({ model: 'fake', input: 'first' });
    const first = await stream.finalResponse();
    expect(first.output_text).toBe('You said first.');
    const { data } = await ask('second', { previous_response_id: first.id });
    expect(data.output_text).toBe('You said second.');
    expect(data.previous_response_id).toBe(first.id);
    expect(promptOf()).toContain('You said first.');
  });

  test('of calls is put together by the client', async () => {
    const stream = client.responses.stream({ model: 'fake', input: 'both', tools: [WEATHER] });
    const { output } = await stream.finalResponse();
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    expect(calls.map((call) => JSON.parse(call.arguments))).toEqual([{ city: 'Rome' }, { city: 'Oslo' }]);
    expect(calls.every(({ status, call_id }) => status === 'completed' && call_id !== '')).toBeTrue();
  });

  test('can be read again, whole or after a number', async () => {
    const seen: Event[] = [];
    for await (const event of client.responses.stream({ model: 'fake', input: 'a b c d e' }))
      seen.push(event);
    const last = seen.at(-1);
    if (last?.type !== 'response.completed') throw new Error('the response was not completed');
    const { id } = last.response;
    for (const after of [undefined, 0, 5, seen.length - 2]) {
      const events: Event[] = [];
      const again = await client.responses.retrieve(id, {
        stream: true,
        ...(after !== undefined && { starting_after: after }),
      });
      for await (const event of again) events.push(event);
      const plain = (list: Event[]) => list.map(({ type, sequence_number }) => [sequence_number, type]);
      expect(plain(events)).toEqual(plain(seen.slice((after ?? -1) + 1)));
    }
    const helper = client.responses.stream({ response_id: id, starting_after: 3 });
    expect((await helper.finalResponse()).output_text).toBe('You said a b c d e.');
  });
});

describe('tools of the caller', () => {
  test('are the only ones offered, and the outputs continue the turn', async () => {
    const { data, response } = await ask('both', { tools: [WEATHER] });
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather']);
    expect(data.status).toBe('completed');
    expect(data.tools).toMatchObject([{ type: 'function', name: 'weather' }]);
    const calls = data.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    expect(calls.map(({ name, arguments: written }) => [name, written])).toEqual([
      ['weather', '{"city":"Rome"}'],
      ['weather', '{"city":"Oslo"}'],
    ]);
    const outputs = calls.map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'sunny',
    }));
    const next = await ask(outputs, { previous_response_id: data.id, tools: [WEATHER] });
    expect(next.data.output_text).toBe('It is sunny.');
    expect(next.data.output.map(({ type }) => type)).toEqual(['message']);
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(await turnsOf(sessionOf(response))).toBe(1);
    expect(await client.responses.retrieve(next.data.id)).toEqual(next.data);
    expect(await client.responses.retrieve(data.id)).toEqual(data);
    const items = await client.responses.inputItems.list(next.data.id);
    expect(items.data.map(({ type }) => type)).toEqual(['function_call_output', 'function_call_output']);
  });

  test('and instructions are of one request alone', async () => {
    const { data } = await ask('weather', { tools: [WEATHER], instructions: 'Rhyme.' });
    const [call] = data.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'rain' };
    const next = await ask([output], { previous_response_id: data.id, instructions: 'In prose.' });
    expect(next.data.instructions).toBe('In prose.');
    expect(model.requests.at(-1)?.messages[0]).toMatchObject({ role: 'system', content: 'In prose.' });
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).not.toContain('weather');
    const last = await ask('and now', { previous_response_id: next.data.id });
    expect(last.data.instructions).toBeNull();
    expect(promptOf()).not.toContain('In prose.');
  });

  test('a result is missing: 400 names the input', async () => {
    const { data } = await ask('both', { tools: [WEATHER] });
    const [call] = data.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'rain' };
    const failed = await failure(ask([output], { previous_response_id: data.id }));
    expect(failed).toMatchObject({ status: 400, param: 'input' });
  });

  test('beside those of the agent, which run here and are shown', async () => {
    const { data } = await ask('echo', { tools: [WEATHER, OWN_TOOLS] });
    const offered = model.requests.at(-1)?.tools?.map((tool) => tool.function.name);
    expect(offered).toContain('weather');
    expect(offered).toContain('echo');
    expect(data.output).toMatchObject([
      {
        type: 'mcp_call',
        server_label: 'parlance',
        name: 'echo',
        arguments: '{"value":"seen"}',
        output: expect.stringContaining('seen'),
        error: null,
      },
      { type: 'message' },
    ]);
    const stream = client.responses.stream({ model: 'fake', input: 'echo', tools: [OWN_TOOLS] });
    expect((await stream.finalResponse()).output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
  });

  test('of kinds that there are none of are left out, and refused as the choice', async () => {
    const tools = [{ type: 'web_search' }, { type: 'namespace', name: 'x', tools: [] }, WEATHER] as never;
    const { data } = await ask('weather', { tools });
    expect(data.output.map(({ type }) => type)).toEqual(['function_call']);
    const choice = { type: 'web_search_preview' } as never;
    expect(await failure(ask('hello', { tools, tool_choice: choice }))).toMatchObject({
      status: 400,
      param: 'tool_choice',
    });
  });
});

describe('an earlier response', () => {
  test('that is the last one is continued in its session, an older one in a new one', async () => {
    const first = await ask('one');
    const second = await ask('two', { previous_response_id: first.data.id });
    const third = await ask('three', { previous_response_id: second.data.id });
    expect(new Set([first, second, third].map(({ response }) => sessionOf(response))).size).toBe(1);
    const before = await durableOf(server, sessionOf(first.response));
    const branch = await ask('other', { previous_response_id: first.data.id });
    expect(sessionOf(branch.response)).not.toBe(sessionOf(first.response));
    expect(promptOf()).toContain('You said one.');
    expect(promptOf()).not.toContain('two');
    expect(await durableOf(server, sessionOf(first.response))).toEqual(before);
    expect(await turnsOf(sessionOf(branch.response))).toBe(1);
    const onBranch = await ask('more', { previous_response_id: branch.data.id });
    expect(sessionOf(onBranch.response)).toBe(sessionOf(branch.response));
  });

  test('with calls that were answered since can be answered otherwise, in a new session', async () => {
    const asked = await ask('weather', { tools: [WEATHER] });
    const [call] = asked.data.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const output = (words: string) => [
      { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: words },
    ];
    const more = { previous_response_id: asked.data.id, tools: [WEATHER] };
    const first = await ask(output('sun'), more);
    const second = await ask(output('rain'), more);
    expect(first.data.output_text).toBe('It is sun.');
    expect(second.data.output_text).toBe('It is rain.');
    expect(sessionOf(first.response)).toBe(sessionOf(asked.response));
    expect(sessionOf(second.response)).not.toBe(sessionOf(asked.response));
  });

  test('that is unknown or someone else’s is 400 as previous, and 404 otherwise', async () => {
    const { data } = await ask('mine');
    const key = await server.login('uma', 'uma-password');
    const other = openaiClient(server.http, { key });
    for (const id of [data.id, 'resp_1', `${data.id.slice(0, -1)}0`, 'x'.repeat(300)]) {
      const continued = other.responses.create({ model: 'fake', input: 'a', previous_response_id: id });
      expect(await failure(continued)).toMatchObject({ status: 400, code: 'previous_response_not_found' });
      expect(await failure(other.responses.retrieve(id))).toMatchObject({ status: 404 });
      expect(await failure(other.responses.cancel(id))).toMatchObject({ status: 404 });
      expect(await failure(other.responses.delete(id))).toMatchObject({ status: 404 });
      expect(await failure(other.responses.inputItems.list(id))).toMatchObject({ status: 404 });
    }
    expect((await client.responses.retrieve(data.id)).id).toBe(data.id);
  });
});
