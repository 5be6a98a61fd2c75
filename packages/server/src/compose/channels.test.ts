import { expect, test } from 'bun:test';
import { loadConfig } from '../config/config.ts';
import { QUIET } from '../testing/pusher.ts';
import { openChannels } from './channels.ts';

const ignore = () => undefined;

const opened = (environment: Record<string, string>) =>
  openChannels(loadConfig([], environment, import.meta.dir), QUIET);

test('events go to our own sockets where no other server is named', async () => {
  const { push, close } = opened({});
  expect(push.external).toBe(false);
  await close();
});

test('events go to the external server that is named, and closing waits for them', async () => {
  const names: string[] = [];
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      expect(new URL(request.url).pathname).toBe('/apps/app-id/events');
      names.push(((await request.json()) as { name: string }).name);
      return Response.json({});
    },
  });
  const { push, close } = opened({ SOCKUDO_HOST: '127.0.0.1', SOCKUDO_PORT: String(server.port) });
  expect(push.external).toBe(true);
  push.publish('private-session-1', 'new_message', {});
  await close();
  expect(names).toEqual(['new_message']);
  await server.stop(true);
});

test('where channels are off, publishing does nothing', async () => {
  const { push, accept, close } = opened({ PARLANCE_CHANNELS: 'off' });
  push.publish('a', 'said', {});
  push.watch({ occupied: ignore, vacated: ignore })();
  expect(accept(new URL('http://127.0.0.1/app/app-key?protocol=7'))).toBeNull();
  await close();
});
