/**
 * Part of `npm run check`: validates the Kubernetes manifests of the guide against the API fields that they
 * use.
 */
import { join } from 'node:path';
import { Glob } from 'bun';
import { type ManifestFile, manifestProblems } from './problems.ts';

const ROOT = join(import.meta.dir, '../..');
const FOLDER = 'docs/guides/cluster';

const files: ManifestFile[] = [];
for (const name of new Glob('*.yaml').scanSync(join(ROOT, FOLDER))) {
  const path = join(FOLDER, name);
  files.push({ path, text: await Bun.file(join(ROOT, path)).text() });
}
const problems = files.length === 0 ? [`${FOLDER} has no manifests`] : manifestProblems(files);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
