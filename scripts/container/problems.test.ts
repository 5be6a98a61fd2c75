import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { ignoreRules } from './context.ts';
import { composeProblems, dockerfileProblems } from './problems.ts';

const ROOT = join(import.meta.dir, '../..');
const read = (name: string) => Bun.file(join(ROOT, name)).text();
const [dockerfile, ignore, compose] = [
  await read('Dockerfile'),
  await read('.dockerignore'),
  await read('compose.yaml'),
];

test('the Dockerfile and compose.yaml have no problems', () => {
  expect(dockerfileProblems(dockerfile, ROOT, ignore)).toEqual([]);
  expect(composeProblems(compose)).toEqual([]);
});

test.each([
  ['USER 10001:10001', 'USER root', 'USER by number'],
  ['HEALTHCHECK', 'HEALTCHECK', 'Unknown instruction'],
  ['--from=build', '--from=nowhere', 'no stage nowhere'],
  ['debian:12-slim', 'debian:latest', 'has no version'],
  ['PARLANCE_AUTH=required', 'PARLANCE_AUTH=open', 'does not require tokens'],
  ['WORKING_DIRECTORY', 'WORKING_DIRECTOR', 'is not a setting'],
  ['COPY LICENSE', 'COPY README.md', 'README.md is copied'],
  ['VOLUME ["/data"', 'VOLUME ["/dat"', 'no volume'],
])('a Dockerfile with %s changed to %s is reported', (from, to, complaint) => {
  const changed = dockerfile.replace(from, to);
  expect(changed).not.toBe(dockerfile);
  expect(dockerfileProblems(changed, ROOT, ignore).join('\n')).toContain(complaint);
});

test.each([
  ['read_only: true', 'read_only: false', 'can be written'],
  ['- ALL', '- CHOWN', 'keeps capabilities'],
  ['no-new-privileges:true', 'seccomp=unconfined', 'can gain privileges'],
  ['"127.0.0.1:', '"', 'without TLS'],
  ['PARLANCE_TRUSTED_PROXIES:', 'PARLANCE_PROXIES:', 'is not a setting'],
  ['stop_grace_period', 'stop_grace', 'additional properties'],
  ['caddy:2.10-alpine', 'caddy', 'tag'],
])('a compose.yaml with %s changed to %s is reported', (from, to, complaint) => {
  const changed = compose.replace(from, to);
  expect(changed).not.toBe(compose);
  expect(composeProblems(changed).join('\n')).toContain(complaint);
});

test('secrets, data and installed packages are not part of the build context', () => {
  const ignored = ignoreRules(ignore);
  for (const path of [
    '.git/HEAD',
    '.parlance/secret',
    'parlance.json',
    'parlance.secrets.json',
    'packages/server/.env',
    'node_modules/bun/package.json',
    'packages/server/node_modules/x',
    'packages/cli/.parlance/facts.db',
  ])
    expect([path, ignored(path)]).toEqual([path, true]);
  for (const path of ['package.json', 'packages/server/src/main.ts', 'packages/cli/bin/parlance'])
    expect([path, ignored(path)]).toEqual([path, false]);
});
