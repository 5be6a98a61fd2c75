/** The turn of a request: disconnects, approvals, interrupted answers, and kills. */
import { describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { until } from '../../packages/server/src/testing/until.ts';
import { waitingApproval } from '../exchange.ts';
import { has, testServers } from '../model-server.ts';
import { durableOf, followed, postJson } from '../server-process.ts';
import { failure, openaiClient } from './client.ts';

const { answering, dictated, restartable } = testServers();

const hello = { model: 'parlance', messages: [{ role: 'user' as const, content: 'hello' }] };

const contentOf = ({ choices }: OpenAI.ChatCompletionChunk): string => choices[0]?.delta.content ?? '';

test('text is streamed while the model writes it', async () => {
  const { model, server } = await dictated();
  const stream = await (async () => {
    model.say('One ');
    return openaiClient(server.http).chat.completions.create({ ...hello, stream: true });
  })();
  const pieces: string[] = [];
  for await (const chunk of stream) {
    const text = contentOf(chunk);
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
    const client = openaiClient(server.http, { session: 'left' });
    const stream = await client.chat.completions.create({ ...hello, stream: true });
    for await (const chunk of stream) if (contentOf(chunk) !== '') break;
    await model.aborted;
    const events = await followed(server, 'left', has('turn.cancelled'));
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ interrupted: true });
  });

  test('while it waits for a whole answer ends the turn as well', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' });
    const client = openaiClient(server.http, { session: 'left' });
    const stop = new AbortController();
    const asked = failure(client.chat.completions.create(hello, { signal: stop.signal }));
    await until(() => model.requests.length !== 0);
    stop.abort();
    await asked;
    await model.aborted;
    await followed(server, 'left', has('turn.cancelled'));
  });
});

describe('a call of the agent that needs an approval', () => {
  test.each([false, true])('waits for an answer from elsewhere (stream: %p)', async (stream) => {
    const { server } = await answering(
      { call: 'shell', input: { command: ['touch', 'a.txt'] } },
      { say: 'Done.' },
    );
    const client = openaiClient(server.http);
    const text = stream
      ? client.chat.completions.stream({ ...hello }).finalContent()
      : client.chat.completions.create(hello).then(({ choices }) => choices[0]?.message.content ?? null);
    const approval = await waitingApproval(server);
    await postJson(`${server.http}/v1/approvals/${approval}`, { answer: 'once' });
    expect(await text).toBe('Done.');
  });
});

describe('an interrupted answer that is retried', () => {
  test('continues silently while the text is the same', async () => {
    const { server } = await answering({ say: 'The same ', after: 'cut' }, { say: 'The same words.' });
    const stream = openaiClient(server.http).chat.completions.stream({ ...hello });
    expect(await stream.finalContent()).toBe('The same words.');
  });

  test('ends with an error as soon as the text differs', async () => {
    const { server } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
    const response = await fetch(`${server.http}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, stream: true }),
    });
    const text = await response.text();
    expect(text).not.toContain('Another');
    expect(text).not.toContain('[DONE]');
    const last = text.trim().split('\n\n').at(-1) ?? '';
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ error: { type: 'server_error' } });
  });

  test('is only the new one if nothing was sent yet', async () => {
    const { server } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
    const { choices } = await openaiClient(server.http).chat.completions.create(hello);
    expect(choices[0]?.message.content).toBe('Another thing.');
  });
});

test('a failure in the middle of a stream is thrown by the client', async () => {
  const { model, server } = await dictated();
  model.say('Half ');
  const stream = await openaiClient(server.http, { session: 'fails' }).chat.completions.create({
    ...hello,
    stream: true,
  });
  const read = async () => {
    for await (const chunk of stream)
      if (contentOf(chunk) === 'Half ')
        await postJson(`${server.http}/v1/sessions/fails/commands`, { type: 'turn.cancel' });
  };
  expect(await failure(read())).toMatchObject({ type: 'invalid_request_error' });
});

test('after a kill the calls still wait for their results, and a request with the same key has the same answer', async () => {
  const { start } = restartable(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: 'Warm.' } : { call: 'weather', input: { city: 'Rome' } },
  );
  const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'weather' } }];
  const first = await start();
  const { data, response } = await openaiClient(first.http)
    .chat.completions.create({ ...hello, tools })
    .withResponse();
  const message = data.choices[0]?.message as OpenAI.ChatCompletionMessage;
  await first.kill();

  const second = await start();
  const id = message.tool_calls?.[0]?.id ?? '';
  const result = { role: 'tool', tool_call_id: id, content: 'sun' } as const;
  const next = { ...hello, tools, messages: [...hello.messages, message, result] };
  const key = { headers: { 'Idempotency-Key': 'results' } };
  const answer = await openaiClient(second.http).chat.completions.create(next, key);
  expect(answer.choices[0]?.message.content).toBe('Warm.');
  await second.kill();

  const third = await start();
  const again = await openaiClient(third.http).chat.completions.create(next, key).withResponse();
  expect(again.data).toEqual({ ...answer, created: expect.any(Number) });
  const session = response.headers.get('x-parlance-session') ?? '';
  expect(again.response.headers.get('x-parlance-session')).toBe(session);
  const events = await durableOf(third, session);
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
});

test.each([
  ['length', 'length'],
  ['content_filter', 'content_filter'],
] as const)('an answer that ends with %s has that reason, whole and streamed', async (finish, reason) => {
  const half = { say: 'Half an', finish };
  const { server } = await answering(half, half);
  const client = openaiClient(server.http);
  const { choices } = await client.chat.completions.create(hello);
  expect(choices).toMatchObject([{ finish_reason: reason, message: { content: 'Half an' } }]);
  const reasons: (string | null)[] = [];
  for await (const chunk of await client.chat.completions.create({ ...hello, stream: true }))
    reasons.push(...chunk.choices.map(({ finish_reason }) => finish_reason));
  expect(reasons.filter(Boolean)).toEqual([reason]);
});

test('a turn continues after a kill, and a repeated request gets its answer', async () => {
  let isSilent = true;
  const { model, start } = restartable(() =>
    isSilent ? { say: 'Half ', after: 'silence' } : { say: 'Whole.' },
  );
  const first = await start();
  const key = { headers: { 'Idempotency-Key': 'killed' } };
  const asked = failure(
    openaiClient(first.http, { session: 'killed' }).chat.completions.create({ ...hello, stream: true }, key),
  );
  await until(() => model.requests.length !== 0);
  isSilent = false;
  await first.kill();
  await asked;

  const second = await start();
  const again = await openaiClient(second.http, { session: 'killed' }).chat.completions.create(hello, key);
  expect(again.choices[0]?.message.content).toBe('Whole.');
  const events = await durableOf(second, 'killed');
  expect(events.filter(({ type }) => type === 'input.accepted')).toHaveLength(1);
});
