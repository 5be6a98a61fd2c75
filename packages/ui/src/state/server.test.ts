import { afterAll, beforeEach, expect, test } from 'bun:test';
import { access, connectTo, parlance } from './server.ts';

const answers: ((response: Response) => void)[] = [];
const server = Bun.serve({
  port: 0,
  fetch: () => new Promise<Response>((resolve) => answers.push(resolve)),
});
afterAll(() => server.stop(true));
beforeEach(() => {
  answers.length = 0;
  connectTo(server.url.origin, 'old-token');
  access.set({ status: 'asking' });
});

const refusal = () =>
  Response.json({ error: { code: 'unauthenticated', message: 'The token was revoked.' } }, { status: 401 });
async function arrived(count: number): Promise<void> {
  while (answers.length < count) await Bun.sleep(1);
}

test('two requests that are refused because of one token show that it has ended', async () => {
  const requests = Promise.allSettled([parlance.server(), parlance.server()]);
  await arrived(2);
  for (const answer of answers) answer(refusal());
  await requests;
  expect(access.get()).toEqual({ status: 'out', expired: true });
});

test('a request without a token that is refused afterwards does not hide it', async () => {
  const first = Promise.allSettled([parlance.server()]);
  await arrived(1);
  answers[0]?.(refusal());
  await first;
  const second = Promise.allSettled([parlance.server()]);
  await arrived(2);
  answers[1]?.(refusal());
  await second;
  expect(access.get()).toEqual({ status: 'out', expired: true });
});

test('a late refusal of an earlier token does not end the new login', async () => {
  const late = Promise.allSettled([parlance.server()]);
  await arrived(1);
  parlance.token = 'new-token';
  answers[0]?.(refusal());
  await late;
  expect(access.get()).toEqual({ status: 'asking' });
  expect(parlance.token).toBe('new-token');
});
