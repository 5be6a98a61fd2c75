/**
 * `npm run images:pin`: writes the digests that the tags of the base images have now into the files that name them.
 * Needs Docker with buildx, and the registries. Review the change as an update of a dependency.
 */
import { join } from 'node:path';
import { IMAGE_FILES, imagesIn, isDigest, pinned } from './images.ts';

const ROOT = join(import.meta.dir, '../..');

/** The digest of the index of all platforms, so that the same line works on each of them. */
async function digestOf(name: string): Promise<string> {
  const format = '{{.Manifest.Digest}}';
  const child = Bun.spawn(['docker', 'buildx', 'imagetools', 'inspect', '--format', format, name], {
    stderr: 'inherit',
  });
  const digest = (await child.stdout.text()).trim();
  if ((await child.exited) === 0 && isDigest(digest)) return digest;
  throw new Error(`the registry gave no digest for ${name}`);
}

const files = await Promise.all(
  IMAGE_FILES.map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })),
);
const names = new Set(files.flatMap(({ text }) => imagesIn(text).map(({ name }) => name)));
const digests = new Map<string, string>();
for (const name of names) digests.set(name, await digestOf(name));
for (const { path, text } of files) await Bun.write(join(ROOT, path), pinned(text, digests));
for (const [name, digest] of digests) console.log(`${name}@${digest}`);
