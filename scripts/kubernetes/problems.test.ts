import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { manifestProblems } from './problems.ts';

const FOLDER = join(import.meta.dir, '../../docs/guides/cluster');
const names = ['parlance.yaml', 'autoscaling.yaml', 'valkey.yaml'];
const files = await Promise.all(
  names.map(async (path) => ({ path, text: await Bun.file(join(FOLDER, path)).text() })),
);

test('the manifests have no problems', () => expect(manifestProblems(files)).toEqual([]));

test.each([
  ['replicas: 3', 'replica: 3', 'Unrecognized key'],
  ['containerPort: 3000', 'containerPort: "3000"', 'expected'],
  ['apiVersion: policy/v1', 'apiVersion: policy/v1beta1', 'expected'],
  ['runAsNonRoot: true', 'runAsNonRoot: false', 'expected'],
  ['image: parlance:0.1.0', 'image: parlance:latest', 'needs a version'],
  ['memory: 512Mi', 'memory: 512MB', 'match pattern'],
  ['kind: PodDisruptionBudget', 'kind: PodDisruption', 'kind'],
  ['name: DATABASE_URL', 'name: DATABASE', 'DATABASE is not a setting'],
  ['- { name: tmp, mountPath: /tmp }', '', 'volume tmp is not mounted'],
  ['claimName: parlance-workspace', 'claimName: elsewhere', 'no claim elsewhere'],
  ['targetPort: http }', 'targetPort: https }', 'no port https'],
  ['path: /health, port: http', 'path: /health, port: web', 'no port web'],
  ['name: parlance_turns_running', 'name: parlance_turns', 'not a gauge'],
  ['kind: Deployment, name: parlance', 'kind: Deployment, name: server', 'no server'],
])('manifests with %s changed to %s are reported', (from, to, complaint) => {
  const changed = files.map(({ path, text }) => ({ path, text: text.replace(from, to) }));
  expect(changed).not.toEqual(files);
  expect(manifestProblems(changed).join('\n')).toContain(complaint);
});
