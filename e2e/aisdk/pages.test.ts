/** A long history, page by page. */
import { expect, test } from 'bun:test';
import type { UIMessage } from 'ai';
import { modelServer } from '../model-server.ts';
import { followed, getJson, submit } from '../server-process.ts';
import { chatWith, shown, textsOf } from './client.ts';

const { server } = await modelServer(({ messages }) => ({ say: `You said ${messages.at(-1)?.content}.` }));

type Page = { readonly messages: UIMessage[]; readonly before?: string };

const page = (id: string, query: string): Promise<Page> =>
  getJson<Page>(`${server.http}/api/chat/${id}?${query}`);

async function allPages(id: string, limit: number): Promise<UIMessage[]> {
  const all: UIMessage[] = [];
  for (let before: string | undefined = ''; before !== undefined; ) {
    const read: Page = await page(id, `limit=${limit}${before && `&before=${before}`}`);
    expect(read.messages.length).toBeLessThanOrEqual(limit + 1);
    expect(read.messages.length).toBeGreaterThan(0);
    all.unshift(...read.messages);
    before = read.before;
  }
  return all;
}

test('pages join to the history, with messages that were edited, answered again and taken over', async () => {
  const earlier: UIMessage[] = [
    { id: 'u0', role: 'user', parts: [{ type: 'text', text: 'before' }] },
    { id: 'a0', role: 'assistant', parts: [{ type: 'text', text: 'Before.', state: 'done' }] },
  ];
  const chat = chatWith({ server, id: 'long', messages: earlier });
  const say = (...texts: string[]) =>
    texts.reduce((done, text) => done.then(() => chat.sendMessage({ text })), Promise.resolve());
  await say('one', 'two', 'three');
  await chat.regenerate();
  await say('four', 'five');
  await chat.sendMessage({ text: 'deux', messageId: chat.messages.at(4)?.id });
  await say('six', 'seven', 'eight');
  await chat.regenerate({ messageId: chat.messages.at(-3)?.id });
  await say('nine');
  const whole = await page('long', '');
  expect(whole).not.toHaveProperty('before');
  expect(shown(whole.messages)).toEqual(shown(chat.messages));
  expect(textsOf(whole).filter((text) => text.startsWith('user'))).toEqual(
    ['before', 'one', 'deux', 'six', 'seven', 'nine'].map((text) => `user: ${text}`),
  );
  for (const limit of [1, 2, 3, 4, 5, 7, 100]) expect(await allPages('long', limit)).toEqual(whole.messages);
});

test('messages that wait and turns that others began are on their pages', async () => {
  const texts = Array.from({ length: 6 }, (_, number) => `number ${number}`);
  // Sent at once: inputs are accepted while turns before them run.
  await Promise.all(texts.map((text) => submit(server, 'queued', text)));
  await followed(
    server,
    'queued',
    (events) => events.filter(({ type }) => type === 'turn.ended').length === texts.length,
  );
  const whole = await page('queued', '');
  expect(whole.messages).toHaveLength(12);
  for (const limit of [1, 2, 3, 5]) expect(await allPages('queued', limit)).toEqual(whole.messages);
});

test.each(['limit=0', 'limit=2001', 'limit=x', 'before=x', 'before=-1', 'before=1-'])(
  '%s is refused',
  async (query) => {
    const response = await fetch(`${server.http}/api/chat/long?${query}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/^\w.*\.$/);
  },
);

test('a position before everything is empty, and one of another chat shows nothing of it', async () => {
  for (const before of ['0', '1', '1-1', '999999999'])
    expect(Array.isArray((await page('queued', `before=${before}`)).messages)).toBe(true);
  expect(await page('queued', 'before=1')).toMatchObject({ messages: [] });
});
