import { expect, test } from 'bun:test';
import { withAgent, withDomain, withoutAgent, withoutDomain } from './agents.tsx';

const cook = { id: 'cook', name: 'Cook', instructions: 'Cook.' };
const kitchen = { id: 'kitchen', name: 'Kitchen', description: '', defaultAgent: 'chef', agents: ['chef'] };

test('a new agent is offered in its domain', () => {
  expect(withAgent({ agents: [], domains: [] }, cook, kitchen)).toEqual({
    agents: [cook],
    domains: [{ ...kitchen, agents: ['chef', 'cook'] }],
  });
});

test('a changed agent replaces the one with the same id', () => {
  const domain = { ...kitchen, agents: ['chef', 'cook'] };
  const stored = { agents: [cook], domains: [domain] };
  const changed = { ...cook, name: 'Chief cook' };
  expect(withAgent(stored, changed, domain)).toEqual({ agents: [changed], domains: [domain] });
});

test('a removed agent leaves its domains, and a domain without agents goes with it', () => {
  const stored = {
    agents: [cook],
    domains: [
      { ...kitchen, defaultAgent: 'cook', agents: ['cook', 'chef'] },
      { ...kitchen, id: 'alone', defaultAgent: 'cook', agents: ['cook'] },
    ],
  };
  expect(withoutAgent(stored, 'cook')).toEqual({ agents: [], domains: [kitchen] });
});

test('a domain is added or replaced, and removed', () => {
  const added = withDomain({ agents: [cook], domains: [] }, kitchen);
  expect(added).toEqual({ agents: [cook], domains: [kitchen] });
  const renamed = { ...kitchen, name: 'Bakery' };
  expect(withDomain(added, renamed).domains).toEqual([renamed]);
  expect(withoutDomain(added, 'kitchen')).toEqual({ agents: [cook], domains: [] });
});
