/**
 * The import rule of the server: core ← http ← dialects; core/ports ← providers | tools | stores | buses | auth | telemetry;
 * all of them ← compose and main. The core is imported through `core/api/index.ts` and `core/ports` only; inside it, ports ←
 * domain ← runtime ← api. No file is part of an import cycle, and no folder of the core or of the dialects is. A dialect
 * imports no other dialect. `lib/` imports nothing, and all may import it. `describe/` imports descriptions of dialects. The
 * packages below the server are protocol ← copilot ← offline; the SDK and the console stay independent of the server, and
 * `packages/ui` is what console, extension and terminal share. Tests
 * and `testing/` may import anything; only tests import `testing/`.
 */
import { dirname, join, relative } from 'node:path';
import { Glob } from 'bun';
import { cyclesIn, grouped } from './import-cycles.ts';

const ROOT = join(import.meta.dir, '..');
const SERVER = 'packages/server/src';
const SDK = 'packages/sdk/';
/** what console and extension share, and the two of them */
const PAGES = ['packages/ui/', 'packages/web/', 'packages/extension/'];
/** Modules of the protocol without zod: browsers load their code, and use only the types of the others. */
const PLAIN_PROTOCOL = ['patch', 'server-sent-events', 'session-summary', 'title'].map(
  (name) => `@parlance/protocol/${name}`,
);
/** Modules of the protocol whose types the SDK uses. */
const PROTOCOL = ['@parlance/protocol', '@parlance/protocol/api', ...PLAIN_PROTOCOL];
/** The part of the SDK that imports React. */
const SDK_REACT = 'packages/sdk/src/react/';
/** The part of the SDK that provides zod to tools inside the server. */
const SDK_TOOLS = 'packages/sdk/src/tools.ts';
/** imports of the packages below the server */
const PACKAGE_SEES = new Map([
  ['protocol', ['zod']],
  ['copilot', PROTOCOL],
  ['offline', [...PROTOCOL, '@parlance/copilot']],
]);
/** folders of the server that import these packages; all others import only the protocol */
const SEEN_BY = new Map([
  ['@parlance/copilot', ['dialects', 'tools', 'root']],
  ['@parlance/offline', ['providers']],
  ['@parlance/sdk/tools', ['tools']],
]);
/** names of dialects, MCP servers and paths */
const CONFIG_SEES = ['dialects/index.ts', 'tools/mcp/servers.ts', 'tools/paths.ts'];
const ROOMS = [
  'core',
  'dialects',
  'providers',
  'wires',
  'tools',
  'stores',
  'buses',
  'http',
  'auth',
  'telemetry',
  'describe',
  'lib',
];

/**
 * The top-level folder of a server file, `root` for files outside of them; null for files of other packages.
 */
function roomOf(path: string): string | null {
  const inside = relative(SERVER, path);
  if (inside.startsWith('..')) return null;
  const [first = ''] = inside.split('/');
  return ROOMS.includes(first) || first === 'testing' || first === 'config' ? first : 'root';
}

const CORE = join(SERVER, 'core/');
const CORE_API = join(CORE, 'api/index.ts');
const CORE_LAYERS = ['ports', 'domain', 'runtime', 'api'];

/** The folder of a file below `base`; null for files elsewhere or without a folder. */
function folderIn(base: string, path: string): string | null {
  const [folder = '', ...rest] = relative(base, path).split('/');
  return folder === '..' || rest.length === 0 ? null : folder;
}

const DIALECTS = join(SERVER, 'dialects/');

/** A dialect imports its own folder and `shared/`; the files next to the folders list the dialects. */
function isOwnOrShared(from: string, to: string): boolean {
  const [own, other] = [folderIn(DIALECTS, from), folderIn(DIALECTS, to)];
  return own === null || other === own || other === 'shared';
}

/** Loaded only for several nodes: imported dynamically, or by each other. */
const LOADED_ON_DEMAND = ['compose/shared-storage.ts', 'stores/postgres/', 'buses/valkey/'].map((path) =>
  join(SERVER, path),
);

const isOnDemand = (path: string): boolean => LOADED_ON_DEMAND.some((start) => path.startsWith(start));

/** External imports of the parts of the SDK. */
const isAddition = (path: string, imported: string): boolean =>
  (path.startsWith(SDK_REACT) && imported === 'react') || (path === SDK_TOOLS && imported === 'zod');

const isPort = (path: string): boolean => folderIn(CORE, path) === 'ports';

const isLowerLayer = (from: string, to: string): boolean =>
  CORE_LAYERS.indexOf(folderIn(CORE, to) ?? '') <= CORE_LAYERS.indexOf(folderIn(CORE, from) ?? '');

