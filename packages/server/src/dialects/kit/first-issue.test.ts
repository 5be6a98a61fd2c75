import { expect, test } from 'bun:test';
import { ResponseRequest } from '../openai/responses/schemas.ts';
import { firstIssue } from './first-issue.ts';

test.each([
  [{}, ['model']],
  [{ model: 'a', n: 1, input: 7 }, ['input']],
  [{ model: 'a', input: [{ role: 'nobody', content: 'x' }] }, ['input', 0, 'role']],
  [
    { model: 'a', input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
    ['input', 0, 'content', 0, 'text'],
  ],
  [{ model: 'a', input: ['x', { type: 'function_call', call_id: 'c' }] }, ['input', 0]],
  [{ model: 'a', input: [{ type: 'function_call', call_id: 'c', name: 'n' }] }, ['input', 0, 'arguments']],
  [{ model: 'a', tools: [{ type: 'function', name: 'a b' }] }, ['tools', 0, 'name']],
  [{ model: 'a', tools: [{ type: 'mcp' }] }, ['tools', 0, 'server_label']],
])('%j', (body, path) => {
  const { error } = ResponseRequest.safeParse(body);
  expect(firstIssue(error?.issues ?? []).path).toEqual(path);
});
