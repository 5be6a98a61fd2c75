/** `npm run conformance [-- NAME…]`: runs suites of others and writes their figures into docs/conformance.md. */
import { join } from 'node:path';
import { a2a } from './a2a.ts';
import type { Suite } from './figures.ts';
import { linters } from './linters.ts';
import { openResponses } from './open-responses.ts';
import { openApi } from './openapi.ts';

const SUITES: readonly Suite[] = [openResponses, a2a, openApi, ...linters];

const PAGE = join(import.meta.dir, '../../docs/conformance.md');
const named = process.argv.slice(2);
const today = new Date().toISOString().slice(0, 10);
let hasFailed = false;

for (const { name, version, run } of SUITES) {
  if (named.length > 0 && !named.some((part) => name.toLowerCase().includes(part.toLowerCase()))) continue;
  const figures = await run();
  if (!figures) {
    console.log(`${name}: skipped, see docs/conformance.md for what it needs`);
    continue;
  }
  const { passed, total, failures } = figures;
  console.log([`${name}: ${passed} of ${total}`, ...failures].join('\n  '));
  hasFailed ||= failures.length > 0;
  const page = await Bun.file(PAGE).text();
  const row = `| ${name} | ${version} | ${today} | ${passed} of ${total} |`;
  const at = page.split('\n').find((line) => line.startsWith(`| ${name} |`));
  if (at === undefined) throw new Error(`docs/conformance.md has no row for ${name}`);
  // The last cell is written by hand.
  await Bun.write(PAGE, page.replace(at, `${row}${at.slice(at.lastIndexOf(' | ') + 2)}`));
}
process.exit(hasFailed ? 1 : 0);
