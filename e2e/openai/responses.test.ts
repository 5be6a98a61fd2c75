/** The Responses API, driven by the official client. */
import { describe, expect, test } from 'bun:test';
import { durableOf } from '../server-process.ts';
import { failure, openaiClient, sessionOf } from './client.ts';
import { callsIn, type Event, responsesServer, WEATHER } from './responses-setup.ts';

const { server, client, ask, turnsOf, promptText } = await responsesServer();

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

  test('is retrieved unchanged by its id, and its input is listed', async () => {
    const { data } = await ask('to be kept', { instructions: 'Rhyme.' });
    const kept = await client.responses.retrieve(data.id);
    expect(kept).toEqual(data);
    expect(kept.instructions).toBe('Rhyme.');
    const items = await client.responses.inputItems.list(data.id);
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'to be kept' }] },
    ]);
  });

  test('is not found after it was deleted; the session stays', async () => {
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

  test('is assembled by the client, and its id is valid at once', async () => {
    const stream = client.responses.stream({ model: 'fake', input: 'first' });
    const first = await stream.finalResponse();
    expect(first.output_text).toBe('You said first.');
    const { data } = await ask('second', { previous_response_id: first.id });
    expect(data.output_text).toBe('You said second.');
    expect(data.previous_response_id).toBe(first.id);
    expect(promptText()).toContain('You said first.');
  });

  test('of calls is assembled by the client', async () => {
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

describe('an earlier response', () => {
  test('that is the last one is continued in its session, an older one in a new one', async () => {
    const first = await ask('one');
    const second = await ask('two', { previous_response_id: first.data.id });
    const third = await ask('three', { previous_response_id: second.data.id });
    expect(new Set([first, second, third].map(({ response }) => sessionOf(response))).size).toBe(1);
    const before = await durableOf(server, sessionOf(first.response));
    const branch = await ask('other', { previous_response_id: first.data.id });
    expect(sessionOf(branch.response)).not.toBe(sessionOf(first.response));
    expect(promptText()).toContain('You said one.');
    expect(promptText()).not.toContain('two');
    expect(await durableOf(server, sessionOf(first.response))).toEqual(before);
    expect(await turnsOf(sessionOf(branch.response))).toBe(1);
    const onBranch = await ask('more', { previous_response_id: branch.data.id });
    expect(sessionOf(onBranch.response)).toBe(sessionOf(branch.response));
  });

  test('with answered calls can be answered differently, in a new session', async () => {
    const asked = await ask('weather', { tools: [WEATHER] });
    const [call] = callsIn(asked.data);
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

  test('that is unknown or of another user is 400 as previous, and 404 otherwise', async () => {
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
