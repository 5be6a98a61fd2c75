/** What axe finds on a page that somebody could not use. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const AXE = await Bun.file(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js')).text();

type Finding = {
  id: string;
  impact: string | null;
  help: string;
  nodes: { target: string[]; html: string }[];
};

/** One line for each serious or critical finding; none where the page is as it should be. */
export async function barriers(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which a content security policy does not stop: the page's own stays in force.
  await page.evaluate(`${AXE}; void 0`);
  const found = (await page.evaluate('axe.run(document).then(({ violations }) => violations)')) as Finding[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(' ')}: ${html}`),
    );
}
