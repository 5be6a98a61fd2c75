/** Runs axe on a page. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const AXE = await Bun.file(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js')).text();

type Finding = {
  id: string;
  help: string;
  nodes: { target: string[]; html: string }[];
};

/** Injects axe, unless the page has it since it was loaded. */
export async function prepare(page: Page): Promise<void> {
  // Evaluated by the debugger, which is not subject to the page's content security policy.
  if (await page.evaluate("'axe' in window")) return;
  await page.evaluate(`${AXE}; void 0`);
}

/** `colours`: only rules that depend on light and dark. */
type Rules = 'all' | 'colours';

const OPTIONS: Readonly<Record<Rules, object>> = {
  all: {},
  colours: { runOnly: ['color-contrast', 'link-in-text-block'] },
};

/** One line per finding. */
export async function accessibilityProblems(page: Page, rules: Rules): Promise<string[]> {
  const options = JSON.stringify(OPTIONS[rules]);
  const run = `axe.run(document, ${options}).then(({ violations }) => violations)`;
  const found = (await page.evaluate(run)) as Finding[];
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(' ')}: ${html}`),
  );
}
