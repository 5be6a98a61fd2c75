/**
 * `npm run sbom [-- FILE]`: a software bill of materials of the production dependencies, as CycloneDX JSON
 * from npm and the lock file. npm's own `--omit dev` also drops packages needed by both production and
 * development, and its marks in the lock file count optional peers, so the dependencies decide. Unmet peer
 * dependencies of development tools are not an error.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dir, '..');

const Component = z.looseObject({ 'bom-ref': z.string() });
const Names = z.record(z.string(), z.string()).default({});
const Entry = z.object({
  version: z.string().optional(),
  /** the folder of a workspace, if `link` is set */
  resolved: z.string().optional(),
  link: z.boolean().default(false),
  dependencies: Names,
  optionalDependencies: Names,
});
const Lock = z.object({ packages: z.record(z.string(), Entry) });
const Bill = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ name: z.string() }) }),
  components: z.array(Component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
});
export type Bill = z.infer<typeof Bill>;

export async function makeBill(root = ROOT): Promise<Bill> {
  const npm = Bun.spawn(
    [
      'npm',
      'sbom',
      '--sbom-format',
      'cyclonedx',
      '--sbom-type',
      'application',
      '--package-lock-only',
      '--legacy-peer-deps',
    ],
    { cwd: root, stdout: 'pipe', stderr: 'pipe' },
  );
  const [text, complaint] = await Promise.all([
    new Response(npm.stdout).text(),
    new Response(npm.stderr).text(),
  ]);
  if ((await npm.exited) !== 0) throw new Error(`npm sbom failed: ${complaint}`);
  const lock = Lock.parse(await Bun.file(join(root, 'package-lock.json')).json());
  return inProduction(Bill.parse(JSON.parse(text)), productionRefs(lock));
}

/** `name@version` of what the workspaces depend on, found by walking the lock file like Node's resolution. */
function productionRefs({ packages }: z.infer<typeof Lock>): Set<string> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const locate = (from: string, name: string): string | null => {
    for (let folder = from; ; folder = dirname(folder)) {
      const path = join(folder, 'node_modules', name);
      if (path in packages) return path;
      if (folder === '.') return null;
    }
  };
  const visit = (path: string): void => {
    const entry = packages[path];
    if (!entry || seen.has(path)) return;
    seen.add(path);
    const workspace = entry.link ? (entry.resolved ?? '') : null;
    const { version } = packages[workspace ?? path] ?? entry;
    found.add(`${path.split('node_modules/').at(-1)}@${version}`);
    if (workspace !== null) visit(workspace);
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      const next = locate(path || '.', name);
      if (next) visit(next);
    }
  };
  for (const [path, { link }] of Object.entries(packages))
    if (link || !path.includes('node_modules/')) visit(path);
  return found;
}

function inProduction(bill: Bill, production: ReadonlySet<string>): Bill {
  const left = bill.components.filter((component) => production.has(component['bom-ref']));
  const refs = new Set(left.map((component) => component['bom-ref']));
  const { metadata } = bill;
  const root = metadata.component['bom-ref'];
  return {
    ...bill,
    // npm uses the folder name.
    metadata: { ...metadata, component: { ...metadata.component, name: 'parlance' } },
    components: left,
    dependencies: bill.dependencies
      .filter(({ ref }) => ref === root || refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
}

if (import.meta.main) {
  const path = resolve(process.argv[2] ?? join(ROOT, 'dist/sbom.cdx.json'));
  const bill = await makeBill();
  mkdirSync(dirname(path), { recursive: true });
  await Bun.write(path, `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${path}: ${bill.components.length} components`);
}
