/** Threads: shown again, repeated requests, imported histories, and other dialects. */
import { describe, expect, test } from 'bun:test';
import type { Message } from '@ag-ui/client';
import { followed, getJson, submit } from '../server-process.ts';
import { contentOf, httpAgent, run, user } from './client.ts';
import { sharedServer } from './setup.ts';

const place = sharedServer(({ messages }) => {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `Result: ${text}` };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: text } };
  if (text.startsWith('refuse')) return { status: 400 };
  return { say: `re: ${text}`, think: 'Hm.' };
});
const { turnsOf } = place;

describe('a run without new messages', () => {
  test('shows every message with the ids of the stream, without a model call', async () => {
    const agent = httpAgent(place.server.http);
    for (const text of ['one', 'echo two', 'three']) await run(agent, text);
    const asks = place.model.requests.length;
    const fresh = httpAgent(place.server.http, { thread: agent.threadId });
    const looked = await run(fresh, null);
    expect(looked.types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(looked.outcome).toEqual({ type: 'success' });
    expect(looked.events.at(-1)).not.toHaveProperty('usage');
    expect(fresh.messages).toEqual(agent.messages);
    expect(place.model.requests).toHaveLength(asks);
  });

  test('of a client that has everything changes nothing, including system messages', async () => {
    const agent = httpAgent(place.server.http, {
      messages: [{ id: 's', role: 'system', content: 'Be brief.' }],
    });
    await run(agent, 'echo one');
    const before = structuredClone(agent.messages);
    await run(agent, null);
    expect(agent.messages).toEqual(before);
    await run(agent, 'two');
    expect(await turnsOf(agent.threadId)).toBe(2);
  });

  test('in an unknown thread is 404', async () => {
    const refused = await run(httpAgent(place.server.http), null).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      status: 404,
      payload: { code: 'not_found', message: expect.any(String) },
    });
  });
});

describe('a repeated', () => {
  test('message is the same turn, with the same end', async () => {
    const message = user('echo once', 'the-message');
    const agents = [1, 2].map(() => httpAgent(place.server.http, { thread: 'again', messages: [message] }));
    const ran = [];
    for (const agent of agents) ran.push(await run(agent, null));
    expect(agents[1]?.messages).toEqual(agents[0]?.messages as Message[]);
    expect(ran[1]?.outcome).toEqual(ran[0]?.outcome as never);
    expect(ran[1]?.events.at(-1)).toMatchObject({ usage: ran[0]?.events.at(-1)?.usage });
    expect(await turnsOf('again')).toBe(1);
  });

  test('message at the same time is one turn, shown to both', async () => {
    const message = user('echo at once', 'the-message');
    const agents = [1, 2, 3].map(() =>
      httpAgent(place.server.http, { thread: 'at-once', messages: [message] }),
    );
    await Promise.all(agents.map((agent) => run(agent, null)));
    for (const agent of agents) expect(agent.messages).toEqual(agents[0]?.messages as Message[]);
    expect(agents[0]?.messages).toHaveLength(4);
    expect(await turnsOf('at-once')).toBe(1);
  });

  test('run with another message id is the same turn', async () => {
    const parameters = { runId: 'the-run' };
    const first = httpAgent(place.server.http, { thread: 'same-run' });
    await run(first, 'hello', parameters);
    const second = httpAgent(place.server.http, { thread: 'same-run' });
    await run(second, 'hello', parameters);
    expect(contentOf(second.messages, 'assistant')).toEqual(['re: hello']);
    expect(await turnsOf('same-run')).toBe(1);
    await run(second, 'something else', parameters);
    expect(await turnsOf('same-run')).toBe(2);
  });

  test('message of a failed turn fails again, without a model call', async () => {
    const message = user('refuse', 'the-message');
    const ended = [];
    for (let count = 0; count < 2; count++) {
      const agent = httpAgent(place.server.http, { thread: 'failed', messages: [message] });
      ended.push((await run(agent, null)).events);
    }
    for (const events of ended) {
      expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_ERROR']);
      expect(events[1]).toMatchObject({ message: expect.any(String), code: 'provider_rejected' });
    }
    expect(await turnsOf('failed')).toBe(1);
  });
});

