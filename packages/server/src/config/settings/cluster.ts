/** Several nodes: the database they share and the bus between them. */
import { oneOf, serverUrl, text, wholeNumber } from '../values.ts';
import type { Setting } from './setting.ts';

export const CLUSTER = {
  database: {
    env: ['DATABASE_URL'],
    flag: '--database',
    argument: 'URL',
    fallback: undefined,
    fallbackText: 'the embedded store',
    schema: () => serverUrl(['postgres', 'postgresql']),
    secret: true,
    description: 'a postgres:// URL: sessions and users are kept there instead of in the data folder',
  },
  databaseDirect: {
    env: ['DATABASE_DIRECT_URL'],
    flag: null,
    argument: '',
    fallback: undefined,
    fallbackText: 'DATABASE_URL',
    schema: () => serverUrl(['postgres', 'postgresql']),
    secret: true,
    description:
      'the same database without a pooler in between, for heartbeats, migrations and notifications',
  },
  databasePool: {
    env: ['PARLANCE_DATABASE_POOL'],
    flag: null,
    argument: '',
    fallback: 8,
    schema: () => wholeNumber(1, 100),
    description: 'connections of this node to the database, besides two for heartbeats and notifications',
  },
  redis: {
    env: ['REDIS_URL'],
    flag: '--redis',
    argument: 'URL',
    fallback: undefined,
    fallbackText: 'none',
    schema: () => serverUrl(['redis', 'rediss']),
    secret: true,
    description:
      'a redis:// or rediss:// URL of Valkey or Redis: carries text between nodes as it is written; needs --database',
  },
  lease: {
    env: ['PARLANCE_LEASE'],
    flag: null,
    argument: '',
    fallback: 1_500,
    schema: () => wholeNumber(1_000, 60_000),
    description:
      'several nodes: after this many milliseconds without a heartbeat others take over the turns of a node',
  },
  home: {
    env: ['PARLANCE_HOME'],
    flag: null,
    argument: '',
    fallback: undefined,
    fallbackText: 'none',
    schema: text,
    description:
      'several nodes: a label; sessions that began on a node with this label run only on such nodes',
  },
  folder: {
    env: ['PARLANCE_FOLDER'],
    flag: null,
    argument: '',
    fallback: 'shared',
    schema: () => oneOf(['shared', 'own']),
    description:
      'several nodes: `shared` refuses to start if the working directory is not that of the others, `own` does not look',
  },
} as const satisfies Record<string, Setting>;
