/** Sockets of any dialect, from its description. */
import type { AnyFrame, TestClient } from '../../packages/server/src/testing/client.ts';
import type { Ids } from './private-data.ts';
import { framesOf, type SocketDialect } from './probes.ts';

/** The id of the socket if the greeting has one; null if the client was refused. */
export async function awaitGreeting(
  client: TestClient,
  dialect: SocketDialect,
  ids: Ids,
): Promise<string | null> {
  const { greeting, nameField } = dialect.socket;
  if (!greeting) return 'none';
  const first = greeting.send && framesOf(dialect, greeting.send, ids)[0]?.frame;
  if (first) client.send(first);
  const frame = await client.next(
    (next) => next[nameField] === greeting.receive || next[nameField] === 'error',
  );
  if (frame[nameField] === 'error') return null;
  return typeof frame.data === 'string' ? String(JSON.parse(frame.data).socket_id) : 'none';
}

/** A frame with an unknown name, which the dialect quotes in its answer. */
export const unknownFrame = ({ socket }: SocketDialect, name: string): object => ({
  id: name,
  [socket.nameField]: name,
});

/** Resolves when everything sent before has been answered, or the socket is closed. */
export async function untilAnswered(client: TestClient, dialect: SocketDialect): Promise<void> {
  const name = `fence-${crypto.randomUUID()}`;
  client.send(unknownFrame(dialect, name));
  const answered = client.next((frame: AnyFrame) => JSON.stringify(frame).includes(name));
  await Promise.race([answered, client.closed]);
}
