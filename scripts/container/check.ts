/** Part of `npm run check`: lints the Dockerfile and compose.yaml without a container engine. */
import { join } from 'node:path';
import { composeProblems, dockerfileProblems } from './problems.ts';

const ROOT = join(import.meta.dir, '../..');
const read = (name: string) => Bun.file(join(ROOT, name)).text();

const problems = [
  ...dockerfileProblems(await read('Dockerfile'), ROOT, await read('.dockerignore')).map(
    (text) => `Dockerfile: ${text}`,
  ),
  ...composeProblems(await read('compose.yaml')).map((text) => `compose.yaml: ${text}`),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
