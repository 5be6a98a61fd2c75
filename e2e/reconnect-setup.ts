/** A server with a dictated model and an observer per session, for tests of reconnecting clients. */
import type { TestClient } from '../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { EventReader } from './event-reader.ts';
import { type DictatedModel, dictatedModel } from './scripted-model.ts';
import { postJson } from './server-process.ts';

export const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `w${from + index} `).join('');

/** Terminates without a closing handshake. */
export const cut = (client: TestClient): void => client.socket.terminate();

export const ended = ({ events }: EventReader): boolean => events.at(-1)?.type === 'turn.ended';

export type ReconnectSetup = {
  readonly model: DictatedModel;
  readonly server: TestServer;
  readonly token: string;
  readonly bearer: { readonly authorization: string };
  /** Creates the session and follows it without interruption. */
  observerOf(session: string): Promise<EventReader>;
  /** The model streams the text; resolves when the witness has received it. */
  says(observer: EventReader, text: string): Promise<void>;
  stop(): Promise<void>;
};

export async function setUpReconnect(): Promise<ReconnectSetup> {
  const model = dictatedModel();
  const server = await startTestServer(model.settings);
  const token = await server.login('dev', 'dev-password');
  const bearer = { authorization: `Bearer ${token}` };
  return {
    model,
    server,
    token,
    bearer,
    async observerOf(session) {
      const command = { type: 'session.create' };
      await postJson(`${server.http}/v1/sessions/${session}/commands`, command, bearer);
      const observer = new EventReader(session, undefined, bearer);
      await observer.follow(server);
      return observer;
    },
    async says(observer, text) {
      const before = observer.latest;
      model.say(text);
      await observer.until(({ latest }) => latest === before + text || latest === text);
    },
    async stop() {
      await server.stop();
      model.stop();
    },
  };
}
