/**
 * Part of `npm run check`: lints the Dockerfile and compose.yaml without a container engine. `--pinned` also requires
 * a digest of every base image.
 */
import { join } from 'node:path';
import { IMAGE_FILES, imageProblems, imagesIn } from './images.ts';
import { composeProblems, dockerfileProblems } from './problems.ts';

const ROOT = join(import.meta.dir, '../..');
const read = (name: string) => Bun.file(join(ROOT, name)).text();

const images = (await Promise.all(IMAGE_FILES.map(read))).flatMap(imagesIn);
const problems = [
  ...imageProblems(images, { isStrict: process.argv.includes('--pinned') }),
  ...dockerfileProblems(await read('Dockerfile'), ROOT, await read('.dockerignore')).map(
    (text) => `Dockerfile: ${text}`,
  ),
  ...composeProblems(await read('compose.yaml')).map((text) => `compose.yaml: ${text}`),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
