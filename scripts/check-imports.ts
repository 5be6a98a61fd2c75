/**
 * Checks the imports of all packages, of values and of types, and the globals of what the simulation runs. ARCHITECTURE.md has
 * the rules in words; tests and `testing/` may import anything, and only they import `testing/`.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { cyclesIn } from './import-cycles.ts';

const ROOT = join(import.meta.dir, '..');

const SERVER = ['protocol', 'server/lib'];
const PORTS = [...SERVER, 'server/core/ports'];
const API = [...PORTS, 'server/core/index.ts'];

/**
 * What the files of a layer import besides their own layer: layers above their own line, or files of them. A layer is a
 * package or a folder of the server; the longest name that fits counts.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  copilot: ['protocol'],
  offline: ['protocol', 'copilot'],
  sdk: ['protocol'],
  ui: ['protocol', 'sdk'],
  web: ['protocol', 'sdk', 'ui'],
  extension: ['protocol', 'copilot', 'sdk', 'ui'],
  'server/lib': ['protocol'],
  'server/core/ports': SERVER,
  'server/core/session': PORTS,
  'server/cluster/transport.ts': PORTS,
  'server/core/engine': [...PORTS, 'server/core/session', 'server/cluster/transport.ts'],
  'server/core': [...PORTS, 'server/core/session', 'server/core/engine'],
  'server/cluster': [...PORTS, 'server/core/session', 'server/core/engine', 'server/cluster/transport.ts'],
  'server/accounts/store.ts': SERVER,
  'server/http': [...API, 'server/accounts/store.ts'],
  'server/providers': [...PORTS, 'offline'],
  'server/tools': [
    ...PORTS,
    'server/accounts/store.ts',
    'server/cluster/transport.ts',
    'copilot',
    'sdk/tools',
  ],
  'server/stores': [...PORTS, 'server/accounts/store.ts'],
  'server/accounts': [...PORTS, 'server/accounts/store.ts', 'server/http'],
  'server/telemetry': [...PORTS, 'server/http'],
  'server/dialects': [
    ...SERVER,
    'server/core/index.ts',
    'server/cluster/transport.ts',
    'server/accounts/store.ts',
    'server/http',
    'copilot',
    'sdk',
  ],
  'server/describe': [...SERVER, 'server/dialects/index.ts', 'server/dialects/kit'],
  'server/config': [
    ...SERVER,
    'server/dialects/names.ts',
    'server/providers/catalogue.ts',
    'server/providers/vendors.ts',
    'server/tools/mcp/servers.ts',
    'server/tools/paths.ts',
  ],
  server: [
    ...API,
    'copilot',
    ...[
      'http',
      'providers',
      'tools',
      'stores',
      'cluster',
      'accounts',
      'telemetry',
      'dialects',
      'describe',
      'config',
    ].map((folder) => `server/${folder}`),
  ],
  cli: ['protocol', 'sdk', 'ui', 'server'],
};

/** Folders of the server whose subfolders are independent, but for what they share. */
const INDEPENDENT: Readonly<Record<string, string>> = { 'server/dialects': 'kit' };

/** npm packages and built-in modules of parts that are restricted to these. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  protocol: ['zod', 'eventsource-parser'],
  copilot: [],
  offline: [],
  sdk: [],
  'sdk/react': ['react'],
  'sdk/tools.ts': ['zod'],
};

/** These import only types of the protocol, so that browsers load no schema; the modules without zod are free. */
const TYPES_OF_PROTOCOL = ['sdk', 'ui', 'web'];
const WITHOUT_ZOD = [
  'instructions',
  'json-text',
  'patch',
  'question-text',
  'server-sent-events',
  'session-summary',
  'spending',
  'title',
  'visible',
].map((name) => `protocol/${name}`);

const isWithoutZod = (name: string): boolean => WITHOUT_ZOD.includes(name.replace(/\.ts$/, ''));

/** Loaded only for several nodes: imported dynamically, or by each other. */
const ON_DEMAND = ['server/compose/shared-storage.ts', 'server/stores/postgres', 'server/cluster/valkey'];

