import { expect, test } from 'bun:test';
import { textOf } from '@parlance/protocol';
import { CALLER, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says, scriptedProvider } from '../../testing/scripted-provider.ts';

const TOO_LONG: Line = {
  type: 'failed',
  fault: { code: 'context_too_long', message: 'The prompt is too long.' },
};

async function turn(harness: Harness, text: string, last: 'turn.ended' | 'turn.failed' = 'turn.ended') {
  const ended = harness.nextEvent(last);
  await say(harness.engine, text);
  return ended;
}

test('uses the vendor’s count plus an estimate of later content', async () => {
  const provider = { ...scriptedProvider([calls('lookup', { word: 'a' }), says('Done.')]), counts: true };
  const harness = await createHarness([], { parts: { provider } });
  await turn(harness, 'Hi');
  expect((await harness.engine.contextUse(SESSION)).tokens).toBe(15);
});

test('a prompt refused as too long is compacted and retried once', async () => {
  const harness = await createHarness([
    says('A long story. '.repeat(20)),
    [TOO_LONG],
    says('They asked.'),
    says('Shorter.'),
  ]);
  await turn(harness, 'First');
  await turn(harness, 'Second');
  expect(harness.events.filter((event) => event.type === 'context.compacted')).toHaveLength(1);
  expect(harness.events.findLast((event) => event.type === 'text.ended')).toMatchObject({ text: 'Shorter.' });
});

test('readers discard what an attempt has shown that was then refused as too long', async () => {
  const harness = await createHarness([
    says('A long story. '.repeat(20)),
    [{ type: 'text', text: 'Half an ans' }, TOO_LONG],
    says('They asked.'),
    says('Shorter.'),
  ]);
  await turn(harness, 'First');
  await turn(harness, 'Second');
  expect(harness.events.find((event) => event.type === 'step.restarted')).toMatchObject({ shown: true });
});

test('the turn fails if the prompt is refused twice, or nothing can be compacted', async () => {
  const harness = await createHarness([
    says('A long story. '.repeat(20)),
    [TOO_LONG],
    says('They asked.'),
    [TOO_LONG],
  ]);
  await turn(harness, 'First');
  expect(await turn(harness, 'Second', 'turn.failed')).toMatchObject({ fault: { code: 'context_too_long' } });
  const alone = await createHarness([[TOO_LONG]]);
  expect(await turn(alone, 'First', 'turn.failed')).toMatchObject({ fault: { code: 'context_too_long' } });
});

test('a compaction reports smaller counts, on the vendor’s scale', async () => {
  const answers = [says('A long story. '.repeat(20)), says('They asked.')];
  const harness = await createHarness([], {
    parts: { provider: { ...scriptedProvider(answers), counts: true } },
  });
  await turn(harness, 'First');
  await harness.engine.send(SESSION, { type: 'context.compact' }, CALLER);
  const compacted = harness.events.find((event) => event.type === 'context.compacted');
  expect(compacted?.oldTokens).toBe(15);
  expect((await harness.engine.contextUse(SESSION)).tokens).toBe(compacted?.newTokens ?? 0);
  expect(compacted?.newTokens).toBeLessThan(15);
});

test('old, large outputs are truncated before they are summarised', async () => {
  const word = 'x'.repeat(50_000);
  const harness = await createHarness(
    [calls('lookup', { word }), says('Done.'), says('They looked a word up.')],
    {
      parts: { context: { strategy: 'none', threshold: 0.8 } },
    },
  );
  await turn(harness, 'First');
  await harness.engine.send(SESSION, { type: 'context.compact' }, CALLER);
  const asked = harness.provider.prompts.at(-1);
  expect(asked?.task).toBe('compaction');
  const result = asked?.items.find((item) => item.kind === 'result');
  expect(result && textOf(result.parts).length).toBeLessThan(3_000);
});

test('an agent with its own model uses that model and only the tools it names', async () => {
  const own = { ...scriptedProvider([says('I am another model.')]), contextLimit: 50_000 };
  const { defaultCatalog } = await import('../../compose/domains.ts');
  const catalog = defaultCatalog();
  const coder = { ...catalog.agent('coder'), model: 'other', tools: ['lookup'] };
  const agents = catalog.agents.map((agent) => (agent.id === 'coder' ? coder : agent));
  const { AgentCatalog } = await import('../session/agent-catalog.ts');
  const harness = await createHarness([], {
    parts: {
      catalog: new AgentCatalog(catalog.domains, agents, catalog.defaultDomain),
      providerFor: () => own,
    },
  });
  expect(await turn(harness, 'Hi')).toMatchObject({ context: { limit: 50_000 } });
  expect(own.prompts[0]?.tools.map((tool) => tool.name)).toEqual(['lookup']);
  expect((await harness.engine.contextUse(SESSION)).limit).toBe(50_000);
});

test('sealed vendor data is returned unread, with its reasoning', async () => {
  const sealed = { provider: 'scripted', data: { signature: 'abc' } };
  const thinking: Line[] = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'sealed', sealed },
  ];
  const signedCall: Line = { type: 'call', call: 'c1', tool: 'lookup', input: { word: 'a' }, sealed };
  const ended: Line = { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'calls' };
  const harness = await createHarness([[...thinking, signedCall, ended], says('Done.')]);
  await turn(harness, 'Hi');
  const items = harness.provider.prompts.at(-1)?.items ?? [];
  expect(items[1]).toEqual({ kind: 'reasoning', text: 'Hm.', sealed });
  expect(items[2]).toMatchObject({ kind: 'call', sealed });
});
