/** Frames that a real server sends in response to the examples match the described schemas. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EXAMPLE_IDS, messageName } from '../dialects/kit/description.ts';
import type { AnyFrame } from '../testing/client.ts';
import { startTestServer, type TestServer } from '../testing/server.ts';
import { hasSocket } from './asyncapi.ts';
import { DESCRIPTIONS } from './descriptions.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(() => server.stop());

const spoken = DESCRIPTIONS.filter(hasSocket);

test.each(spoken.map((one) => [one.name, one] as const))('%s', async (_, { socket, messages }) => {
  const ids = { ...EXAMPLE_IDS, session: crypto.randomUUID() };
  const path = socket.connect(ids);
  const client = await server.connect(`${path}${path.includes('?') ? '&' : '?'}token=${token}`);
  const nameOf = (frame: AnyFrame) => messageName(socket, frame);
  const { greeting } = socket;
  const first = greeting?.send && messages.in[greeting.send]?.examples(ids)[0].frame;
  if (first) client.send(first);
  if (greeting) await client.next((frame) => nameOf(frame) === greeting.receive);
  for (const { examples } of Object.values(messages.in)) {
    for (const { frame, endedBy } of examples(ids)) {
      client.send(frame);
      if (endedBy) await client.next((next) => nameOf(next) === endedBy);
    }
  }
  const fence = `fence-${crypto.randomUUID()}`;
  client.send({ id: fence, [socket.nameField]: fence });
  await Promise.race([client.next((frame) => JSON.stringify(frame).includes(fence)), client.closed]);
  for (const frame of client.frames) {
    const schema = messages.out[nameOf(frame)]?.schema;
    expect([frame, schema?.safeParse(frame).error]).toEqual([frame, undefined]);
    expect(schema).toBeDefined();
  }
  expect(client.frames.length).toBeGreaterThanOrEqual(4);
});
