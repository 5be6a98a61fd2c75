/** Listeners and storage. */
import { DIALECT_NAMES } from '../../dialects/index.ts';
import { doors, host, text, wholeNumber } from '../values.ts';
import type { Setting } from './setting.ts';

export const NETWORK = {
  host: {
    env: ['HOST'],
    flag: '--host',
    argument: 'HOST',
    fallback: '127.0.0.1',
    schema: host,
    description: 'the address to listen on; an address that is not loopback needs --auth required',
  },
  port: {
    env: ['PORT'],
    flag: '--port',
    argument: 'PORT',
    fallback: 3000,
    schema: () => wholeNumber(0, 65_535),
    description: 'port of the default listener; 0 for any free port',
  },
  doors: {
    env: ['PARLANCE_LISTEN', 'PARLANCE_DOORS'],
    flag: '--listen',
    formerFlag: '--door',
    argument: 'NAME=PORT',
    fallback: [],
    schema: doors,
    repeatable: true,
    description: `an extra listener for one dialect: ${DIALECT_NAMES.join(', ')}`,
  },
  data: {
    env: ['PARLANCE_DATA'],
    flag: '--data',
    argument: 'FOLDER',
    fallback: './.parlance',
    schema: text,
    description: 'folder of the embedded store',
  },
} as const satisfies Record<string, Setting>;
