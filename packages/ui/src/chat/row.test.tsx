import { expect, test } from 'bun:test';
import type { HistoryView } from '@parlance/sdk';
import { renderToStaticMarkup } from 'react-dom/server';
import { History } from './row.tsx';

const entry = {
  kind: 'history',
  input: 'input-1',
  items: [
    { type: 'user', parts: [{ type: 'text', text: 'Name a <b>river</b>' }] },
    { type: 'call', call: 'call_1', tool: 'lookup', input: { word: 'river' } },
    { type: 'result', call: 'call_1', parts: [{ type: 'text', text: 'Rhine' }], failed: true },
    { type: 'text', text: 'The **Rhine**.' },
  ],
  dialect: 'openai',
  at: 0,
  seqs: [2],
} as unknown as HistoryView;

test('a conversation that was taken over is shown with its messages and calls, and where it came from', () => {
  const shown = renderToStaticMarkup(<History entry={entry} />);
  expect(shown).toContain('Name a &lt;b&gt;river&lt;/b&gt;');
  expect(shown).toContain('imported via openai');
  expect(shown).toContain('Called lookup');
  expect(shown).toContain('The call failed');
  expect(shown).toContain('<strong>Rhine</strong>');
});
