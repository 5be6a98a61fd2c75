import { expect, test } from 'bun:test';
import { Hono } from 'hono';
import { loadConfig } from '../../config/config.ts';
import { QUIET } from '../../testing/pusher.ts';
import { ChannelBus } from '../kit/channel-bus.ts';
import { serveEndpoints } from '../kit/serve-endpoints.ts';
import { Settings, serve } from './dialect.ts';
import { rest as api, type PusherContext } from './routes.ts';

function opened(environment: Record<string, string>) {
  const channels = new ChannelBus();
  const settings = Settings.parse(loadConfig([], environment, import.meta.dir));
  const ctx = { settings, channels, log: QUIET } as unknown as Parameters<typeof serve>[0];
  return { channels, ...serve(ctx) };
}

test('channels are served here if no external server is configured', () => {
  const { open, about } = opened({});
  expect(open).toBeFunction();
  expect(about).toEqual({ channels: { key: 'app-key', host: null } });
});

test('events go to the configured external server, and closing waits for them', async () => {
  const names: string[] = [];
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      expect(new URL(request.url).pathname).toBe('/apps/app-id/events');
      names.push(((await request.json()) as { name: string }).name);
      return Response.json({});
    },
  });
  const { channels, about, close } = opened({
    SOCKUDO_HOST: '127.0.0.1',
    SOCKUDO_PORT: String(server.port),
  });
  expect(about).toEqual({ channels: { key: 'app-key', host: '127.0.0.1' } });
  channels.publish('private-session-1', 'new_message', {});
  await close?.();
  expect(names).toEqual(['new_message']);
  await server.stop(true);
});

test('with channels disabled no sockets are served, and authorisation is 503', async () => {
  const { open, rest, about } = opened({ PARLANCE_CHANNELS: 'off' });
  expect(open).toBeUndefined();
  expect(about).toEqual({ channels: null });
  const app = new Hono();
  serveEndpoints(app, api, rest as PusherContext);
  const answer = await app.request('/api/pusher/auth', { method: 'POST' });
  expect(answer.status).toBe(503);
  expect((await app.request('/apps/app-id/channels')).status).toBe(404);
});
