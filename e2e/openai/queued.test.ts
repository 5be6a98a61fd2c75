/** Messages that arrive while a turn of the same conversation is running. */
import { expect, test } from 'bun:test';
import { until } from '../../packages/server/src/testing/until.ts';
import { repeating } from '../exchange.ts';
import { modelServer } from '../model-server.ts';
import { durableOf } from '../server-process.ts';
import { openaiClient } from './client.ts';
import { callsIn, WEATHER } from './responses-setup.ts';

/** The model answers when the test opens it. */
let gate = Promise.withResolvers<void>();

const { server, model } = await modelServer(async (request) => {
  await gate.promise;
  return repeating(request);
});
const client = openaiClient(server.http);

/** Resolves when the model was called and another message is queued. */
async function isQueued(session: string): Promise<void> {
  const inputs = async () => {
    const events = await durableOf(server, session).catch(() => []);
    return events.filter(({ type }) => type === 'input.accepted').length;
  };
  await until(async () => (await inputs()) >= 2);
}

test('a message that is queued in a conversation closes calls that the turn before it makes', async () => {
  gate = Promise.withResolvers();
  const conversation = 'two-callers';
  const calling = client.responses.create({
    model: 'fake',
    input: 'weather',
    conversation,
    tools: [WEATHER],
  });
  await until(() => model.requests.length !== 0);
  const queued = client.responses.create({ model: 'fake', input: 'hello', conversation });
  const answered = Promise.all([calling, queued]);
  await isQueued(conversation);
  gate.resolve();
  const [first, second] = await answered;
  expect(callsIn(first)).toHaveLength(1);
  expect(second).toMatchObject({ status: 'completed', output_text: 'You said hello.' });
});

test('so does a message of Chat Completions with a session of its own', async () => {
  gate = Promise.withResolvers();
  const before = model.requests.length;
  const headers = { 'x-parlance-session': 'two-chats' };
  const { strict: _, type, ...weather } = WEATHER;
  const tools = [{ type, function: { ...weather, parameters: weather.parameters ?? {} } }];
  const ask = (content: string, more: object = {}) =>
    client.chat.completions.create(
      { model: 'fake', messages: [{ role: 'user', content }], ...more },
      { headers },
    );
  const calling = ask('weather', { tools });
  await until(() => model.requests.length !== before);
  const answered = Promise.all([calling, ask('hello')]);
  await isQueued('two-chats');
  gate.resolve();
  const [first, second] = await answered;
  expect(first.choices[0]?.message.tool_calls).toHaveLength(1);
  expect(second.choices[0]?.message.content).toBe('You said hello.');
});
