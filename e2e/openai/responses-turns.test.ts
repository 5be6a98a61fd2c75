/** Responses as their turns run: in the background, cancelled, approved, broken off, and after a kill. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { dictatedModel } from '../dictated-model.ts';
import { type Answer, fakeModel } from '../fake-model.ts';
import { durableOf, followed, getJson, postJson, startProcess, type Where } from '../server-process.ts';
import { failure, openaiClient } from './client.ts';

type Event = OpenAI.Responses.ResponseStreamEvent;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serverOf(settings: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(settings);
  cleanups.push(() => server.stop());
  return server;
}

/** A server with a model that gives these answers, one after another. */
async function answering(...answers: Answer[]) {
  const model = fakeModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanups.push(model.stop);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  const server = await serverOf(settings);
  return { model, server, client: openaiClient(server.http) };
}

async function dictated() {
  const model = dictatedModel();
  cleanups.push(model.stop);
  const server = await serverOf(model.settings);
  return { model, server, client: openaiClient(server.http) };
}

const hello = { model: 'parlance', input: 'hello' };
const ends =
  (...types: string[]) =>
  (events: readonly { readonly type: string }[]) =>
    events.some(({ type }) => types.includes(type));

const eventsOf = async (stream: AsyncIterable<Event>): Promise<Event[]> => {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
};

/** The final response; it may have failed. */
const finalOf = (events: readonly Event[]): OpenAI.Responses.Response => {
  const last = events.at(-1);
  if (!last || !('response' in last)) throw new Error(`the stream ended with ${last?.type}`);
  return last.response;
};

const textOf = ({ output }: OpenAI.Responses.Response): string =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => ('text' in part ? part.text : ''))
    .join('');

async function waitedFor(client: OpenAI, id: string): Promise<OpenAI.Responses.Response> {
  for (;;) {
    const response = await client.responses.retrieve(id);
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
    await Bun.sleep(20);
  }
}

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

  test('goes on when its reader hangs up, who comes back after the number it has seen', async () => {
    const { model, client } = await dictated();
    const stream = await client.responses.create({ ...hello, background: true, stream: true });
    model.say('One two ');
    const seen: Event[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (event.type === 'response.output_text.delta' && event.delta === 'two ') break;
    }
    const [created] = seen;
    if (created?.type !== 'response.created') throw new Error('the stream did not begin');
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

  test('is cancelled, and the request to the model with it', async () => {
    const { model, client } = await answering({ say: 'Half an answer ', after: 'silence' });
    const begun = await client.responses.create({ ...hello, background: true });
    while (model.requests.length === 0) await Bun.sleep(20);
    expect(await client.responses.cancel(begun.id)).toMatchObject({ id: begun.id, status: 'cancelled' });
    await model.aborted;
    expect((await client.responses.retrieve(begun.id)).status).toBe('cancelled');
    expect((await client.responses.cancel(begun.id)).status).toBe('cancelled');
  });

  test('is cancelled while it waits for another one', async () => {
    const { model, client } = await answering({ say: 'Half an answer ', after: 'silence' });
    const more = { ...hello, background: true, conversation: 'busy' };
    const first = await client.responses.create(more);
    const second = await client.responses.create(more);
    expect(second.status).toBe('queued');
    expect((await client.responses.cancel(second.id)).status).toBe('cancelled');
    expect((await client.responses.retrieve(first.id)).status).toBe('in_progress');
    expect((await client.responses.cancel(first.id)).status).toBe('cancelled');
    expect(model.requests).toHaveLength(1);
  });
});

describe('a client that hangs up', () => {
  test('while a response is streamed ends the turn and the request to the model', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' });
    const client = openaiClient(server.http, { session: 'left' });
    const stream = await client.responses.create({ ...hello, stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    await model.aborted;
    const events = await followed(server, 'left', ends('turn.cancelled'));
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ interrupted: true });
  });

  test('while it waits for a whole response ends the turn, too', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' });
    const client = openaiClient(server.http, { session: 'left' });
    const stop = new AbortController();
    const asked = failure(client.responses.create(hello, { signal: stop.signal }));
    while (model.requests.length === 0) await Bun.sleep(20);
    stop.abort();
    await asked;
    await model.aborted;
    await followed(server, 'left', ends('turn.cancelled'));
  });
});