describe('a history', () => {
  const history: Message[] = [
    user('What is the weather?', 'h1'),
    { id: 'h2', role: 'reasoning', content: 'They ask.' },
    {
      id: 'h3',
      role: 'assistant',
      content: 'Let me see.',
      toolCalls: [
        { id: 'call-1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      ],
    },
    { id: 'h4', role: 'tool', toolCallId: 'call-1', content: 'sunny' },
    { id: 'h5', role: 'assistant', content: 'Sunny.' },
  ];

  test('of a new thread is imported without a model call, with its ids', async () => {
    const agent = httpAgent(place.server.http, { messages: [...history] });
    await run(agent, 'and tomorrow?');
    const prompt = place.model.requests.at(-1)?.messages ?? [];
    expect(prompt.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(await turnsOf(agent.threadId)).toBe(1);
    const fresh = httpAgent(place.server.http, { thread: agent.threadId });
    await run(fresh, null);
    expect(fresh.messages).toEqual(agent.messages);
    expect(fresh.messages.slice(0, 5)).toEqual(history);
    await run(agent, 'thanks');
    expect(await turnsOf(agent.threadId)).toBe(2);
  });

  test('that ends with a result continues from it', async () => {
    const agent = httpAgent(place.server.http, { messages: history.slice(0, 4) });
    const { newMessages } = await run(agent, null);
    expect(contentOf(newMessages, 'assistant')).toEqual(['Result: sunny']);
  });

  test('of another conversation is ignored in an existing thread', async () => {
    const agent = httpAgent(place.server.http);
    await run(agent, 'first');
    const other = httpAgent(place.server.http, { thread: agent.threadId, messages: [...history] });
    await run(other, 'second');
    const prompt = place.model.requests.at(-1)?.messages.filter(({ role }) => role === 'user');
    expect(prompt?.map(({ content }) => content)).toEqual(['first', 'second']);
  });
});

describe('other dialects', () => {
  const ended = (count: number) => (events: readonly { type: string }[]) =>
    events.filter(({ type }) => type === 'turn.ended').length >= count;

  test('continue the session, and their messages are part of the next prompt and of the thread', async () => {
    const agent = httpAgent(place.server.http);
    await run(agent, 'from the front end');
    await submit(place.server, agent.threadId, 'from elsewhere');
    await followed(place.server, agent.threadId, ended(2));
    const { newMessages } = await run(agent, 'back again');
    expect(contentOf(newMessages, 'assistant')).toEqual(['re: back again']);
    const prompt = JSON.stringify(place.model.requests.at(-1)?.messages);
    expect(prompt).toContain('re: from elsewhere');
    const fresh = httpAgent(place.server.http, { thread: agent.threadId });
    await run(fresh, null);
    expect(contentOf(fresh.messages, 'user')).toEqual(['from the front end', 'from elsewhere', 'back again']);
    expect(new Set(fresh.messages.map(({ id }) => id)).size).toBe(fresh.messages.length);
  });

  test('create a session that a thread continues', async () => {
    await submit(place.server, 'begun-natively', 'native words');
    await followed(place.server, 'begun-natively', ended(1));
    const agent = httpAgent(place.server.http, { thread: 'begun-natively' });
    await run(agent, null);
    expect(contentOf(agent.messages, 'user')).toEqual(['native words']);
    await run(agent, 'more');
    expect(await turnsOf('begun-natively')).toBe(2);
  });

  test('conversations has one message for each input and each answer', async () => {
    const agent = httpAgent(place.server.http);
    await run(agent, 'one');
    await run(agent, 'two');
    const headers = { authorization: `Bearer ${await place.server.login('ada', 'ada-password')}` };
    const url = `${place.server.http}/v1/conversations/${agent.threadId}/messages`;
    const messages = await getJson<{ content: string }[]>(url, headers);
    expect(messages.map(({ content }) => content)).toEqual(['one', 're: one', 'two', 're: two']);
  });
});

test('fifty concurrent runs do not mix', async () => {
  const agents = Array.from({ length: 50 }, () => httpAgent(place.server.http));
  await Promise.all(agents.map((agent, index) => run(agent, `number ${index};`)));
  for (const [index, agent] of agents.entries()) {
    expect(contentOf(agent.messages, 'assistant')).toEqual([`re: number ${index};`]);
    expect(await turnsOf(agent.threadId)).toBe(1);
  }
});

test('two runs on one thread follow each other', async () => {
  const agents = ['one', 'two', 'three'].map((text) => ({
    text,
    agent: httpAgent(place.server.http, { thread: 'queue' }),
  }));
  await Promise.all(agents.map(({ agent, text }) => run(agent, text)));
  for (const { agent, text } of agents)
    expect(contentOf(agent.messages, 'assistant')).toEqual([`re: ${text}`]);
  expect(await turnsOf('queue')).toBe(3);
});
