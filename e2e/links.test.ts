/** Images and files by URL, in the clients' own dialects: the URL goes to the model, and the server never fetches it. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { HttpAgent } from '@ag-ui/client';
import { connect, LIST, messageOf, requestOf, textOf } from './a2a/client.ts';
import { chatWith, historyOf, post } from './aisdk/client.ts';
import { anthropicClient, textIn } from './anthropic/client.ts';
import { modelServer, testServers } from './model-server.ts';
import { failure, openaiClient, sessionOf } from './openai/client.ts';
import { durableOf, getJson } from './server-process.ts';

/** The target of the links, which must never be requested. */
let visits = 0;
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch() {
    visits++;
    return new Response('seen');
  },
});
afterAll(() => {
  expect(visits).toBe(0);
  return site.stop(true);
});

const IMAGE = `${site.url}picture.png?signature=a%2Fb`;
const PDF = `${site.url}paper.pdf`;

const { model, server } = await modelServer(({ messages }) => ({
  say: `I see ${messages.filter(({ content }) => Array.isArray(content)).length}.`,
}));
const { restartable } = testServers();
const openai = openaiClient(server.http);
const anthropic = anthropicClient(server.http);

/** The image URLs that the model received. */
const images = (from = model): string[] => [
  ...(JSON.stringify(from.requests.at(-1)?.messages).match(/"url":"[^"]*"/g) ?? []),
];
const given = [`"url":"${IMAGE}"`];

beforeEach(() => void model.requests.splice(0));

const asked = {
  role: 'user' as const,
  content: [
    { type: 'text' as const, text: 'What is this?' },
    { type: 'image_url' as const, image_url: { url: IMAGE } },
  ],
};

const inputImage = { type: 'input_image' as const, image_url: IMAGE, detail: 'auto' as const };
const inputFile = { type: 'input_file' as const, file_url: PDF, filename: 'paper.pdf' };

describe('an image URL reaches the model as an image', () => {
  test('in Chat Completions, and its history continues the session', async () => {
    const first = await openai.chat.completions.create({ model: 'fake', messages: [asked] }).withResponse();
    expect(images()).toEqual(given);
    const message = first.data.choices[0]?.message;
    if (!message) throw new Error('no message');
    const messages = [asked, message, { role: 'user' as const, content: 'Sure?' }];
    const second = await openai.chat.completions.create({ model: 'fake', messages }).withResponse();
    expect(images()).toEqual(given);
    expect(sessionOf(second.response)).toBe(sessionOf(first.response));
  });

  test('in Responses, and is listed unchanged', async () => {
    const content = [{ type: 'input_text' as const, text: 'What is this?' }, inputImage];
    const { data, response } = await openai.responses
      .create({ model: 'fake', input: [{ role: 'user', content }] })
      .withResponse();
    expect(images()).toEqual(given);
    const { data: items } = await openai.responses.inputItems.list(data.id);
    expect(items).toMatchObject([{ content }]);
    const { data: listed } = await openai.conversations.items.list(sessionOf(response), { order: 'asc' });
    expect(listed[0]).toMatchObject({ content });
  });

  test('in Messages', async () => {
    const source = { type: 'url' as const, url: IMAGE };
    const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }];
    const first = { model: 'fake', max_tokens: 100, messages };
    expect(textIn(await anthropic.messages.create(first))).toBe('I see 1.');
    expect(images()).toEqual(given);
    expect((await anthropic.messages.countTokens({ model: 'fake', messages })).input_tokens).toBeGreaterThan(
      500,
    );
  });

  test('in a chat of the AI SDK, whose history shows it', async () => {
    const chat = chatWith({ server, id: 'linked' });
    const files = [{ type: 'file' as const, mediaType: 'image/png', filename: 'a.png', url: IMAGE }];
    await chat.sendMessage({ text: 'What is this?', files });
    expect(images()).toEqual(given);
    const [message] = await historyOf(server.http, 'linked');
    expect(message?.parts).toContainEqual(files[0] as never);
  });

  test('in a run of AG-UI, whose snapshot shows it', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image' as const, source: { type: 'url' as const, value: IMAGE } },
    ];
    const agent = new HttpAgent({ url: `${server.http}/agui`, threadId: 'linked-run' });
    agent.setMessages([{ id: 'linked-message', role: 'user', content }]);
    await agent.runAgent({});
    expect(images()).toEqual(given);
    const look = new HttpAgent({ url: `${server.http}/agui`, threadId: 'linked-run' });
    await look.runAgent({});
    expect(look.messages[0]).toMatchObject({ role: 'user', content });
  });

  test('in an A2A task, whose history shows it; unsupported links are sent as text', async () => {
    const client = await connect(server.http);
    const message = messageOf('What is this?', { contextId: 'linked-task' });
    const [text] = message.parts;
    if (!text) throw new Error('no part');
    const linked = (value: string, mediaType: string) =>
      ({ ...text, content: { $case: 'url', value }, mediaType }) as typeof text;
    message.parts.push(linked(IMAGE, 'image/png'));
    const task = await client.sendMessage(requestOf(message));
    expect('artifacts' in task && textOf(task)).toBe('I see 1.');
    expect(images()).toEqual(given);
    const { tasks } = await client.listTasks({ ...LIST, contextId: 'linked-task' });
    expect(tasks[0]?.history[0]?.parts).toEqual(message.parts);
    const document = messageOf('And this?', { contextId: 'linked-document' });
    document.parts.push(linked(PDF, 'application/pdf'));
    await client.sendMessage(requestOf(document));
    expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain(PDF);
  });

  test('natively, even after a kill of the server, and in exports', async () => {
    const { model: own, start } = restartable(() => ({ say: 'Seen.' }));
    const first = await start();
    const client = openaiClient(first.http, { session: 'kept' });
    await client.chat.completions.create({ model: 'fake', messages: [asked] });
    await first.kill();
    const second = await start();
    await openaiClient(second.http, { session: 'kept' }).chat.completions.create({
      model: 'fake',
      messages: [{ role: 'user', content: 'And now?' }],
    });
    expect(images(own)).toEqual(given);
    const events = await durableOf(second, 'kept');
    expect(events.find(({ type }) => type === 'input.accepted')).toMatchObject({
      parts: [
        { type: 'text', text: 'What is this?' },
        { type: 'text', text: IMAGE, link: { kind: 'image', url: IMAGE } },
      ],
    });
    const exported = async (format: string) =>
      (await fetch(`${second.http}/v1/sessions/kept/export?format=${format}`)).text();
    expect(await exported('markdown')).toContain(IMAGE);
    const html = await exported('html');
    expect(html).toContain(`<a href="${IMAGE}" rel="noopener noreferrer nofollow">`);
    expect(html).not.toContain('<img');
    expect(await exported('jsonl')).toContain(`"link":{"kind":"image","url":"${IMAGE}"}`);
  });
});