/** One seed is one execution in `simulation/`: these take time, timers and randomness from their caller. */
const SIMULATED = ['server/core', 'server/cluster', 'server/dialects'];
/** Adapters of real services, the sockets and requests of dialects, and examples for clients: the simulation does not run them. */
const REAL = [
  'server/cluster/valkey',
  ...[
    'a2a/contract.ts',
    'a2a/tasks.ts',
    'acp/client.ts',
    'agui/contract.ts',
    'aisdk/contract.ts',
    'conversations/detached-streams.ts',
    'conversations/resume.ts',
    'kit/vendor-requests.ts',
    'mcp/clients.ts',
    'mcp/follow-turn.ts',
    'mcp/custom.ts',
    'native/transcript/html.ts',
    'openai/responses/socket.ts',
    'pusher/other-nodes.ts',
    'pusher/server.ts',
    'pusher/trigger.ts',
  ].map((file) => `server/dialects/${file}`),
];
const NOT_SIMULATED =
  /\b(Date\.now|performance\.now|Math\.random|Bun\.sleep|AbortSignal\.timeout|crypto\.(subtle|randomUUID|getRandomValues)|process\.nextTick)\b|new Date\(\)|(?<![.\w])(setTimeout|setInterval|setImmediate|randomUUID)\(/;

const isIn = (name: string, part: string): boolean => name === part || name.startsWith(`${part}/`);

/** The longest of the names that contains a file. */
const within = (name: string, parts: readonly string[]): string | undefined =>
  parts.filter((part) => isIn(name, part)).sort((a, b) => b.length - a.length)[0];

/** `packages/server/src/http/a.ts` → `server/http/a.ts` */
const nameOf = (path: string): string => path.replace(/^packages\/([\w-]+)\/(src\/)?/, '$1/');

type Import = { readonly target: string; readonly kind: 'static' | 'type' | 'dynamic' };

function importsOf(source: string): Import[] {
  const statements = source.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm);
  const calls = source.matchAll(/\bimport\('([^']+)'\)/g);
  return [
    ...[...statements].map(([, type, target = '']): Import => ({ target, kind: type ? 'type' : 'static' })),
    ...[...calls].map(([, target = '']): Import => ({ target, kind: 'dynamic' })),
  ];
}

/** Why a file must not import another one, or null. */
function problemOf(from: string, to: string, kind: Import['kind']): string | null {
  if (to.endsWith('package.json')) return null; // the version
  if (/(^|\/)testing\//.test(to)) return 'only tests import testing/';
  const [layer = '', target = ''] = [from, to].map((name) => within(name, Object.keys(LAYERS)));
  if (layer !== target && !LAYERS[layer]?.some((part) => isIn(to, part)))
    return `${layer} imports only ${LAYERS[layer]?.join(', ')}`;
  const shared = INDEPENDENT[layer];
  if (shared !== undefined && layer === target) {
    const [own, other] = [from, to].map(
      (name) =>
        name
          .slice(layer.length + 1)
          .split('/')
          .slice(0, -1)[0],
    );
    if (own !== undefined && other !== own && other !== shared)
      return `folders of ${layer} import only ${shared}/`;
  }
  if (
    kind === 'static' &&
    ON_DEMAND.some((part) => isIn(to, part)) &&
    !ON_DEMAND.some((part) => isIn(from, part))
  )
    return 'it is loaded on demand, with import()';
  if (kind !== 'type' && target === 'protocol' && !isWithoutZod(to)) {
    if (TYPES_OF_PROTOCOL.includes(layer)) return `${layer} imports only types of the protocol`;
    if (isWithoutZod(from)) return 'browsers load this module, so it has no code of others';
  }
  return null;
}

const problems: string[] = REAL.flatMap((name) =>
  existsSync(join(ROOT, name.replace('server/', 'packages/server/src/'))) ? [] : [`${name} does not exist`],
);
for (const [index, [layer, parts]] of Object.entries(LAYERS).entries()) {
  const above = Object.keys(LAYERS).slice(0, index);
  for (const part of parts)
    if (within(part, above) === undefined)
      problems.push(`layer ${layer} lists ${part}, which is not above it`);
}

const graph = new Map<string, Set<string>>();
for (const pattern of ['packages/*/src/**/*.{ts,tsx}', 'scripts/**/*.ts'])
  for (const path of new Glob(pattern).scanSync(ROOT)) {
    if (/\.test\.|\/testing\//.test(path)) continue;
    const targets = new Set<string>();
    graph.set(path, targets);
    const from = nameOf(path);
    const source = await Bun.file(join(ROOT, path)).text();
    if (within(from, SIMULATED) && !within(from, REAL))
      for (const [index, line] of source.split('\n').entries()) {
        const used = NOT_SIMULATED.exec(line)?.[0];
        if (used)
          problems.push(`${path}:${index + 1} uses ${used}: use the clock of lib/clock.ts, or a port`);
      }
    for (const { target, kind } of importsOf(source)) {
      const isRelative = target.startsWith('.');
      if (isRelative && kind !== 'dynamic') targets.add(join(dirname(path), target));
      if (!path.startsWith('packages/')) continue;
      const to = isRelative ? nameOf(join(dirname(path), target)) : /^@parlance\/(.+)/.exec(target)?.[1];
      const modules = MODULES[within(from, Object.keys(MODULES)) ?? ''];
      const problem =
        to !== undefined
          ? problemOf(from, to, kind)
          : modules && !modules.includes(target)
            ? `only ${modules.join(', ') || 'packages of this project'}`
            : null;
      if (problem !== null) problems.push(`${path} imports ${target}: ${problem}`);
    }
  }
for (const members of cyclesIn(graph)) problems.push(`import cycle: ${members.join(', ')}`);

for (const problem of [...new Set(problems)].sort()) console.error(problem);
if (graph.size < 100) console.error(`only ${graph.size} files were checked: the pattern is wrong`);
if (problems.length > 0 || graph.size < 100) process.exit(1);