describe('a call of the agent that needs an approval', () => {
  const touch = (file: string): Answer => ({ call: 'shell', input: { command: ['touch', file] } });

  const requestIn = ({ output }: OpenAI.Responses.Response) => {
    const last = output.at(-1);
    if (last?.type !== 'mcp_approval_request') throw new Error(`the last item is ${last?.type}`);
    return last;
  };
  const reply = (request: { readonly id: string }, approve: boolean, reason?: string) => ({
    type: 'mcp_approval_response' as const,
    approval_request_id: request.id,
    approve,
    ...(reason && { reason }),
  });

  test.each([false, true])('is the last item, and runs once it is approved (stream: %p)', async (stream) => {
    const { server, client } = await answering(touch('a.txt'), { say: 'Done.' });
    const ask = async (more: object): Promise<OpenAI.Responses.Response> =>
      stream
        ? client.responses.stream({ ...hello, ...more }).finalResponse()
        : client.responses.create({ ...hello, ...more });
    const asked = await ask({});
    expect(asked.status).toBe('completed');
    const request = requestIn(asked);
    expect(request).toMatchObject({ server_label: 'parlance', name: 'shell' });
    expect(JSON.parse(request.arguments)).toEqual({ command: ['touch', 'a.txt'] });
    const { approvals } = await getJson<{ approvals: { id: string }[] }>(`${server.http}/v1/approvals`);
    expect(approvals.map(({ id }) => id)).toEqual([request.id]);
    const done = await ask({ previous_response_id: asked.id, input: [reply(request, true)] });
    expect(done.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
    expect(done.output[0]).toMatchObject({ name: 'shell', arguments: request.arguments, error: null });
    expect(textOf(done)).toBe('Done.');
    for (const response of [asked, done])
      expect(response.output).toMatchObject((await client.responses.retrieve(response.id)).output);
    const late = client.responses.create({
      ...hello,
      previous_response_id: asked.id,
      input: [reply(request, true)],
    });
    expect(await failure(late)).toMatchObject({ status: 400, param: 'input' });
    const { data } = await client.responses.inputItems.list(done.id);
    expect(data).toMatchObject([{ type: 'mcp_approval_response', approve: true }]);
  });

  test('that is denied is reported to the model, which goes on', async () => {
    const { model, client } = await answering(touch('a.txt'), { say: 'Then not.' });
    const asked = await client.responses.create(hello);
    const input = [reply(requestIn(asked), false, 'too risky')];
    const done = await client.responses.create({ ...hello, previous_response_id: asked.id, input });
    expect(textOf(done)).toBe('Then not.');
    expect(done.output[0]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('too risky');
  });

  test('that was answered elsewhere is too late here, and nothing runs twice', async () => {
    const { server, client } = await answering(touch('a.txt'), { say: 'Done.' }, { say: 'Next.' });
    const { data: asked, response } = await client.responses.create(hello).withResponse();
    const request = requestIn(asked);
    await postJson(`${server.http}/v1/approvals/${request.id}`, { answer: 'once' });
    const session = response.headers.get('x-parlance-session') ?? '';
    await followed(server, session, ends('turn.ended'));
    const late = client.responses.create({
      ...hello,
      previous_response_id: asked.id,
      input: [reply(request, true)],
    });
    expect(await failure(late)).toMatchObject({ status: 400 });
    const events = await durableOf(server, session);
    expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
    const next = await client.responses.create({ ...hello, previous_response_id: asked.id });
    expect(textOf(next)).toBe('Next.');
  });

  test('two of one answer are asked for together, or one after the other, and all run', async () => {
    const both: Answer = {
      calls: [
        ['shell', { command: ['touch', 'a.txt'] }],
        ['shell', { command: ['touch', 'b.txt'] }],
      ],
    };
    const { client } = await answering(both, { say: 'Done.' });
    let response = await client.responses.create(hello);
    const ran: string[] = [];
    for (let rounds = 0; rounds < 3 && response.output.at(-1)?.type === 'mcp_approval_request'; rounds++) {
      const requests = response.output.flatMap((item) =>
        item.type === 'mcp_approval_request' ? [item] : [],
      );
      const input = requests.map((request) => reply(request, true));
      response = await client.responses.create({ ...hello, previous_response_id: response.id, input });
      ran.push(...response.output.flatMap((item) => (item.type === 'mcp_call' ? [item.arguments] : [])));
    }
    expect(ran.map((written) => JSON.parse(written).command[1]).sort()).toEqual(['a.txt', 'b.txt']);
    expect(textOf(response)).toBe('Done.');
  });

  test('is answered by a client that sends the whole history each time', async () => {
    const { server, client } = await answering(touch('a.txt'), { say: 'Done.' }, { say: 'Next.' });
    const sessions = new Set<string>();
    const ask = async (input: OpenAI.Responses.ResponseInputItem[]) => {
      const { data, response } = await client.responses
        .create({ model: 'parlance', store: false, input })
        .withResponse();
      sessions.add(response.headers.get('x-parlance-session') ?? '');
      return data;
    };
    const history: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'go' }];
    const asked = await ask(history);
    history.push(...(asked.output as OpenAI.Responses.ResponseInputItem[]), reply(requestIn(asked), true));
    const done = await ask(history);
    expect(textOf(done)).toBe('Done.');
    history.push(...(done.output as OpenAI.Responses.ResponseInputItem[]), { role: 'user', content: 'and' });
    expect(textOf(await ask(history))).toBe('Next.');
    expect(sessions.size).toBe(1);
    const events = await durableOf(server, [...sessions][0] ?? '');
    expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(2);
  });
});

