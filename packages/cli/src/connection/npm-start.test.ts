import { expect, test } from 'bun:test';
import { asTyped, flagTakenByNpm } from './npm-start.ts';

const npm = { npm_lifecycle_event: 'start', npm_config_user_agent: 'npm', npm_config_cache: '/tmp' };

test('a flag that npm took for its own is found', () => {
  expect(flagTakenByNpm({ ...npm, npm_config_port: '4000' })).toBe('--port');
  expect(flagTakenByNpm({ ...npm, npm_config_log_level: 'true' })).toBe('--log-level');
  expect(flagTakenByNpm(npm)).toBeNull();
  expect(flagTakenByNpm({ npm_config_port: '4000' })).toBeNull();
});

test('flags are named as they have to be typed', () => {
  const message = 'port 3000 is in use: choose another with --port PORT';
  expect(asTyped(message, npm)).toBe('port 3000 is in use: choose another with npm start -- --port PORT');
  expect(asTyped(message, {})).toBe(message);
});
