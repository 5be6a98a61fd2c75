/** A session with many events, created by an import. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importSessions } from '../../packages/cli/src/import.ts';

const AGENT = { id: 'assistant', name: 'Assistant' };
const USAGE = { inputTokens: 10, outputTokens: 20 };
const CONTEXT = { tokens: 100, limit: 1_000, items: 2, strategy: 'threshold' };

function eventsOfTurn(number: number): object[] {
  const [turn, input, block] = [`turn-${number}`, `input-${number}`, `block-${number}`];
  const answer = number % 7 === 0 ? `\n\n\`\`\`ts\nconst number = ${number};\n\`\`\`` : '';
  return [
    {
      type: 'input.accepted',
      input,
      parts: [{ type: 'text', text: `question ${number}` }],
      dialect: 'native',
    },
    { type: 'turn.started', turn, input, agent: AGENT },
    { type: 'text.ended', turn, block, text: `answer **${number}**${answer}` },
    { type: 'step.ended', turn, usage: USAGE, stop: 'done' },
    { type: 'turn.ended', turn, usage: USAGE, durationMs: 5, context: CONTEXT },
  ];
}

/** A data folder with one session of `turns` turns, with five events each. */
export async function longSession(id: string, turns: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-long-'));
  const bodies = [
    { type: 'session.created', dialect: 'native', named: true, domain: 'general', agent: AGENT },
    ...Array.from({ length: turns }, (_, index) => eventsOfTurn(index + 1)).flat(),
  ];
  const lines = bodies.map((body, index) =>
    JSON.stringify({
      ...body,
      session: id,
      id: `event-${index}`,
      at: 1_700_000_000_000 + index,
      seq: index + 1,
    }),
  );
  const header = {
    format: 'parlance.session',
    version: 2,
    session: { owner: 'local', id },
    eventVersion: 1,
    events: lines.length,
  };
  const file = join(folder, 'session.jsonl');
  await Bun.write(file, [JSON.stringify(header), ...lines, ''].join('\n'));
  await importSessions([file, '--data', folder]);
  return folder;
}
