/** Reduces a browser page for a model: numbered elements and text within a budget. */

import { parsePage } from '../../packages/copilot/src/page/parse-page.ts';
import { renderPage } from '../../packages/copilot/src/page/render.ts';
import { timed } from '../measure/clock.ts';
import { percentile } from '../measure/percentile.ts';
import { generatedPage } from './generated-page.ts';
import type { Table } from './table.ts';

const BUDGET_TOKENS = 6_000;

export const dom: Table = {
  name: 'dom',
  title: `DOM reduction to ${BUDGET_TOKENS} tokens`,
  unit: 'bytes',
  columns: [
    { key: 'p50', title: 'p50 ms', digits: 2 },
    { key: 'p99', title: 'p99 ms', digits: 2 },
    { key: 'elements', title: 'elements' },
    { key: 'shown', title: 'shown' },
    { key: 'characters', title: 'characters out' },
  ],
  jobs: () => [20_000, 200_000, 1_000_000].map((size) => ({ subject: 'Parlance', size })),
  async measure({ size, quick }) {
    const html = generatedPage(size);
    const times: number[] = [];
    const rounds = quick ? 5 : 50;
    let page = parsePage({ dom: html }, BUDGET_TOKENS);
    let text = '';
    for (let round = -3; round < rounds; round++) {
      const { ms } = await timed(() => {
        page = parsePage({ dom: html }, BUDGET_TOKENS);
        text = renderPage(page);
      });
      if (round >= 0) times.push(ms);
    }
    return {
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      elements: page.elements.length,
      shown: page.shown,
      characters: text.length,
    };
  },
};
