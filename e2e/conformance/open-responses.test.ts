import { expect, test } from 'bun:test';
import { folder, openResponses } from './open-responses.ts';

test.skipIf(folder === null)('Open Responses (skipped without OPENRESPONSES_DIR)', async () => {
  const figures = await openResponses.run();
  expect(figures?.failures).toEqual([]);
  expect(figures?.passed).toBeGreaterThanOrEqual(17);
});
