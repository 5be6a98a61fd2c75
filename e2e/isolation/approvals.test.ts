/** An answer applies only to the approval that was shown. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { approvalHash } from '../../packages/server/src/core/session/approvals.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { connected, type Person, request } from './private-data.ts';

let server: TestServer;
let dev: Person;
beforeAll(async () => {
  server = await startTestServer();
  dev = { name: 'dev', token: await server.login('dev', 'dev-password') };
});
afterAll(() => server.stop());

type Shown = {
  id: string;
  session: string;
  tool: string;
  input: object;
  ask: Parameters<typeof approvalHash>[2];
  hash: string;
};

async function waiting(session: string): Promise<Shown | undefined> {
  const { text } = await request(server, dev, { path: '/v1/approvals' });
  return (JSON.parse(text).approvals as Shown[]).find((one) => one.session === session);
}

async function askFor(session: string, command: string): Promise<Shown> {
  const chat = await connected(server, dev, '/broadcast');
  chat.send({ type: 'chat', message: `run ${command}`, session_id: session });
  await chat.next((frame) => String(frame.reasoning).startsWith('Waiting for approval: '));
  const shown = await waiting(session);
  if (!shown) throw new Error('no approval is pending');
  return shown;
}

const answer = (id: string, body: object) =>
  request(server, dev, { method: 'POST', path: `/v1/approvals/${id}`, body });
const command = (session: string, body: object) =>
  request(server, dev, { method: 'POST', path: `/v1/sessions/${session}/commands`, body });

test('the hash covers the tool, its input and the shown description', async () => {
  const { tool, input, ask, hash } = await askFor(crypto.randomUUID(), 'touch one.txt');
  expect(approvalHash(tool, input, ask)).toBe(hash);
  expect(approvalHash(tool, { ...input, workdir: 'x' }, ask)).not.toBe(hash);
  expect(approvalHash(tool, input, { ...ask, description: 'Harmless.' })).not.toBe(hash);
  expect(approvalHash('other', input, ask)).not.toBe(hash);
});

test('an answer with another hash is refused by every dialect, and the approval stays pending', async () => {
  const session = crypto.randomUUID();
  const [first, second] = [
    await askFor(crypto.randomUUID(), 'touch two.txt'),
    await askFor(session, 'touch three.txt'),
  ];
  for (const wrong of [first.hash, '', '0'.repeat(64), second.hash.toUpperCase()])
    for (const given of ['once', 'always', 'deny']) {
      expect((await answer(second.id, { answer: given, hash: wrong })).status).toBe(400);
      const sent = { type: 'approval.answer', answer: given, hash: wrong };
      expect((await command(session, sent)).status).toBe(400);
      expect((await command(session, { ...sent, approval: second.id })).status).toBe(400);
    }
  // The right hash with the id of another approval, and vice versa.
  expect((await answer(first.id, { answer: 'once', hash: second.hash })).status).toBe(400);
  expect(
    (await command(session, { type: 'approval.answer', answer: 'once', approval: first.id })).status,
  ).toBe(404);
  expect(await waiting(session)).toEqual(second);
  expect((await answer(second.id, { answer: 'once', hash: second.hash })).status).toBe(200);
  expect(await waiting(session)).toBeUndefined();
});

test('in conversations only the approval id selects the approval, and only for its owner', async () => {
  const [mine, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const [first, second] = [await askFor(mine, 'touch four.txt'), await askFor(other, 'touch five.txt')];
  const uma: Person = { name: 'uma', token: await server.login('uma', 'uma-password') };
  const stranger = await connected(server, uma, '/conversations');
  const client = await connected(server, dev, '/conversations');
  const approve = {
    type: 'approve_tool',
    conversationId: mine,
    requestId: second.id,
    payload: { approved: false },
  };
  stranger.send(approve);
  expect((await stranger.next('error')).payload).toMatchObject({ code: 'forbidden' });
  expect([await waiting(mine), await waiting(other)]).toEqual([first, second]);
  client.send(approve);
  expect((await client.next('error')).payload).toMatchObject({ code: 'rejected' });
  expect([await waiting(mine), await waiting(other)]).toEqual([first, undefined]);
});
