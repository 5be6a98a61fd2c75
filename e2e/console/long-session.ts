/** A session with many events, and many sessions, written as an import would. */
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSessions, writeSession } from '../../packages/server/src/commands/data.ts';
import { openStorage } from '../../packages/server/src/commands/storage.ts';

const AGENT = { id: 'coder', name: 'Coder' };
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
export const longSession = (id: string, turns: number): Promise<string> =>
  imported([
    linesOf(id, [CREATED, ...Array.from({ length: turns }, (_, index) => eventsOfTurn(index + 1)).flat()]),
  ]);

/** A data folder with sessions of one turn each, the first one the oldest. */
export const manySessions = (count: number): Promise<string> =>
  imported(
    Array.from({ length: count }, (_, index) =>
      linesOf(`session-${index + 1}`, [CREATED, ...eventsOfTurn(index + 1)], index * 1_000),
    ),
  );

/** A data folder with a session for each number of days ago, which is its number, too. */
export const sessionsOfDays = (ages: readonly number[]): Promise<string> =>
  imported(
    ages.map((age) => {
      const now = new Date();
      const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - age);
      return linesOf(`session-${age}`, [CREATED, ...eventsOfTurn(age)], day.getTime() - BEGINNING);
    }),
  );

const BEGINNING = 1_700_000_000_000;

const CREATED = {
  type: 'session.created',
  dialect: 'native',
  named: true,
  domain: 'software_development',
  agent: AGENT,
};

/** A session as an export would contain it. */
function linesOf(id: string, bodies: readonly object[], laterMs = 0): string {
  const lines = bodies.map((body, index) =>
    JSON.stringify({
      ...body,
      session: id,
      id: `event-${index}`,
      at: BEGINNING + laterMs + index,
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
  return [JSON.stringify(header), ...lines].join('\n');
}

/** Every session is one synchronous write, and a thousand of them take long on a busy disk. */
const MEMORY = '/dev/shm';

async function imported(sessions: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'parlance-long-'));
  const store = await openStorage({ folder });
  for await (const session of readSessions(linesIn(sessions), (ref) => ref))
    await writeSession(store, session);
  await store.close();
  return folder;
}

async function* linesIn(sessions: readonly string[]): AsyncGenerator<string> {
  for (const session of sessions) yield* session.split('\n');
}
