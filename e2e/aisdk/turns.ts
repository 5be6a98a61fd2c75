/** Servers with models that a test controls, and the final content of a chat. */
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type Answer, type DictatedModel, dictatedModel, scriptedModel } from '../scripted-model.ts';
import { type Chat, textOf } from './client.ts';

const cleanups: (() => unknown)[] = [];

/** Runs after the test. */
export const cleanUp = (work: () => unknown) => void cleanups.push(work);

/** For `afterEach`. */
export async function cleanedUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export async function serverOf(settings: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(settings);
  cleanUp(() => server.stop());
  return server;
}

export async function dictated(): Promise<{ readonly model: DictatedModel; readonly server: TestServer }> {
  const model = dictatedModel();
  cleanUp(model.stop);
  return { model, server: await serverOf(model.settings) };
}

/** A server with a model that gives these answers, one after another. */
export async function answering(...answers: Answer[]) {
  const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanUp(model.stop);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  return { model, settings, server: await serverOf(settings) };
}

export const shows = (chat: Chat, text: string) => until(() => textOf(chat.lastMessage) === text);

export const stop = (http: string, id: string) => fetch(`${http}/api/chat/${id}/stop`, { method: 'POST' });
export const resume = (http: string, id: string) => fetch(`${http}/api/chat/${id}/stream`);
