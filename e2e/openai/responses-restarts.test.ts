/** Responses after the server was killed. */
import { expect, test } from 'bun:test';
import { testServers } from '../model-server.ts';
import { failure, openaiClient } from './client.ts';
import { callsIn, type Event, eventsOf, finalOf, textOf } from './responses-setup.ts';

const servers = testServers();

const hello = { model: 'parlance', input: 'hello' };

test('a response in the background is finished, and read on after the number that was seen', async () => {
  const { start } = servers.restartable((_, count) =>
    count === 1 ? { say: 'Half an answer ', after: 'silence' } : { say: 'The whole answer.' },
  );
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
  const deltas = rest.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
  expect(deltas.join('')).toBe('The whole answer.');
  expect(textOf(await client.responses.retrieve(id))).toBe('The whole answer.');
  const next = await client.responses.create({ ...hello, previous_response_id: id });
  expect(textOf(next)).toBe('The whole answer.');
}, 60_000);

test('calls and approvals are still answered, and deleted responses stay deleted', async () => {
  const { start } = servers.restartable(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: 'Warm.' } : { call: 'weather', input: { city: 'Rome' } },
  );
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
  const [call] = callsIn(asked);
  const input = [{ type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'sun' }];
  const key = { headers: { 'Idempotency-Key': 'results' } };
  const answer = { ...hello, previous_response_id: asked.id, input };
  const done = await client.responses.create(answer, key);
  expect(textOf(done)).toBe('Warm.');
  await second.kill();
  const third = await start();
  expect(await openaiClient(third.http).responses.create(answer, key)).toEqual(done);
}, 60_000);