function allowed(from: string, to: string): boolean {
  if (to === 'packages/server/package.json') return from.startsWith(SERVER); // the version
  const [room, target] = [roomOf(from), roomOf(to)];
  if (from.startsWith(SDK)) return to.startsWith(SDK);
  const pages = PAGES.find((path) => from.startsWith(path));
  if (pages !== undefined) return to.startsWith(pages);
  if (room === null)
    return target === null || from.startsWith('packages/cli/') || from.startsWith('scripts/');
  if (target === null) return to.startsWith('packages/protocol/');
  if (target === 'lib') return true;
  if (room === 'lib') return false;
  if (room === 'core') return target === 'core' && isLowerLayer(from, to);
  if (room === 'dialects' && target === 'dialects') return isOwnOrShared(from, to);
  if (room === target) return true;
  if (target === 'core' && room !== 'testing' && to !== CORE_API && !isPort(to)) return false;
  switch (room) {
    case 'root':
      return target !== 'testing';
    case 'testing':
      return true;
    case 'config':
      return CONFIG_SEES.some((path) => to === join(SERVER, path));
    case 'dialects':
      return to === CORE_API || target === 'http';
    case 'providers':
      return isPort(to) || target === 'wires';
    case 'describe':
      return to === join(SERVER, 'dialects/index.ts') || to.startsWith(join(SERVER, 'dialects/shared/'));
    case 'auth':
    case 'telemetry':
      return isPort(to) || target === 'http';
    case 'http':
      return target === 'core';
    default:
      return isPort(to);
  }
}

const problems: string[] = [];
let looked = 0;
const imports = new Map<string, Set<string>>();
for (const path of [...sources('packages/*/src/**/*.{ts,tsx}'), ...sources('scripts/*.ts')]) {
  if (path.includes('.test.') || isTestSupport(path)) continue;
  looked++;
  const source = await Bun.file(join(ROOT, path)).text();
  for (const { path: imported, kind } of new Bun.Transpiler({
    loader: path.endsWith('x') ? 'tsx' : 'ts',
  }).scanImports(source)) {
    check(path, imported);
    if (kind !== 'dynamic-import' && isOnDemand(join(dirname(path), imported)) && !isOnDemand(path))
      problems.push(`${path} imports ${imported}: it is loaded on demand, with import()`);
    if (
      path.startsWith(SDK) &&
      !imported.startsWith('.') &&
      !PLAIN_PROTOCOL.includes(imported) &&
      !isAddition(path, imported)
    )
      problems.push(`${path} imports ${imported}: the SDK has no code but its own`);
    if (isPlain(path) && !isPlain(join(dirname(path), imported)))
      problems.push(`${path} imports ${imported}: browsers load this module, so it has no code of others`);
    if (
      /^packages\/(ui|web)\//.test(path) &&
      /^@parlance\/(?!sdk$|ui\/)/.test(imported) &&
      !PLAIN_PROTOCOL.includes(imported)
    )
      problems.push(`${path} imports ${imported}: the console has the SDK, and of the protocol its types`);
  }
  // The transpiler drops type-only imports, but the rule applies to them as well.
  for (const [, imported = ''] of source.matchAll(/^(?:import|export) type [^;]*? from '([^']+)'/gm)) {
    check(path, imported);
  }
  const targets = [...source.matchAll(/^(?:import|export)\b[^;]*? from '(\.[^']+)'/gm)];
  imports.set(path, new Set(targets.map(([, imported = '']) => join(dirname(path), imported))));
}

const CYCLE_FREE_FOLDERS = ['core', 'dialects'];

const folderCycles = CYCLE_FREE_FOLDERS.flatMap((base) =>
  cyclesIn(
    grouped(imports, (path) => {
      const folder = folderIn(join(SERVER, base), path);
      return folder === null ? null : `${base}/${folder}`;
    }),
  ),
);
for (const members of [...cyclesIn(imports), ...folderCycles])
  problems.push(`import cycle: ${members.join(', ')}`);

function sources(pattern: string): Iterable<string> {
  return new Glob(pattern).scanSync(ROOT);
}

function isPlain(path: string): boolean {
  return PLAIN_PROTOCOL.includes(
    path.replace(/^packages\/protocol\/src\/([\w-]+)\.ts$/, '@parlance/protocol/$1'),
  );
}

/** Files imported only by tests: like tests, they may import anything. */
function isTestSupport(path: string): boolean {
  return /\/testing\//.test(path);
}

function check(path: string, imported: string): void {
  const [, name = ''] = path.split('/');
  const known = path.startsWith('packages/') ? PACKAGE_SEES.get(name) : undefined;
  if (known && !imported.startsWith('.') && !known.includes(imported))
    problems.push(`${path} imports ${imported}: ${name} knows ${known.join(' and ')} alone`);
  const rooms = SEEN_BY.get(imported);
  const room = roomOf(path);
  if (rooms && room !== null && !rooms.includes(room))
    problems.push(`${path} imports ${imported}: only ${rooms.join(' and ')} may`);
  if (
    path.startsWith(SDK) &&
    !PROTOCOL.includes(imported) &&
    !isAddition(path, imported) &&
    !imported.startsWith('.')
  ) {
    problems.push(`${path} imports ${imported}: the SDK knows the protocol alone`);
  }
  if (!imported.startsWith('.')) return;
  const target = join(dirname(path), imported);
  if (known ? !target.startsWith(`packages/${name}/`) : !allowed(path, target))
    problems.push(`${path} imports ${target}`);
}

const unique = [...new Set(problems)].sort();
for (const problem of unique) console.error(problem);
if (looked < 100) console.error(`only ${looked} files were checked: the pattern is wrong`);
if (unique.length > 0 || looked < 100) process.exit(1);
