/** Pusher channels. */
import { flag, host, text, wholeNumber } from '../values.ts';
import type { Setting } from './setting.ts';

const application = <Fallback>(env: string, fallback: Fallback, description: string) => ({
  env: [env],
  flag: null,
  argument: '',
  fallback,
  schema: text,
  description,
});

export const CHANNELS = {
  channels: {
    env: ['PARLANCE_CHANNELS'],
    flag: '--channels',
    argument: 'on|off',
    fallback: true,
    fallbackText: 'on',
    schema: flag,
    description: 'whether Pusher channels are served at /app/{key}',
  },
  channelsAppId: application('SOCKUDO_APP_ID', 'app-id', 'the id of the Pusher application'),
  channelsKey: application('SOCKUDO_APP_KEY', 'app-key', 'the key with which clients name that application'),
  channelsSecret: {
    ...application('SOCKUDO_APP_SECRET', 'app-secret', 'the secret that signs for that application'),
    secret: true,
  },
  channelsHost: {
    ...application(
      'SOCKUDO_HOST',
      undefined,
      'an external Pusher or Sockudo server on which events are triggered instead',
    ),
    schema: host,
  },
  channelsPort: {
    ...application('SOCKUDO_PORT', undefined, 'the port of that server'),
    fallbackText: '443 with TLS, else 6001',
    schema: () => wholeNumber(1, 65_535),
  },
  channelsUseTls: {
    ...application('SOCKUDO_USE_TLS', false, 'whether that server uses TLS'),
    schema: flag,
  },
} as const satisfies Record<string, Setting>;
