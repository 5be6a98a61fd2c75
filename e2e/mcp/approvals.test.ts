/** Calls of an agent that need an approval: forms in both eras, and the tools for clients without forms. */
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type Answer, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, getJson, postJson } from '../server-process.ts';
import {
  connect,
  ERAS,
  type Form,
  type FormAnswer,
  type McpClient,
  type Options,
  type Turn,
} from './clients.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const touch = (file: string): Answer => ({ call: 'shell', input: { command: ['touch', file] } });

/** A server with a model that gives these answers, one after another. */
async function answering(settings: Record<string, string>, ...answers: Answer[]) {
  const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanups.push(model.stop);
  const server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    ...settings,
  });
  cleanups.push(() => server.stop());
  return { model, server };
}

type Waiting = { readonly id: string; readonly session: string };

const waitingAt = (server: TestServer): Promise<Waiting> =>
  until(async () => (await getJson<{ approvals: Waiting[] }>(`${server.http}/v1/approvals`)).approvals[0]);

const accept = (answer: string): FormAnswer => ({ action: 'accept', content: { answer } });

const eventsOf = async (server: TestServer, session: string, type: string) =>
  (await durableOf(server, session)).filter((event) => event.type === type);

describe.each(ERAS)('in %s', (era) => {
  const open = async ({ http }: TestServer, options: Options = {}): Promise<McpClient> => {
    const client = await connect(era, http, options);
    cleanups.push(() => client.close());
    return client;
  };

  describe('a client with forms', () => {
    test('is asked about the call, which continues with the answer', async () => {
      const { server } = await answering({}, touch('a.txt'), { say: 'Made it.' });
      const shown: Form[] = [];
      const client = await open(server, {
        onForm: (form) => {
          shown.push(form);
          return accept('once');
        },
      });
      const turn = await client.turn('send_message', { text: 'touch it' });
      expect(turn).toMatchObject({ status: 'done', text: 'Made it.' });
      expect(existsSync(join(server.root, 'a.txt'))).toBeTrue();
      expect(shown).toMatchObject([
        {
          message: expect.stringContaining('touch a.txt'),
          requestedSchema: {
            type: 'object',
            properties: { answer: { type: 'string', enum: ['once', 'always', 'deny'] } },
            required: ['answer'],
          },
        },
      ]);
      expect(await eventsOf(server, turn.session, 'turn.started')).toHaveLength(1);
      expect(client.errors).toEqual([]);
    });

    test('that answers always is not asked again', async () => {
      const { server } = await answering({}, touch('a.txt'), touch('a.txt'), { say: 'Twice.' });
      let asked = 0;
      const client = await open(server, {
        onForm: () => {
          asked += 1;
          return accept('always');
        },
      });
      expect(await client.turn('send_message', { text: 'touch twice' })).toMatchObject({ text: 'Twice.' });
      expect(asked).toBe(1);
    });

    test.each<FormAnswer>([
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'accept', content: { answer: 'deny' } },
    ])('that answers with %p denies it, and the agent continues', async (answer) => {
      const { server } = await answering({}, touch('a.txt'), { say: 'Then not.' });
      const client = await open(server, { onForm: () => answer });
      const turn = await client.turn('send_message', { text: 'touch it' });
      expect(turn).toMatchObject({ status: 'done', text: 'Then not.' });
      expect(existsSync(join(server.root, 'a.txt'))).toBeFalse();
      expect(await eventsOf(server, turn.session, 'approval.answered')).toMatchObject([{ answer: 'deny' }]);
    });

    test('is asked about every waiting call', async () => {
      const both = {
        calls: [
          ['shell', { command: ['touch', 'a.txt'] }] as const,
          ['shell', { command: ['touch', 'b.txt'] }] as const,
        ],
      };
      const { server } = await answering({}, both, { say: 'Both.' });
      const shown: string[] = [];
      const client = await open(server, {
        onForm: ({ message }) => {
          shown.push(message);
          return accept('once');
        },
      });
      expect(await client.turn('send_message', { text: 'touch both' })).toMatchObject({ text: 'Both.' });
      expect(shown.sort()).toEqual([expect.stringContaining('a.txt'), expect.stringContaining('b.txt')]);
    });

    test('that is slow: the answer from elsewhere is applied, the late one is ignored', async () => {
      const { server } = await answering({}, touch('a.txt'), { say: 'Allowed elsewhere.' });
      const late = Promise.withResolvers<FormAnswer>();
      const client = await open(server, { onForm: () => late.promise });
      const call = client.turn('send_message', { text: 'touch it' });
      const { id, session } = await waitingAt(server);
      await postJson(`${server.http}/v1/approvals/${id}`, { answer: 'once' });
      if (era === '2026') {
        // The client sends its answer, and receives what has happened since.
        await followed(server, session, (events) => events.some(({ type }) => type === 'turn.ended'));
        late.resolve({ action: 'decline' });
      }
      expect(await call).toMatchObject({ status: 'done', text: 'Allowed elsewhere.' });
      late.resolve({ action: 'decline' });
      await client.call('list_sessions');
      expect(await eventsOf(server, session, 'approval.answered')).toMatchObject([{ answer: 'once' }]);
      expect(await eventsOf(server, session, 'turn.started')).toHaveLength(1);
    });

    test('that takes too long gets the status waiting, and may still answer', async () => {
      // In 2026 a form is an answer to the call, and the next call has all the time it needs.
      const limits: Record<string, string> = era === '2025' ? { PARLANCE_TOOL_CALL_WITHIN: '1000' } : {};
      const { server } = await answering(limits, touch('a.txt'), { say: 'Late, but made.' });
      const late = Promise.withResolvers<FormAnswer>();
      const client = await open(server, { onForm: () => late.promise });
      const call = client.turn('send_message', { text: 'touch it' });
      const { session } = await waitingAt(server);
      if (era === '2025') expect(await call).toMatchObject({ status: 'waiting', session });
      late.resolve(accept('once'));
      await followed(server, session, (events) => events.some(({ type }) => type === 'turn.ended'));
      expect(existsSync(join(server.root, 'a.txt'))).toBeTrue();
      if (era === '2026') expect(await call).toMatchObject({ status: 'done', text: 'Late, but made.' });
    });

    test('of a user without the permission to approve is not asked', async () => {
      const { server } = await answering({}, touch('a.txt'));
      const token = await server.login('uma', 'uma-password');
      const client = await open(server, { token, onForm: () => accept('once') });
      expect(await client.turn('send_message', { text: 'touch it' })).toMatchObject({ status: 'waiting' });
    });
  });

  describe('a client without forms', () => {
    test('gets the approval with the status waiting, and answers with a tool', async () => {
      const { server } = await answering({}, touch('a.txt'), touch('b.txt'), { say: 'Done.' });
      const client = await open(server);
      await client.client.listTools();
      const result = await client.call('send_message', { text: 'touch two' });
      const { session, turn, approval } = result.structuredContent as unknown as Turn;
      // Bun writes matchers into the received object.
      expect(structuredClone(result.structuredContent)).toMatchObject({
        status: 'waiting',
        approval: {
          id: expect.any(String),
          tool: 'shell',
          input: { command: ['touch', 'a.txt'] },
          description: expect.stringContaining('touch a.txt'),
        },
      });
      expect(result.content[0]?.text).toContain('touch a.txt');
      const listed = await client.call('list_approvals');
      expect(listed.structuredContent).toEqual({ approvals: [{ ...approval, session }] });
      expect(listed.content[0]?.text).toContain('touch a.txt');

      const next = await client.turn('answer_approval', { approval: approval?.id, answer: 'once' });
      expect(next).toMatchObject({
        session,
        turn,
        status: 'waiting',
        approval: { input: { command: ['touch', 'b.txt'] } },
      });
      const denied = { approval: next.approval?.id, answer: 'deny', reason: 'One is enough.' };
      expect(await client.turn('answer_approval', denied)).toMatchObject({
        session,
        turn,
        status: 'done',
        text: 'Done.',
      });
      expect([existsSync(join(server.root, 'a.txt')), existsSync(join(server.root, 'b.txt'))]).toEqual([
        true,
        false,
      ]);
      expect((await client.call('list_approvals')).structuredContent).toEqual({ approvals: [] });
    });

    test('gets the same approval if it sends another message', async () => {
      const { server } = await answering({}, touch('a.txt'), { say: 'One.' }, { say: 'Two.' });
      const client = await open(server);
      const { session, approval } = await client.turn('send_message', { text: 'touch it' });
      const second = await client.turn('send_message', { text: 'go on', session });
      expect(second).toMatchObject({ status: 'waiting', approval: { id: approval?.id } });
      await client.turn('answer_approval', { approval: approval?.id, answer: 'once' });
      await followed(
        server,
        session,
        (events) => events.filter(({ type }) => type === 'turn.ended').length === 2,
      );
      const { structuredContent } = await client.call('read_session', { session });
      expect(JSON.stringify(structuredContent)).toContain('Two.');
    });

    test('that answers late gets an error, and nothing runs twice', async () => {
      const { server } = await answering({}, touch('a.txt'), { say: 'Done.' });
      const client = await open(server);
      const { session, approval } = await client.turn('send_message', { text: 'touch it' });
      await postJson(`${server.http}/v1/approvals/${approval?.id}`, { answer: 'once' });
      const { isError, content } = await client.call('answer_approval', {
        approval: approval?.id,
        answer: 'deny',
      });
      expect(isError).toBeTrue();
      expect(content[0]?.text).toMatch(/approval/i);
      expect(await eventsOf(server, session, 'approval.answered')).toHaveLength(1);
    });

    test('of another user cannot answer', async () => {
      const { server } = await answering({}, touch('a.txt'), { say: 'Done.' });
      const owner = await open(server, { token: await server.login('dev', 'dev-password') });
      const { approval } = await owner.turn('send_message', { text: 'touch it' });
      const stranger = await open(server);
      const answer = await stranger.call('answer_approval', { approval: approval?.id, answer: 'once' });
      expect(answer.isError).toBeTrue();
      expect((await stranger.call('list_approvals')).structuredContent).toEqual({ approvals: [] });
      expect(existsSync(join(server.root, 'a.txt'))).toBeFalse();
    });
  });
});

test('in 2025 a client that cannot show the form gets the status waiting', async () => {
  const { server } = await answering({}, touch('a.txt'));
  const client = await connect('2025', server.http, {
    onForm: () => {
      throw new Error('no screen');
    },
  });
  cleanups.push(() => client.close());
  expect(await client.turn('send_message', { text: 'touch it' })).toMatchObject({ status: 'waiting' });
});
