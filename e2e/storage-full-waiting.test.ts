/** The disk is full while a session waits: an answer is refused, and can be repeated later. */
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { followed, getJson, postJson, startProcess, submit } from './server-process.ts';
import { mountDisk, noDisk } from './small-disk.ts';

const count = (events: readonly DurableEvent[], type: DurableEvent['type']): number =>
  events.filter((event) => event.type === type).length;

describe.skipIf(noDisk)('on a full disk (skipped if none can be mounted)', () => {
  test('an approval answer is refused as a whole: the approval stays pending, and can be answered when there is space', async () => {
    using disk = mountDisk(16);
    await using server = await startProcess(disk.path);
    await submit(server, 'asks', 'run touch made.txt');
    const asked = await followed(server, 'asks', (events) => count(events, 'approval.requested') === 1);
    const [approval] = asked.flatMap((event) =>
      event.type === 'approval.requested' ? [event.approval] : [],
    );
    const answer = () => postJson(`${server.http}/v1/approvals/${approval}`, { answer: 'once' });
    disk.fill();

    expect((await answer()).status).toBe(503);
    const waiting = await getJson<{ approvals: { approval: string }[] }>(`${server.http}/v1/approvals`);
    expect(JSON.stringify(waiting)).toContain(String(approval));
    expect(existsSync(join(disk.path, 'made.txt'))).toBe(false);

    disk.free();
    expect((await answer()).status).toBe(200);
    const events = await followed(server, 'asks', (all) => count(all, 'turn.ended') === 1);
    expect([count(events, 'approval.answered'), count(events, 'tool.started')]).toEqual([1, 1]);
    expect(existsSync(join(disk.path, 'made.txt'))).toBe(true);
  });

  test("a copilot client's report is refused, its task waits, and continues when the report is repeated", async () => {
    using disk = mountDisk(16);
    await using server = await startProcess(disk.path);
    const login = { username: 'dev', password: 'dev-password' };
    const { access_token: token } = (await postJson(`${server.http}/v1/auth/login`, login)).body;
    const bearer = { authorization: `Bearer ${token}` };
    const page = { url: 'https://shop.example/', query: 'click Buy', dom: '<button id="1">Buy</button>' };
    const interact = (more: object) =>
      postJson(`${server.http}/api/agent/interact`, { ...page, ...more }, bearer);
    const begun = (await interact({})).body.data as { taskId: string; sessionId: string; action: string };
    expect(begun.action).toBe('click(1)');
    const { taskId, sessionId } = begun;
    const done = {
      taskId,
      sessionId,
      lastActionStatus: 'success',
      dom: '<h1>Bought</h1>',
      url: `${page.url}done`,
    };
    disk.fill();

    expect((await interact(done)).status).toBe(503);
    const active = await fetch(`${server.http}/api/session/${sessionId}/task/active`, { headers: bearer });
    expect(await active.json()).toMatchObject({ data: { taskId } });

    disk.free();
    const { status, body } = await interact(done);
    expect([status, (body.data as { status: string }).status]).toEqual([200, 'completed']);
  });

  test('a log-out is refused, the token stays valid, and ends with the next log-out', async () => {
    using disk = mountDisk(16);
    await using server = await startProcess(disk.path, { PARLANCE_AUTH: 'required' });
    const login = { username: 'dev', password: 'dev-password' };
    const { access_token: token } = (await postJson(`${server.http}/v1/auth/login`, login)).body;
    const headers = { authorization: `Bearer ${token}` };
    const logout = async () =>
      (await fetch(`${server.http}/v1/auth/logout`, { method: 'POST', headers })).status;
    const listed = async () => (await fetch(`${server.http}/v1/sessions`, { headers })).status;
    disk.fill();

    expect([await logout(), await listed()]).toEqual([503, 200]);
    disk.free();
    expect(await logout()).toBeLessThan(300);
    expect(await listed()).toBe(401);
  });
});
