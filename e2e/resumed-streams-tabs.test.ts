/**
 * `conversations`: several tabs of one user lose their connections together. Frames do not say which tab they are
 * for, and tabs do not say who they are: a conversation continues only on the socket that names it, and no tab
 * waits forever for the end of its answer.
 */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestClient } from '../packages/server/src/testing/client.ts';
import {
  type ConversationsServer,
  payloadOf,
  reads,
  serveConversations,
  settled,
  started,
  textOf,
  write,
} from './conversations-server.ts';
import { type DictatedModel, dictatedModel, gatedModel } from './scripted-model.ts';
import { login, startProcess } from './server-process.ts';

setDefaultTimeout(60_000);

const UNCLEAR = {
  type: 'error',
  error: expect.stringContaining('connection was lost'),
  payload: expect.objectContaining({ code: 'stream_error' }),
};

const kinds = (frames: readonly { readonly type: string }[]) => frames.map(({ type }) => type);

describe('two tabs of one user', () => {
  let model: DictatedModel;
  let server: ConversationsServer;
  beforeEach(async () => {
    model = dictatedModel();
    server = await serveConversations(model.settings);
  });
  afterEach(async () => {
    await server.stop();
    model.stop();
  });

  /** One tab that has read `one `, and another one that is idle, both cut. */
  async function lostTabs(user: string, { isBlank = false } = {}): Promise<{ id: string; idle: string }> {
    const [streaming, other] = [await server.open(user), await server.open(user)];
    const idle = isBlank ? '' : await started(other);
    const id = await started(streaming);
    write(streaming, id);
    model.say('one ');
    await reads(streaming, 'one ');
    await server.cutAll([other, streaming]);
    return { id, idle };
  }

  /** Ends the turn of the conversation, as REST shows it. */
  async function end(user: string, id: string, text: string): Promise<void> {
    model.say(text);
    model.end();
    await server.idle(user, id);
  }

  for (const isBlank of [false, true])
    test(`the stream of one continues only on the socket that names it; the other was ${isBlank ? 'blank' : 'idle'}`, async () => {
      const user = isBlank ? 'uma' : 'dev';
      const { id, idle } = await lostTabs(user, { isBlank });
      const second = await server.open(user);
      const first = await server.open(user);
      for (const tab of [first, second]) expect(await settled(tab)).toEqual([UNCLEAR] as never);
      await end(user, id, 'two');
      for (const tab of [first, second]) expect(await settled(tab)).toEqual([]);

      const own = isBlank ? await started(second) : idle;
      write(second, own);
      model.say('mine');
      model.end();
      const answered = await second.until('workflow_step_complete');
      expect(new Set(answered.map(({ conversationId }) => conversationId))).toEqual(new Set([own]));

      write(first, id);
      const rest = await first.until('workflow_step_complete');
      expect(kinds(rest)).toEqual(['message_chunk', 'message_complete', 'workflow_step_complete']);
      expect(textOf(rest)).toBe('two');
      model.say('three');
      model.end();
      expect(textOf(await first.until('workflow_step_complete'))).toBe('three');
      expect(await settled(second)).toEqual([]);
    });

  test('a running answer is continued by the socket that cancels it, to its end', async () => {
    const { id } = await lostTabs('uma');
    const [second, first] = [await server.open('uma'), await server.open('uma')];
    await Promise.all([settled(first), settled(second)]);
    model.say('two ');
    first.send({ type: 'cancel_stream', conversationId: id });
    const frames = await first.until('error');
    expect('two '.startsWith(textOf(frames))).toBe(true);
    expect(frames.at(-1)).toMatchObject({ conversationId: id, payload: { code: 'cancelled' } });
    expect(await settled(second)).toEqual([]);
  });

  test('an approval is answered by the tab that was asked, which receives the rest', async () => {
    const [asking, other] = [await server.open('dev'), await server.open('dev')];
    const id = await started(asking);
    write(asking, id);
    model.say('I will touch it.');
    model.call('shell', { command: ['touch', 'tabs.txt'] });
    const { requestId } = payloadOf(await asking.next('tool_approval_required'));
    await server.cutAll([other, asking]);
    const [second, first] = [await server.open('dev'), await server.open('dev')];
    for (const tab of [first, second]) expect(await settled(tab)).toEqual([UNCLEAR] as never);
    first.send({ type: 'approve_tool', conversationId: id, requestId, payload: { approved: true } });
    expect(payloadOf(await first.next('tool_executed'))).toMatchObject({ requestId, success: true });
    model.say('Done.');
    model.end();
    expect(textOf(await first.until('workflow_step_complete'))).toBe('\n\nDone.');
    expect(await settled(second)).toEqual([]);
  });

  test('tabs that name their conversation continue without an error, in any order', async () => {
    const { id, idle } = await lostTabs('dev');
    const second = await server.open('dev', `&session=${idle}`);
    const first = await server.open('dev', `&session=${id}`);
    expect(await settled(second)).toEqual([]);
    expect(textOf(await settled(first))).toBe('one ');
    model.say('two');
    model.end();
    await first.until('workflow_step_complete');
    expect(textOf(first.frames)).toBe('one two');
    expect(await settled(second)).toEqual([]);
  });

  test('with a closing handshake, it is the same', async () => {
    const [streaming, other] = [await server.open('dev'), await server.open('dev')];
    const id = await started(streaming);
    write(streaming, id);
    model.say('one ');
    await reads(streaming, 'one ');
    for (const tab of [other, streaming]) {
      tab.close();
      await tab.closed;
    }
    const tabs = [await server.open('dev'), await server.open('dev')];
    for (const tab of tabs) expect(await settled(tab)).toEqual([UNCLEAR] as never);
    await end('dev', id, 'two');
    for (const tab of tabs) expect(await settled(tab)).toEqual([]);
  });

  test('a tab that its user has closed is not expected back: the other one continues', async () => {
    const [streaming, closed] = [await server.open('ada'), await server.open('ada')];
    await started(closed);
    const id = await started(streaming);
    write(streaming, id);
    model.say('one ');
    await reads(streaming, 'one ');
    // Browsers close the sockets of a page that is left with this code.
    closed.socket.close(1001);
    await closed.closed;
    await server.cutAll([streaming]);
    const next = await server.open('ada');
    model.say('two');
    model.end();
    expect(textOf(await next.until('workflow_step_complete'))).toBe('two');
  });

  test('one of which was blank, after both are in use again: a single loss is clear', async () => {
    const { id } = await lostTabs('uma', { isBlank: true });
    const [second, first] = [await server.open('uma'), await server.open('uma')];
    first.send({ type: 'cancel_stream', conversationId: id });
    await first.next(({ conversationId, type }) => type === 'error' && conversationId === id);
    await started(second);
    // The request of the cancelled turn may still be open.
    const asked = model.asked();
    write(first, id);
    await asked;
    model.say('three ');
    await reads(first, 'three ');
    await server.cutAll([first]);
    const next = await server.open('uma');
    model.say('four');
    model.end();
    expect(textOf(await next.until('workflow_step_complete'))).toBe('four');
    expect(await settled(second)).toEqual([]);
  });

  test('lost again before they named anything: the streams are still theirs', async () => {
    const { id } = await lostTabs('ada');
    const tabs = [await server.open('ada'), await server.open('ada')];
    for (const tab of tabs) await settled(tab);
    await server.cutAll(tabs);
    const [second, first] = [await server.open('ada'), await server.open('ada')];
    for (const tab of [first, second]) expect(await settled(tab)).toEqual([UNCLEAR] as never);
    await end('ada', id, 'two');
    write(first, id);
    expect(textOf(await first.until('workflow_step_complete'))).toBe('two');
    model.say('again');
    model.end();
    await first.until('workflow_step_complete');
    expect(await settled(second)).toEqual([]);
  });

  test('both streaming: each receives the rest of its own conversation', async () => {
    const gated = gatedModel();
    const other = await serveConversations(gated.settings);
    try {
      const tabs = [await other.open('uma'), await other.open('uma')] as [TestClient, TestClient];
      const ids: string[] = [];
      for (const tab of tabs) {
        const id = await started(tab);
        write(tab, id);
        await reads(tab, 'Half ');
        ids.push(id);
      }
      await other.cutAll(tabs);
      const [second, first] = [await other.open('uma'), await other.open('uma')];
      for (const tab of [first, second]) expect(await settled(tab)).toEqual([UNCLEAR] as never);
      gated.release();
      for (const [tab, id] of [
        [first, ids[0]],
        [second, ids[1]],
      ] as const) {
        await other.idle('uma', String(id));
        write(tab, String(id));
        const rest = await tab.until('workflow_step_complete');
        expect([textOf(rest), textOf(rest, id)]).toEqual(['and whole.', 'and whole.']);
      }
    } finally {
      await other.stop();
      await gated.stop();
    }
  });
});

for (const tabs of [1, 2])
  test(`after SIGKILL with ${tabs} open: an interrupted answer continues ${tabs === 1 ? 'on the next socket' : 'where it is named'}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-tabs-'));
    const model = dictatedModel();
    try {
      const before = await startProcess(folder, model.settings);
      const token = await login(before, 'dev', 'dev-password');
      const open = (process: typeof before) => process.connect(`/ws?token=${token}`);
      const streaming = await open(before);
      const id = await started(streaming);
      write(streaming, id);
      model.say('one ');
      await reads(streaming, 'one ');
      if (tabs === 2) await settled(await open(before));
      await before.kill();
      await using after = await startProcess(folder, model.settings);
      const [second, first] = [await open(after), await open(after)];
      if (tabs === 2) {
        for (const tab of [first, second]) expect(await settled(tab)).toEqual([UNCLEAR] as never);
        first.send({ type: 'cancel_stream', conversationId: id });
        expect(await first.next('error')).toMatchObject({ conversationId: id });
        expect(await settled(second)).toEqual([]);
      } else {
        model.say('two');
        model.end();
        await second.until('workflow_step_complete');
        expect(await settled(first)).toEqual([]);
      }
    } finally {
      model.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
