/** Servers and models for one test. */
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, dictatedModel, scriptedModel } from '../scripted-model.ts';
import { connect } from './client.ts';

const cleanups: (() => unknown)[] = [];

/** Runs after the test, in reverse order. */
export const later = (cleanup: () => unknown): void => void cleanups.push(cleanup);

/** After each test of a file: test files of one process share this module, so it cannot register a hook itself. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export async function serverOf(settings: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(settings);
  later(() => server.stop());
  return server;
}

/** A server with a model that gives these answers, one after another. */
export async function answering(...answers: Answer[]) {
  const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  later(model.stop);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  const server = await serverOf(settings);
  return { model, settings, server, client: await connect(server.http) };
}

/** A server with a model that the test dictates. */
export async function dictated() {
  const model = dictatedModel();
  later(model.stop);
  const server = await serverOf(model.settings);
  return { model, server, client: await connect(server.http) };
}
