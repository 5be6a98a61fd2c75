import { expect, test } from 'bun:test';
import { COPILOT_TOOLS } from '../../tools/copilot/tools.ts';
import { agent } from './dialect.ts';

test('the agent has all browser tools, and web search', () => {
  expect(agent.tools).toEqual([...COPILOT_TOOLS.map(({ name }) => name), 'web_search']);
});
