import { expect, test } from 'bun:test';
import { startersFor } from './new-page.tsx';

const agent = (id: string, more: object = {}) => ({
  id,
  name: id,
  description: '',
  model: null,
  tools: null,
  starters: [],
  ...more,
});

const ABOUT = {
  provider: 'openai',
  model: 'large',
  models: [
    { id: 'large', provider: 'openai' },
    { id: 'offline', provider: 'offline' },
  ],
  domains: [{ id: 'work', name: '', description: '', defaultAgent: 'coder', agents: ['coder', 'poet'] }],
  agents: [
    agent('coder', { starters: ['Explain this project'] }),
    agent('poet', { tools: [] }),
    agent('demo', { model: 'offline', starters: ['Not for a program'] }),
  ],
};

const starters = (chosen: object) =>
  startersFor(ABOUT, { model: null, agent: null, domain: 'work', ...chosen });

test('an agent has its own starters with a language model', () => {
  expect(starters({})).toEqual(['Explain this project']);
  expect(starters({ agent: 'coder', model: 'one the server does not list' })).toEqual([
    'Explain this project',
  ]);
});

test('an agent without its own has general ones', () => {
  expect(starters({ agent: 'poet' })).toContain('What can you do?');
});

test('with the offline model they are what it understands, and the agent has the tools', () => {
  expect(starters({ model: 'offline' })).toContain('List the files here');
  expect(starters({ model: 'offline', agent: 'poet' })).not.toContain('List the files here');
  expect(starters({ agent: 'demo' })).toContain('What can you do?');
  expect(starters({ agent: 'demo' })).not.toContain('Not for a program');
});
