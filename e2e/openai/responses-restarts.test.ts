/** Responses after the server was killed. */
import { expect, test } from 'bun:test';
import { testServers } from '../model-server.ts';
import { failure, openaiClient } from './client.ts';
import { callsIn, type Event, eventsOf, finalOf, textOf } from './responses-setup.ts';

const servers = testServers();

const hello = { model: 'parlance', input: 'hello' };

/** Starts a response in the background and reads half of its text. */
async function halfRead(http: string): Promise<Event[]> {
  const stream = await openaiClient(http).responses.create({ ...hello, background: true, stream: true });
  const seen: Event[] = [];
  for await (const event of stream) {
    seen.push(event);
    if (event.type === 'response.output_text.delta' && event.delta === 'answer ') break;
  }
  return seen;
}

test('a response in the background is completed, and can be read from the last received number', async () => {
  const { start } = servers.restartable((_, count) =>
    count === 1 ? { say: 'Half an answer ', after: 'silence' } : { say: 'The whole answer.' },
  );
  const first = await start();
  const seen = await halfRead(first.http);
  await first.kill();
  const second = await start();
  const client = openaiClient(second.http);
  const [created] = seen;
  if (created?.type !== 'response.created') throw new Error('the stream did not start');
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
});

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
});

const numbersOf = (events: readonly Event[]): number[] =>
  events.map(({ sequence_number }) => sequence_number);
const plain = (events: readonly Event[]) =>
  events.map(({ type, sequence_number, ...rest }) => [
    sequence_number,
    type,
    'delta' in rest ? rest.delta : null,
  ]);

/** Everything after each number is the same as in the first stream; discarded events are filled with keepalives. */
async function readAgain(http: string, seen: readonly Event[]): Promise<void> {
  const client = openaiClient(http);
  const final = finalOf(seen);
  const added = seen.findLastIndex(({ type }) => type === 'response.output_item.added');
  for (const after of [added - 1, added + 1, seen.length - 2]) {
    const rest = await client.responses.retrieve(final.id, {
      stream: true,
      starting_after: seen[after]?.sequence_number ?? 0,
    });
    expect(plain(await eventsOf(rest))).toEqual(plain(seen.slice(after + 1)));
  }
  const whole = await eventsOf(await client.responses.retrieve(final.id, { stream: true }));
  expect(numbersOf(whole)).toEqual(whole.map((_, index) => index));
  expect(whole.length).toBe((seen.at(-1)?.sequence_number ?? 0) + 1);
  const helped = client.responses.stream({ response_id: final.id });
  expect((await helped.finalResponse()).output_text).toBe(textOf(final));
}

test('the numbers of a stream with a restarted step are the same after a kill', async () => {
  const { start } = servers.restartable((_, count) =>
    count === 1
      ? { say: 'One thing or ', think: 'Hm, hm.', after: 'cut' }
      : { say: 'Another thing.', think: 'So.' },
  );
  const first = await start();
  const stream = await openaiClient(first.http).responses.create({
    ...hello,
    background: true,
    stream: true,
  });
  const seen = await eventsOf(stream);
  expect(numbersOf(seen)).toEqual(seen.map((_, index) => index));
  await readAgain(first.http, seen);
  await first.kill();
  await readAgain((await start()).http, seen);
});

test('a reader that reconnects after two kills gets the missing events', async () => {
  const { start } = servers.restartable((_, count) =>
    count === 1
      ? { say: 'Half an answer ', think: 'Hm, hm.', after: 'silence' }
      : { say: 'The whole answer, at last.', think: 'So.' },
  );
  const first = await start();
  const seen = await halfRead(first.http);
  await first.kill();
  const [created] = seen;
  if (created?.type !== 'response.created') throw new Error('the stream did not start');
  const second = await start();
  const rest = await openaiClient(second.http).responses.retrieve(created.response.id, {
    stream: true,
    starting_after: seen.at(-1)?.sequence_number ?? 0,
  });
  seen.push(...(await eventsOf(rest)));
  expect(numbersOf(seen)).toEqual(seen.map((_, index) => index));
  const indexes = seen.flatMap((event) =>
    event.type === 'response.output_item.added' ? [event.output_index] : [],
  );
  expect(new Set(indexes).size).toBe(indexes.length);
  await readAgain(second.http, seen);
  await second.kill();
  await readAgain((await start()).http, seen);
});
