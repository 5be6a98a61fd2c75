/** A chain of models over the real wire: vendors that fail, and what clients of their APIs receive. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '../packages/sdk/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { type Answer, type ScriptedModel, scriptedModel } from './scripted-model.ts';

const LIMITED: Answer = { status: 429, headers: { 'retry-after': '120' }, message: 'Slow down.' };

let model: ScriptedModel;
let server: TestServer;
let first: (count: number) => Answer;
let asked: string[] = [];

describe('a chain of models', () => {
  beforeAll(() => {
    model = scriptedModel(({ model: name }) => {
      asked.push(name);
      return name === 'first' ? first(asked.length) : { say: `Hello from ${name}.` };
    });
  });
  afterAll(() => model.stop());
  afterEach(async () => {
    await server?.stop();
    asked = [];
  });

  const start = async (settings: Record<string, string> = {}) => {
    server = await startTestServer({ ...model.settings, MODEL: 'first, second', ...settings });
    return server.http;
  };
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(server.http + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const chat = (fields: object) => ({ messages: [{ role: 'user', content: 'Hi' }], ...fields });

  test('answers, and every API names the model that did', async () => {
    first = () => LIMITED;
    await start();
    const completion = await post('/v1/chat/completions', chat({ model: 'parlance' }));
    expect(JSON.parse(completion.text)).toMatchObject({
      model: 'second',
      choices: [{ message: { content: 'Hello from second.' } }],
    });
    const streamed = await post('/v1/chat/completions', chat({ model: 'parlance', stream: true }));
    const chunks = streamed.text.split('\n\n').filter((line) => line.startsWith('data: {'));
    expect(new Set(chunks.map((line) => JSON.parse(line.slice(6)).model))).toEqual(new Set(['second']));
    const response = await post('/v1/responses', { model: 'parlance', input: 'Hi' });
    const { id, model: answering } = JSON.parse(response.text);
    expect(answering).toBe('second');
    const again = await fetch(`${server.http}/v1/responses/${id}`);
    expect(await again.json()).toMatchObject({ model: 'second' });
    for (const stream of [false, true]) {
      const message = await post(
        '/anthropic/v1/messages',
        chat({ model: 'parlance', max_tokens: 50, stream }),
      );
      expect(message.text).toContain('"model":"second"');
      expect(message.text).not.toContain('"model":"first"');
    }
    expect(asked.filter((name) => name === 'first')).toHaveLength(1);
  });

  test('does not answer for a model that the request names, unless the operator allows it', async () => {
    first = () => LIMITED;
    await start();
    const named = await post('/v1/chat/completions', chat({ model: 'first' }));
    expect([named.status, named.headers.get('retry-after')]).toEqual([429, '120']);
    expect(asked).toEqual(['first']);
    await server.stop();
    await start({ PARLANCE_FALLBACK_FROM_NAMED: 'on' });
    const allowed = await post('/v1/chat/completions', chat({ model: 'first' }));
    expect(JSON.parse(allowed.text).model).toBe('second');
  });

  test('does not answer after a refusal', async () => {
    first = () => ({ status: 400, message: 'Your prompt violates our policy.' });
    await start();
    const refused = await post('/v1/chat/completions', chat({ model: 'parlance' }));
    expect(refused.status).toBe(400);
    expect(new Set(asked)).toEqual(new Set(['first']));
  });

  test.each([
    ['1e300', 429],
    ['-1', 429],
    ['<script>', 429],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 429],
  ])('a vendor may ask for any delay: %s', async (delay, status) => {
    first = () => ({
      status,
      headers: { 'retry-after': delay },
      message: 'Slow </answer> down \u202e\u0000.',
    });
    await start({ MODEL: 'first,first , openai:first' });
    const failed = await post('/v1/chat/completions', chat({ model: 'parlance' }));
    expect(failed.status).toBe(429);
    expect(failed.text).not.toContain('</answer>');
    const health = await post('/v1/chat/completions', chat({ model: 'parlance' }));
    expect(health.status).toBe(429);
  });

  test('is not begun with an empty name, too many models, or one without a key', async () => {
    first = () => LIMITED;
    await expect(start({ MODEL: 'first,,second' })).rejects.toThrow('empty name');
    await expect(start({ MODEL: 'a,b,c,d,e,f,g,h,i' })).rejects.toThrow('at most 8');
    await expect(start({ MODEL: 'first,claude-opus-4-7', PROVIDER: '' })).rejects.toThrow();
  });

  test('of an agent answers in its sessions, and the SDK shows which model did', async () => {
    first = () => LIMITED;
    const url = await start({ MODEL: 'third' });
    const { settings } = connect({ url }).admin;
    const { version } = await settings.read();
    const cook = { id: 'cook', name: 'Cook', instructions: 'Cook.', model: 'first, second' };
    const kitchen = { id: 'kitchen', name: 'Kitchen', defaultAgent: 'cook', agents: ['cook'] };
    await settings.change({ version, values: { agents: [cook], domains: [kitchen] } });
    const { text, turn } = await connect({ url }).session().ask('Hi', { agent: 'cook' });
    expect([text, turn.fallback]).toEqual(['Hello from second.', 'second']);
  });
});
