/**
 * `bun scripts/packages/build.ts sdk|protocol`: builds a library into its `dist`, as modules with type
 * declarations that need no other file of the repository. The SDK contains the declarations of the protocol,
 * so it can be installed alone.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const PACKAGES = join(import.meta.dir, '../../packages');
const TSC = join(PACKAGES, '../node_modules/.bin/tsc');

/** The modules that users import. */
const ENTRIES = {
  protocol: ['index.ts', 'api.ts', 'server-sent-events.ts'],
  sdk: ['index.ts', 'tools.ts', 'react.ts'],
} as const;
export type Library = keyof typeof ENTRIES;

export const isLibrary = (name: string | undefined): name is Library =>
  name !== undefined && Object.hasOwn(ENTRIES, name);

/** Replaces `dist`. */
export async function buildLibrary(name: Library, dist = join(PACKAGES, name, 'dist')): Promise<void> {
  const folder = mkdtempSync(join(dirname(dist), '.dist-'));
  try {
    const entrypoints = ENTRIES[name].map((entry) => join(PACKAGES, name, 'src', entry));
    await Bun.build({
      entrypoints,
      outdir: folder,
      target: 'browser',
      format: 'esm',
      splitting: true,
      external: ['zod', 'react'],
      naming: { entry: '[name].js', chunk: 'shared-[hash].js' },
    });
    declare(name, folder);
    put(folder, dist);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Another build may run at the same time: the last one wins. */
function put(folder: string, dist: string): void {
  for (let attempts = 0; ; attempts++) {
    rmSync(dist, { recursive: true, force: true });
    try {
      renameSync(folder, dist);
      return;
    } catch (thrown) {
      if (attempts >= 10) throw thrown;
    }
  }
}

/** Writes the type declarations of a library into the folder. */
function declare(name: Library, folder: string): void {
  const emitted = mkdtempSync(join(tmpdir(), 'parlance-types-'));
  try {
    const config = join(emitted, 'tsconfig.json');
    writeFileSync(config, JSON.stringify(configFor(name, emitted)));
    const { exitCode, stdout } = Bun.spawnSync([TSC, '-p', config]);
    if (exitCode !== 0) throw new Error(`failed to build the types of ${name}:\n${stdout}`);
    const protocol = name === 'sdk' ? join(folder, 'protocol') : folder;
    place(join(emitted, 'protocol/src'), protocol, protocol);
    if (name === 'sdk') place(join(emitted, 'sdk/src'), folder, protocol);
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

/** Without Bun's types, since a library runs in browsers. */
const configFor = (name: Library, outDir: string) => ({
  extends: join(PACKAGES, '../tsconfig.json'),
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: PACKAGES,
    outDir,
    types: [],
    typeRoots: [join(PACKAGES, '../node_modules/@types')],
    lib: ['ESNext', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
  },
  files: ENTRIES[name].map((entry) => join(PACKAGES, name, 'src', entry)),
  include: [],
});

/** Copies declarations with imports that resolve in the package: relative, and to the built files. */
function place(from: string, to: string, protocol: string): void {
  for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.d.ts')) continue;
    const target = join(to, path);
    const up = relative(dirname(target), protocol) || '.';
    const relativeProtocol = up.startsWith('.') ? up : `./${up}`;
    const text = readFileSync(join(from, path), 'utf8')
      .replace(/(['"])@parlance\/protocol\1/g, `'${relativeProtocol}/index.js'`)
      .replace(/(['"])@parlance\/protocol\/([\w-]+)\1/g, `'${relativeProtocol}/$2.js'`)
      // The compiler names a type of the protocol by the entry of the SDK that exports it.
      .replace(/(['"])@parlance\/sdk\/([\w-]+)\1/g, `'${relativeProtocol}/../$2.js'`)
      .replace(/(['"])(\.{1,2}\/[\w./-]+)\.ts\1/g, "'$2.js'");
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

if (import.meta.main) {
  const [name] = process.argv.slice(2);
  if (!isLibrary(name)) throw new Error(`name one of ${Object.keys(ENTRIES).join(', ')}`);
  await buildLibrary(name);
}
