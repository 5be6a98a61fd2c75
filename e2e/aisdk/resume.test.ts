/** Resumed streams: after a reload, a disconnect, a broken connection and a kill. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../packages/server/src/testing/until.ts';
import { cuttingProxy } from '../console/cutting-proxy.ts';
import { dictatedModel } from '../scripted-model.ts';
import { durableOf, startProcess, submit } from '../server-process.ts';
import {
  chatWith,
  chunksOf,
  historyOf,
  idOf,
  post,
  shown,
  stateTypes,
  textOf,
  textsOf,
  typesOf,
} from './client.ts';
import { answering, cleanedUp, cleanUp, dictated, resume, shows } from './turns.ts';

afterEach(cleanedUp);

describe('a stream that is resumed', () => {
  test('has the whole answer exactly once, with the same ids, for any number of readers', async () => {
    const { model, server } = await dictated();
    const id = 'resumed';
    const chat = chatWith({ server, id });
    const sent = chat.sendMessage({ text: 'count' });
    model.think('Hm. ');
    model.say('One ');
    await shows(chat, 'One ');
    const reloaded = chatWith({ server, id, messages: await historyOf(server.http, id) });
    // The history has the running answer so far.
    expect(textsOf(reloaded)).toEqual(['user: count', 'assistant: One ']);
    const resumed = reloaded.resumeStream();
    const raw = chunksOf(await resume(server.http, id));
    model.say('two ');
    await Promise.all([shows(chat, 'One two '), shows(reloaded, 'One two ')]);
    model.say('three');
    model.end();
    await Promise.all([sent, resumed]);
    expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two three']);
    expect(shown(reloaded.messages)).toEqual(shown(chat.messages));
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
    const chunks = await raw;
    expect(typesOf(chunks).filter((type, at, all) => type !== all[at - 1])).toEqual([
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(idOf(chunks)).toBe(chat.lastMessage?.id ?? 'none');
    expect((await resume(server.http, id)).status).toBe(204);
  });

  test('includes the earlier steps with their calls', async () => {
    const { model, server } = await dictated();
    const chat = chatWith({ server, id: 'steps' });
    const sent = chat.sendMessage({ text: 'echo' });
    model.say('Let me see. ');
    model.call('echo', { value: 'seen' });
    model.say('It ');
    await until(() => textOf(chat.lastMessage).endsWith('|It '));
    const reloaded = chatWith({ server, id: 'steps', messages: await historyOf(server.http, 'steps') });
    const resumed = reloaded.resumeStream();
    model.say('is.');
    await until(() => textOf(reloaded.lastMessage).endsWith('|It is.'));
    model.end();
    await Promise.all([sent, resumed]);
    expect(stateTypes(reloaded.lastMessage)).toEqual([
      'step-start',
      'text done',
      'dynamic-tool output-available',
      'step-start',
      'text done',
    ]);
    expect(shown(reloaded.messages)).toEqual(shown(chat.messages));
  });

  test('is not found for unknown chats', async () => {
    const { server } = await answering();
    const response = await resume(server.http, 'nobody');
    expect([response.status, await response.text()]).toEqual([204, '']);
  });
});

describe('a client that disconnects', () => {
  test('does not end the turn: its answer is complete after a reconnect', async () => {
    const { model, server } = await dictated();
    const chat = chatWith({ server, id: 'left' });
    const sent = chat.sendMessage({ text: 'count' });
    model.say('One ');
    await shows(chat, 'One ');
    await chat.stop();
    await sent;
    expect(textOf(chat.lastMessage)).toBe('One ');
    model.say('two ');
    const resumed = chat.resumeStream();
    await shows(chat, 'One two ');
    model.say('three');
    model.end();
    await resumed;
    expect((await historyOf(server.http, 'left')).map(textOf)).toEqual(['count', 'One two three']);
    expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two three']);
  });

  test('because of a broken connection resumes the same message', async () => {
    const { model, server } = await dictated();
    const proxy = await cuttingProxy(server.http);
    cleanUp(() => proxy.stop());
    const disconnects: boolean[] = [];
    const chat = chatWith({
      server: proxy,
      id: 'cut',
      onFinish: ({ isError }) => void disconnects.push(isError),
    });
    const sent = chat.sendMessage({ text: 'count' });
    model.say('One ');
    await shows(chat, 'One ');
    expect(proxy.cut()).toBeGreaterThan(0);
    await sent;
    model.say('two ');
    proxy.restore();
    const resumed = chat.resumeStream();
    await shows(chat, 'One two ');
    model.say('three');
    model.end();
    await resumed;
    expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two three']);
    expect(shown(await historyOf(server.http, 'cut'))).toEqual(shown(chat.messages));
  });
});

test('after a kill the answer continues under the same id, exactly once', async () => {
  const model = dictatedModel();
  cleanUp(model.stop);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-aisdk-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const first = await startProcess(folder, model.settings);
  const chat = chatWith({ server: first, id: 'killed' });
  const sent = chat.sendMessage({ text: 'count' });
  model.say('Lost ');
  await shows(chat, 'Lost ');
  const { id } = chat.lastMessage ?? {};
  await first.kill();
  await sent;
  expect(chat.status).not.toBe('streaming');

  const second = await startProcess(folder, model.settings);
  cleanUp(() => second.kill());
  const messages = await historyOf(second.http, 'killed');
  model.say('One ');
  const reloaded = chatWith({ server: second, id: 'killed', messages });
  const resumed = reloaded.resumeStream();
  await shows(reloaded, 'One ');
  model.say('two');
  model.end();
  await resumed;
  expect(textsOf(reloaded)).toEqual(['user: count', 'assistant: One two']);
  expect(reloaded.lastMessage?.id).toBe(id ?? 'none');
  expect(shown(await historyOf(second.http, 'killed'))).toEqual(shown(reloaded.messages));
  // Posting the message again returns the same turn.
  const again = await chunksOf(
    await post(second.http, { id: 'killed', messages: reloaded.messages.slice(0, 1) }),
  );
  expect(idOf(again)).toBe(id ?? 'none');
  const events = await durableOf(second, 'killed');
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
});

test('a session that another dialect runs can be resumed', async () => {
  const { model, server } = await dictated();
  await submit(server, 'native', 'count');
  const chat = chatWith({ server, id: 'native', messages: await historyOf(server.http, 'native') });
  model.say('One ');
  const resumed = chat.resumeStream();
  await shows(chat, 'One ');
  model.say('two');
  model.end();
  await resumed;
  expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two']);
});
