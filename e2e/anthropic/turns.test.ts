/** The turn of a request: disconnects, approvals, interrupted answers, and kills. */
import { describe, expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import { until } from '../../packages/server/src/testing/until.ts';
import { waitingApproval } from '../exchange.ts';
import { has, testServers } from '../model-server.ts';
import type { Answer } from '../scripted-model.ts';
import { durableOf, followed, postJson, type Target } from '../server-process.ts';
import { anthropicClient, failure, sessionOf, textIn } from './client.ts';

const { answering, dictated, restartable } = testServers();

const hello = {
  model: 'parlance',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'hello' }],
};

const textOf = (event: Anthropic.RawMessageStreamEvent): string =>
  event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : '';

/** The raw stream. */
const raw = async (server: Target) =>
  (
    await fetch(`${server.http}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, stream: true }),
    })
  ).text();

test('text is streamed while the model writes it', async () => {
  const { model, server } = await dictated();
  model.say('One ');
  const stream = await anthropicClient(server.http).messages.create({ ...hello, stream: true });
  const pieces: string[] = [];
  for await (const event of stream) {
    const text = textOf(event);
    if (text === '') continue;
    pieces.push(text);
    if (text === 'One ') model.say('two ');
    else if (text === 'two ') {
      model.say('three');
      model.end();
    }
  }
  expect(pieces).toEqual(['One ', 'two ', 'three']);
});

describe('a client that disconnects', () => {
  test('while an answer is streamed ends the turn and the model request; the text so far is kept', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' });
    const client = anthropicClient(server.http, { session: 'left' });
    const stream = await client.messages.create({ ...hello, stream: true });
    for await (const event of stream) if (textOf(event) !== '') break;
    await model.aborted;
    const events = await followed(server, 'left', has('turn.cancelled'));
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ interrupted: true });
  });

  test('while it waits for a whole answer ends the turn as well', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' });
    const client = anthropicClient(server.http, { session: 'left' });
    const stop = new AbortController();
    const asked = failure(client.messages.create(hello, { signal: stop.signal }));
    await until(() => model.requests.length !== 0);
    stop.abort();
    await asked;
    await model.aborted;
    await followed(server, 'left', has('turn.cancelled'));
  });
});

describe('a call of the agent that needs an approval', () => {
  test.each([
    [false, 'once'],
    [true, 'once'],
    [true, 'deny'],
  ])('waits for an answer from elsewhere (stream: %p, %s)', async (stream, answer) => {
    const shell: Answer = { call: 'shell', input: { command: ['touch', 'a.txt'] } };
    const { server } = await answering(shell, { say: 'Done.' });
    const client = anthropicClient(server.http);
    const text = stream
      ? client.messages.stream(hello).finalText()
      : client.messages.create(hello).then((message) => textIn(message));
    const approval = await waitingApproval(server);
    await postJson(`${server.http}/v1/approvals/${approval}`, { answer });
    expect(await text).toBe('Done.');
  });
});

describe('an interrupted answer that is retried', () => {
  const broken: Answer = { say: 'One thing ', after: 'cut' };

  test('continues silently while the text is the same', async () => {
    const { server } = await answering(broken, { say: 'One thing more.' });
    expect(await anthropicClient(server.http).messages.stream(hello).finalText()).toBe('One thing more.');
  });

  test('ends with an error as soon as the text differs', async () => {
    const { server } = await answering(broken, { say: 'Another thing.' });
    const text = await raw(server);
    expect(text).not.toContain('Another');
    expect(text).not.toContain('message_stop');
    const [, data = ''] = /^event: error\ndata: (.*)$/.exec(text.trim().split('\n\n').at(-1) ?? '') ?? [];
    expect(JSON.parse(data)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: expect.any(String) },
      request_id: expect.any(String),
    });
  });

  test('is only the new one if nothing was sent yet', async () => {
    const { server } = await answering(broken, { say: 'Another thing.' });
    expect(textIn(await anthropicClient(server.http).messages.create(hello))).toBe('Another thing.');
  });
});

test('a failure in the middle of a stream is thrown by the client', async () => {
  const { model, server } = await dictated();
  model.say('Half ');
  const client = anthropicClient(server.http, { session: 'fails' });
  const stream = await client.messages.create({ ...hello, stream: true });
  const read = async () => {
    for await (const event of stream)
      if (textOf(event) === 'Half ')
        await postJson(`${server.http}/v1/sessions/fails/commands`, { type: 'turn.cancel' });
  };
  expect(await failure(read())).toMatchObject({ type: 'conflict_error' });
});

test('after a kill calls still wait for their results, threads continue, and the same key has the same answer', async () => {
  const { start } = restartable(({ messages, tools }) => {
    if (messages.at(-1)?.role === 'tool') return { say: 'Warm.' };
    return tools?.[0]?.function.name === 'weather'
      ? { call: 'weather', input: { city: 'Rome' } }
      : { say: 'Hello.' };
  });
  const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];
  const first = await start();
  const client = anthropicClient(first.http);
  const { data, response } = await client.messages.create({ ...hello, tools }).withResponse();
  const thread = await client.beta.messages.create({ ...hello, thread: { type: 'create' } });
  await first.kill();

  const second = await start();
  const [block] = data.content;
  const result = {
    type: 'tool_result' as const,
    tool_use_id: block?.type === 'tool_use' ? block.id : '',
    content: 'sun',
  };
  const next = {
    ...hello,
    tools,
    messages: [
      ...hello.messages,
      { role: 'assistant' as const, content: data.content },
      { role: 'user' as const, content: [result] },
    ],
  };
  const key = { headers: { 'Idempotency-Key': 'results' } };
  const answer = await anthropicClient(second.http).messages.create(next, key);
  expect(textIn(answer)).toBe('Warm.');
  const continued = { type: 'continue' as const, previous_message_id: thread.id };
  const more = await anthropicClient(second.http).beta.messages.create({ ...hello, thread: continued });
  expect(textIn(more)).toBe('Hello.');
  await second.kill();

  const third = await start();
  const again = await anthropicClient(third.http).messages.create(next, key).withResponse();
  expect(again.data).toEqual(answer);
  expect(sessionOf(again.response)).toBe(sessionOf(response));
  const events = await durableOf(third, sessionOf(response));
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
});

test('a turn continues after a kill, and a repeated request gets its answer', async () => {
  let isSilent = true;
  const { model, start } = restartable(() =>
    isSilent ? { say: 'Half ', after: 'silence' } : { say: 'Whole.' },
  );
  const first = await start();
  const key = { headers: { 'Idempotency-Key': 'killed' } };
  const asked = failure(anthropicClient(first.http, { session: 'killed' }).messages.create(hello, key));
  await until(() => model.requests.length !== 0);
  isSilent = false;
  await first.kill();
  expect(await asked).not.toBeNull();

  const second = await start();
  const again = await anthropicClient(second.http, { session: 'killed' }).messages.create(hello, key);
  expect(textIn(again)).toBe('Whole.');
  const events = await durableOf(second, 'killed');
  expect(events.filter(({ type }) => type === 'input.accepted')).toHaveLength(1);
});
