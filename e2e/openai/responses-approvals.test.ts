/** Approvals in the Responses API: a pending approval ends the response, and the next one has the rest. */
import { describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { has, testServers } from '../model-server.ts';
import type { Answer } from '../scripted-model.ts';
import { durableOf, followed, getJson, postJson } from '../server-process.ts';
import { failure, openaiClient } from './client.ts';
import { callsIn, OWN_TOOLS, textOf, WEATHER } from './responses-setup.ts';

const servers = testServers();
const answering = async (...answers: Answer[]) => {
  const served = await servers.answering(...answers);
  return { ...served, client: openaiClient(served.server.http) };
};

const hello = { model: 'parlance', input: 'hello' };

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

describe('a call of the agent that needs an approval', () => {
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

  test('that is denied is reported to the model, which continues', async () => {
    const { model, client } = await answering(touch('a.txt'), { say: 'Then not.' });
    const asked = await client.responses.create(hello);
    const input = [reply(requestIn(asked), false, 'too risky')];
    const done = await client.responses.create({ ...hello, previous_response_id: asked.id, input });
    expect(textOf(done)).toBe('Then not.');
    expect(done.output[0]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('too risky');
  });

  test('that was answered elsewhere cannot be answered again, and nothing runs twice', async () => {
    const { server, client } = await answering(touch('a.txt'), { say: 'Done.' }, { say: 'Next.' });
    const { data: asked, response } = await client.responses.create(hello).withResponse();
    const request = requestIn(asked);
    await postJson(`${server.http}/v1/approvals/${request.id}`, { answer: 'once' });
    const session = response.headers.get('x-parlance-session') ?? '';
    await followed(server, session, has('turn.ended'));
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

  test('two of one answer are requested together or one after the other, and both run', async () => {
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

  test('is answered by a client that refers to the request', async () => {
    const { client } = await answering(touch('a.txt'), { say: 'Done.' });
    const asked = await client.responses.create({ ...hello, input: [{ role: 'user', content: 'go' }] });
    const request = requestIn(asked);
    const done = await client.responses.create({
      ...hello,
      input: [
        { role: 'user', content: 'go' },
        { type: 'item_reference', id: request.id },
        reply(request, true),
      ],
    });
    expect(done.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
  });

  test.each(['once', 'deny'])('waits across a kill, and is then answered (%s)', async (answer) => {
    const { model, start } = servers.restartable(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : touch('a.txt'),
    );
    const first = await start();
    const asked = await openaiClient(first.http).responses.create(hello);
    const request = requestIn(asked);
    await first.kill();

    const second = await start();
    const client = openaiClient(second.http);
    expect(await client.responses.retrieve(asked.id)).toEqual(asked);
    const input = [reply(request, answer === 'once', 'because')];
    const done = await client.responses.create({ ...hello, previous_response_id: asked.id, input });
    expect(done.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
    expect(done.output[0]).toMatchObject({ status: answer === 'once' ? 'completed' : 'failed' });
    expect(model.requests).toHaveLength(2);
    await second.kill();
    const third = openaiClient((await start()).http);
    expect(await third.responses.retrieve(done.id)).toEqual(done);
  });

  test('waits beside a call that runs at once', async () => {
    const both: Answer = {
      calls: [
        ['echo', { value: 'seen' }],
        ['shell', { command: ['touch', 'a.txt'] }],
      ],
    };
    const { client } = await answering(both, { say: 'Done.' });
    const asked = await client.responses.create(hello);
    expect(asked.output.map(({ type }) => type)).toEqual(['mcp_call', 'mcp_approval_request']);
    expect(asked.output[0]).toMatchObject({ name: 'echo', status: 'completed' });
    const input = [reply(requestIn(asked), true)];
    const done = await client.responses.create({ ...hello, previous_response_id: asked.id, input });
    expect(done.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
    expect(done.output[0]).toMatchObject({ name: 'shell' });
    for (const response of [asked, done])
      expect(await client.responses.retrieve(response.id)).toEqual(response);
  });

  test('waits beside a call of the caller, and both are answered together', async () => {
    const both: Answer = {
      calls: [
        ['weather', { city: 'Rome' }],
        ['shell', { command: ['touch', 'a.txt'] }],
      ],
    };
    const { client, server } = await answering(both, { say: 'Done.' });
    const asked = await client.responses.create({ ...hello, tools: [WEATHER, OWN_TOOLS] });
    expect(asked.output.map(({ type }) => type)).toEqual(['function_call', 'mcp_approval_request']);
    const output = {
      type: 'function_call_output' as const,
      call_id: callsIn(asked)[0]?.call_id ?? '',
      output: 'sun',
    };
    const { data: done, response } = await client.responses
      .create({
        ...hello,
        tools: [WEATHER, OWN_TOOLS],
        previous_response_id: asked.id,
        input: [output, reply(requestIn(asked), true)],
      })
      .withResponse();
    expect(done.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
    expect(textOf(done)).toBe('Done.');
    const ended = (await durableOf(server, response.headers.get('x-parlance-session') ?? '')).filter(
      ({ type }) => type === 'tool.ended',
    );
    expect(ended).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);
    expect(await client.responses.retrieve(done.id)).toEqual(done);
  });

  test('is closed by a message instead of the answer', async () => {
    const { client, server } = await answering(touch('a.txt'), { say: 'Never mind.' });
    const asked = await client.responses.create(hello);
    const next = await client.responses.create({ ...hello, previous_response_id: asked.id, input: 'stop' });
    expect(textOf(next)).toBe('Never mind.');
    const { approvals } = await getJson<{ approvals: object[] }>(`${server.http}/v1/approvals`);
    expect(approvals).toEqual([]);
  });
});
