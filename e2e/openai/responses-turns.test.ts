/** The turns of responses: in the background, cancelled, interrupted and failed. */
import { describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { until } from '../../packages/server/src/testing/until.ts';
import { has, testServers } from '../model-server.ts';
import type { Answer } from '../scripted-model.ts';
import { followed } from '../server-process.ts';
import { failure, openaiClient } from './client.ts';
import { type Event, eventsOf, finalOf, textOf } from './responses-setup.ts';

const servers = testServers();
const answering = async (...answers: Answer[]) => {
  const served = await servers.answering(...answers);
  return { ...served, client: openaiClient(served.server.http) };
};
const dictated = async () => {
  const served = await servers.dictated();
  return { ...served, client: openaiClient(served.server.http) };
};

const hello = { model: 'parlance', input: 'hello' };

const waitedFor = (client: OpenAI, id: string): Promise<OpenAI.Responses.Response> =>
  until(async () => {
    const response = await client.responses.retrieve(id);
    return response.status !== 'queued' && response.status !== 'in_progress' && response;
  });

describe('a response in the background', () => {
  test('is answered at once, and complete later', async () => {
    const { model, client } = await dictated();
    const begun = await client.responses.create({ ...hello, background: true });
    expect(['queued', 'in_progress']).toContain(begun.status ?? '');
    expect(begun).toMatchObject({ background: true, output: [] });
    model.say('Done.');
    model.end();
    const done = await waitedFor(client, begun.id);
    expect(done).toMatchObject({ id: begun.id, status: 'completed' });
    expect(textOf(done)).toBe('Done.');
  });

  test('continues after its reader disconnects, which can resume after the last received number', async () => {
    const { model, client } = await dictated();
    const stream = await client.responses.create({ ...hello, background: true, stream: true });
    model.say('One two ');
    const seen: Event[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (event.type === 'response.output_text.delta' && event.delta === 'two ') break;
    }
    const [created] = seen;
    if (created?.type !== 'response.created') throw new Error('the stream did not start');
    model.say('three four');
    const rest = await client.responses.retrieve(created.response.id, {
      stream: true,
      starting_after: seen.at(-1)?.sequence_number ?? 0,
    });
    model.end();
    const all = [...seen, ...(await eventsOf(rest))];
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
    const deltas = all.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
    expect(deltas.join('')).toBe('One two three four');
    expect(textOf(finalOf(all))).toBe('One two three four');
  });

  test('is cancelled together with its model request', async () => {
    const { model, client } = await answering({ say: 'Half an answer ', after: 'silence' });
    const begun = await client.responses.create({ ...hello, background: true });
    await until(() => model.requests.length !== 0);
    expect(await client.responses.cancel(begun.id)).toMatchObject({ id: begun.id, status: 'cancelled' });
    await model.aborted;
    expect((await client.responses.retrieve(begun.id)).status).toBe('cancelled');
    expect((await client.responses.cancel(begun.id)).status).toBe('cancelled');
  });

  test('is cancelled while it is queued', async () => {
    const { model, client } = await answering({ say: 'Half an answer ', after: 'silence' });
    const more = { ...hello, background: true, conversation: 'busy' };
    const first = await client.responses.create(more);
    const second = await client.responses.create(more);
    expect(second.status).toBe('queued');
    await until(() => model.requests.length !== 0);
    expect((await client.responses.cancel(second.id)).status).toBe('cancelled');
    expect((await client.responses.retrieve(first.id)).status).toBe('in_progress');
    expect((await client.responses.cancel(first.id)).status).toBe('cancelled');
    expect(model.requests).toHaveLength(1);
  });
});

describe('a client that disconnects', () => {
  test('while a response is streamed ends the turn and the model request', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' });
    const client = openaiClient(server.http, { session: 'left' });
    const stream = await client.responses.create({ ...hello, stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    await model.aborted;
    const events = await followed(server, 'left', has('turn.cancelled'));
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ interrupted: true });
  });

  test('while it waits for a whole response ends the turn as well', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' });
    const client = openaiClient(server.http, { session: 'left' });
    const stop = new AbortController();
    const asked = failure(client.responses.create(hello, { signal: stop.signal }));
    await until(() => model.requests.length !== 0);
    stop.abort();
    await asked;
    await model.aborted;
    await followed(server, 'left', has('turn.cancelled'));
  });
});

describe('an interrupted answer that is retried', () => {
  test('closes its item, starts a new one, and the response has only the new one', async () => {
    const { client } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
    const events = await eventsOf(client.responses.stream(hello));
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect([added.length, done.length]).toEqual([2, 2]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const final = finalOf(events);
    expect(final.output).toHaveLength(1);
    expect(textOf(final)).toBe('Another thing.');
    const again = await eventsOf(await client.responses.retrieve(final.id, { stream: true }));
    expect(textOf(finalOf(again))).toBe('Another thing.');
    expect(again.at(-1)?.sequence_number).toBe(events.at(-1)?.sequence_number ?? 0);
  });

  test('is only the new one without a stream', async () => {
    const { client } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
    expect(textOf(await client.responses.create(hello))).toBe('Another thing.');
  });
});

describe('a failure', () => {
  test('in a stream that has begun is response.failed', async () => {
    const { client } = await answering({ say: 'One thing ', after: 'cut' }, { status: 400 });
    const events = await eventsOf(await client.responses.create({ ...hello, stream: true }));
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error', message: expect.any(String) } },
    });
    expect(await client.responses.retrieve(finalOf(events).id)).toMatchObject({ status: 'failed' });
  });

  test.each([false, true])(
    'before it is an HTTP error that clients do not retry; stream: %p',
    async (stream) => {
      const { model, server } = await answering({ status: 400 });
      const asked = openaiClient(server.http, { maxRetries: 2 }).responses.create({ ...hello, stream });
      const thrown = await failure(asked);
      expect(thrown).toMatchObject({ status: 400, type: 'invalid_request_error' });
      expect(model.requests).toHaveLength(1);
    },
  );
});

describe.each([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
] as const)('an answer that ends with %s', (finish, reason) => {
  const half: Answer = { say: 'Half an', finish };
  const incomplete = { status: 'incomplete', incomplete_details: { reason }, error: null };

  test('is incomplete, whole and stored', async () => {
    const { client } = await answering(half);
    const response = await client.responses.create({ ...hello, max_output_tokens: 5 });
    expect(response).toMatchObject({ ...incomplete, max_output_tokens: 5, completed_at: null });
    expect(response.usage?.total_tokens).toBe(105);
    expect(textOf(response)).toBe('Half an');
    expect(await client.responses.retrieve(response.id)).toEqual(response);
  });

  test('is response.incomplete in a stream', async () => {
    const { client } = await answering(half);
    const events = await eventsOf(client.responses.stream(hello));
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete });
    expect(textOf(finalOf(events))).toBe('Half an');
  });
});
