/** MCP clients read the same messages of a session that `conversations` lists. */
import { describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable } from '../../packages/protocol/src/index.ts';
import type { SessionRecord } from '../../packages/server/src/core/index.ts';
import { latestMessages as conversationMessages } from '../../packages/server/src/dialects/conversations/routes.ts';
import { latestMessages } from '../../packages/server/src/dialects/mcp/resources.ts';
import { SCENARIOS } from '../../packages/server/src/testing/scenarios.ts';
import { readTranscript } from '../../packages/server/src/testing/transcripts.ts';

function stored(events: readonly DurableEvent[]) {
  const created = events.find((event) => event.type === 'session.created');
  const { agent, domain } = created ?? { agent: { id: 'assistant' }, domain: 'default' };
  const record = {
    ref: { owner: 'local', id: 'session-1' },
    agent: agent.id,
    domain,
    labels: {},
    head: events.length,
  };
  const engine = {
    events: async (_ref: unknown, after: number, limit: number) => events.slice(after, after + limit),
    async *eventsBackwards(_ref: unknown, head: number, page = 100) {
      for (let end = head; end > 0; end -= page) yield events.slice(Math.max(0, end - page), end);
    },
  };
  return { engine: engine as never, record: record as unknown as SessionRecord };
}

describe.each(Object.keys(SCENARIOS))('%s', (name) => {
  test.each([1_000, 2, 1])('the latest %d', async (limit) => {
    const { engine, record } = stored(readTranscript(name).filter(isDurable));
    const expected = await conversationMessages(engine, record, limit);
    const messages = await latestMessages(engine, record, limit);
    expect(messages.map(({ role, text }) => ({ role, text }))).toEqual(
      expected.map(({ role, content }) => ({ role, text: content })),
    );
  });
});