describe('an answer that breaks off and is asked again', () => {
  test('closes its item, begins a new one, and the response has the new one alone', async () => {
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

  test('is the new one alone where it is whole', async () => {
    const { client } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
    expect(textOf(await client.responses.create(hello))).toBe('Another thing.');
  });
});

describe('a failure', () => {
  test('in a stream is response.failed', async () => {
    const { client } = await answering({ status: 400 });
    const events = await eventsOf(await client.responses.create({ ...hello, stream: true }));
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error', message: expect.any(String) } },
    });
    expect(await client.responses.retrieve(finalOf(events).id)).toMatchObject({ status: 'failed' });
  });

  test('of a whole response is an HTTP error that is not tried again', async () => {
    const { model, server } = await answering({ status: 400 });
    const thrown = await failure(openaiClient(server.http, { maxRetries: 2 }).responses.create(hello));
    expect(thrown).toMatchObject({ status: 502, type: 'server_error' });
    expect(model.requests).toHaveLength(1);
  });
});

describe('after a kill', () => {
  async function folderOf(settings: Record<string, string>) {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-responses-'));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    return async (): Promise<Where & { kill(): Promise<void> }> => {
      const started = await startProcess(folder, settings);
      cleanups.push(() => started.kill());
      return started;
    };
  }

  test('a response in the background is finished, and read on after the number that was seen', async () => {
    const model = fakeModel((_, count) =>
      count === 1 ? { say: 'Half an answer ', after: 'silence' } : { say: 'The whole answer.' },
    );
    cleanups.push(model.stop);
    const start = await folderOf({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
    const first = await start();
    const stream = await openaiClient(first.http).responses.create({
      ...hello,
      background: true,
      stream: true,
    });
    const seen: Event[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (event.type === 'response.output_text.delta' && event.delta === 'answer ') break;
    }
    await first.kill();
    const second = await start();
    const client = openaiClient(second.http);
    const [created] = seen;
    if (created?.type !== 'response.created') throw new Error('the stream did not begin');
    const last = seen.at(-1)?.sequence_number ?? 0;
    const { id } = created.response;
    const rest = await eventsOf(await client.responses.retrieve(id, { stream: true, starting_after: last }));
    expect(rest.map(({ sequence_number }) => sequence_number)).toEqual(rest.map((_, at) => last + 1 + at));
    expect(finalOf(rest)).toMatchObject({ id, status: 'completed' });
    const deltas = rest.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    );
    expect(deltas.join('')).toBe('The whole answer.');
    expect(textOf(await client.responses.retrieve(id))).toBe('The whole answer.');
    const next = await client.responses.create({ ...hello, previous_response_id: id });
    expect(textOf(next)).toBe('The whole answer.');
  }, 60_000);

  test('calls and approvals are still answered, and deleted responses stay deleted', async () => {
    const model = fakeModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { say: 'Warm.' } : { call: 'weather', input: { city: 'Rome' } },
    );
    cleanups.push(model.stop);
    const start = await folderOf({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
    const tools = [{ type: 'function', name: 'weather', parameters: null, strict: false }] as const;
    const first = await start();
    const asked = await openaiClient(first.http).responses.create({ ...hello, tools: [...tools] });
    const gone = await openaiClient(first.http).responses.create({ ...hello, tools: [...tools] });
    await openaiClient(first.http).responses.delete(gone.id);
    await first.kill();

    const second = await start();
    const client = openaiClient(second.http);
    expect(await client.responses.retrieve(asked.id)).toEqual(asked);
    expect(await failure(client.responses.retrieve(gone.id))).toMatchObject({ status: 404 });
    const [call] = asked.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const input = [{ type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'sun' }];
    const key = { headers: { 'Idempotency-Key': 'results' } };
    const answer = { ...hello, previous_response_id: asked.id, input };
    const done = await client.responses.create(answer, key);
    expect(textOf(done)).toBe('Warm.');
    await second.kill();
    const third = await start();
    expect(await openaiClient(third.http).responses.create(answer, key)).toEqual(done);
  }, 60_000);
});
