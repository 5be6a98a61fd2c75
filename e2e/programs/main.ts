/**
 * Runs real programs against a server: each has a folder here with a `main.ts` that throws on failure. Not part
 * of `npm test`, because the programs are downloaded. `npm run test:programs [name…]`
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const all = readdirSync(import.meta.dir).filter((name) => existsSync(join(import.meta.dir, name, 'main.ts')));
const named = process.argv.slice(2);
const unknown = named.filter((name) => !all.includes(name));
if (unknown.length > 0)
  throw new Error(`no such program: ${unknown.join(', ')} (there are ${all.join(', ')})`);

let failed = 0;
for (const name of named.length > 0 ? named : all) {
  const { exited } = Bun.spawn([process.execPath, join(import.meta.dir, name, 'main.ts')], {
    stdout: 'inherit',
    stderr: 'inherit',
  });
  const isGood = (await exited) === 0;
  if (!isGood) failed++;
  console.log(`${isGood ? 'passed' : 'FAILED'}: ${name}`);
}
process.exit(failed === 0 ? 0 : 1);
