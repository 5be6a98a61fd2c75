/** Sockets of any dialect, as the tables speak on them. */
import type { AnyFrame, TestClient } from '../../packages/server/src/testing/client.ts';
import type { Wire } from './messages.ts';

/** The id of the socket where the greeting has one; null where the client was turned away. */
export async function greeted(client: TestClient, { greeting }: Wire): Promise<string | null> {
  if (!greeting) return 'none';
  if (greeting.say) client.send(greeting.say);
  const frame = await client.next(
    (frame) => (frame.type ?? frame.event) === greeting.heard || frame.type === 'error',
  );
  if (frame.type === 'error') return null;
  return typeof frame.data === 'string' ? String(JSON.parse(frame.data).socket_id) : 'none';
}

/** Resolves when everything that was sent before has been answered, or the socket is closed. */
export async function fenced(client: TestClient, wire: Wire): Promise<void> {
  const name = `fence-${crypto.randomUUID()}`;
  client.send(wire.fence(name));
  const answered = client
    .next((frame: AnyFrame) => JSON.stringify(frame).includes(name))
    .catch(() => undefined);
  await Promise.race([answered, client.closed]);
}