describe('a file URL that the model does not support', () => {
  const expected = { status: 400, message: expect.stringContaining('fake cannot fetch this file') };

  test('is refused in the error format of the protocol, and nothing is stored', async () => {
    const before = await getJson<{ sessions: unknown[] }>(`${server.http}/v1/sessions?limit=200`);
    const content = [inputFile];
    const history = [
      { role: 'user' as const, content: 'hello' },
      { role: 'assistant' as const, content: 'Hello.' },
      { role: 'user' as const, content },
    ];
    expect(await failure(openai.responses.create({ model: 'fake', input: history }))).toMatchObject({
      ...expected,
      type: 'invalid_request_error',
      param: 'input',
    });
    const source = { type: 'url' as const, url: PDF };
    const messages = [{ role: 'user' as const, content: [{ type: 'document' as const, source }] }];
    expect(
      await failure(anthropic.messages.create({ model: 'fake', max_tokens: 9, messages })),
    ).toMatchObject({
      ...expected,
      type: 'invalid_request_error',
    });
    const files = [{ type: 'file', mediaType: 'application/pdf', url: PDF }];
    const chat = await post(server.http, {
      id: 'refused',
      messages: [{ id: 'm', role: 'user', parts: files }],
      trigger: 'submit-message',
    });
    expect([chat.status, await chat.text()]).toEqual([400, expected.message]);
    const parts = [{ type: 'document', source: { type: 'url', value: PDF } }];
    const run = await fetch(`${server.http}/agui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        threadId: 'refused-run',
        runId: 'r',
        messages: [{ id: 'm2', role: 'user', content: parts }],
      }),
    });
    expect([run.status, await run.json()]).toMatchObject([400, { message: expected.message }]);
    expect(await getJson<object>(`${server.http}/v1/sessions?limit=200`)).toEqual(before);
    expect(model.requests).toHaveLength(0);
  });

  test.each(['ftp://a.example/b', 'file:///etc/passwd', 'https://', 'javascript:alert(1)', 'https://a b'])(
    '%s is not an image URL',
    async (url) => {
      const messages = [
        { role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url } }] },
      ];
      expect(await failure(openai.chat.completions.create({ model: 'fake', messages }))).toMatchObject({
        status: 400,
        param: 'messages[0].content[0].image_url.url',
      });
    },
  );
});
