/**
 * `npm run sbom [-- FILE]`: a software bill of materials of the production dependencies, as CycloneDX JSON
 * from npm and the lock file. npm's own `--omit dev` also drops packages needed by both production and
 * development, as does its mark on a package installed twice, so the lock file decides. Unmet peer
 * dependencies of development tools are not an error.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dir, '..');

const Component = z.looseObject({ 'bom-ref': z.string() });
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      version: z.string().optional(),
      dev: z.boolean().default(false),
    }),
  ),
});
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

/** `name@version` of packages installed for more than development. */
function productionRefs({ packages }: z.infer<typeof Lock>): Set<string> {
  const installed = Object.entries(packages).filter(([, { dev }]) => !dev);
  return new Set(
    installed.map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`),
  );
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
