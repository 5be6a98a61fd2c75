import { expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';

type Listed = { approvals: { id: string; session: string }[]; next: string | null };

async function call<Body>(server: TestServer, path: string, body?: object) {
  const method = body === undefined ? 'GET' : 'POST';
  const response = await fetch(server.http + path, { method, body: body && JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Body };
}

/** Submits a command that needs approval, and waits until the approval is pending. */
async function ask(server: TestServer, session: string): Promise<void> {
  const chat = await server.connect('/ws');
  chat.send({ type: 'chat', message: `run touch ${session}.txt`, session_id: session });
  await chat.next((frame) => String(frame.reasoning).startsWith('Waiting for approval: '));
  chat.close();
}

test('approvals are listed page by page, and an invalid page is refused', async () => {
  const server = await startTestServer();
  for (const session of ['one', 'two', 'three']) await ask(server, session);
  const first = await call<Listed>(server, '/v1/approvals?limit=2');
  expect(first.body.approvals.map(({ session }) => session)).toEqual(['three', 'two']);
  const rest = await call<Listed>(server, `/v1/approvals?limit=2&cursor=${first.body.next}`);
  expect(rest.body.approvals.map(({ session }) => session)).toEqual(['one']);
  expect(rest.body.next).toBeNull();
  const all = await call<Listed>(server, '/v1/approvals');
  expect([all.body.approvals.length, all.body.next]).toEqual([3, null]);
  for (const query of ['limit=0', 'limit=501', 'limit=many', 'cursor=nonsense'])
    expect((await call(server, `/v1/approvals?${query}`)).status).toBe(400);
  await server.stop();
});

test('after a restart a late answer gets its own error, and an unknown approval is not found', async () => {
  const first = await startTestServer();
  await ask(first, 'asks');
  const [asked] = (await call<Listed>(first, '/v1/approvals')).body.approvals;
  if (!asked) throw new Error('nothing waits');
  expect((await call(first, `/v1/approvals/${asked.id}`, { answer: 'deny' })).status).toBe(200);
  await first.running.stop();
  const second = await startTestServer({ PARLANCE_DATA: first.data });
  expect(await call(second, `/v1/approvals/${asked.id}`, { answer: 'once' })).toMatchObject({
    status: 409,
    body: { error: { code: 'no_approval' } },
  });
  expect(await call(second, '/v1/approvals/never', { answer: 'once' })).toMatchObject({
    status: 404,
    body: { error: { code: 'not_found' } },
  });
  await second.stop();
  await first.stop();
});
