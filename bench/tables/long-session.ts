/** A database with a session of any length, written through the store like the server would. */
import {
  type BlockId,
  type DurableEvent,
  type DurableEventBody,
  type InputId,
  PrincipalId,
  SessionId,
  type TurnId,
  textPart,
} from '../../packages/protocol/src/index.ts';
import { defaultCatalog } from '../../packages/server/src/compose/domains.ts';
import type { SessionRecord } from '../../packages/server/src/core/ports/event-store.ts';
import { openSqliteStore } from '../../packages/server/src/stores/sqlite/open.ts';

const catalog = defaultCatalog();
const DOMAIN = catalog.defaultDomain;
const AGENT = catalog.first(DOMAIN);
const USAGE = { inputTokens: 100, outputTokens: 50 };
const WORDS =
  'The parser reads one line at a time, keeps what is left of it, and goes on where it stopped when more has come. ';
/** A session this long is compacted occasionally. */
const TURNS_BETWEEN_COMPACTIONS = 200;
const BATCH = 5_000;

/** The events of one answered turn. */
function turnEvents(turn: number): DurableEventBody[] {
  const ids = {
    turn: `turn-${turn}` as TurnId,
    input: `input-${turn}` as InputId,
    block: `block-${turn}` as BlockId,
  };
  const context = { tokens: 1_000, limit: 100_000, items: 20, strategy: 'threshold' as const };
  return [
    {
      type: 'input.accepted',
      input: ids.input,
      parts: [textPart(`Question ${turn}: ${WORDS}`)],
      dialect: 'native',
    },
    { type: 'turn.started', turn: ids.turn, input: ids.input, agent: AGENT },
    { type: 'text.ended', turn: ids.turn, block: ids.block, text: `Answer ${turn}: ${WORDS.repeat(3)}` },
    { type: 'step.ended', turn: ids.turn, usage: USAGE, stop: 'done' },
    { type: 'turn.ended', turn: ids.turn, usage: USAGE, durationMs: 100, context },
  ];
}

const compactedAt = (seq: number): DurableEventBody => ({
  type: 'context.compacted',
  summary: WORDS,
  oldTokens: 50_000,
  newTokens: 1_000,
  strategy: 'threshold',
  keepFrom: seq,
  readFrom: seq,
});

/** At least `events` events, up to the end of a turn. Without compactions, all of it is context. */
function* bodies(events: number, compactions: boolean): Generator<DurableEventBody> {
  yield { type: 'session.created', dialect: 'native', named: true, domain: DOMAIN, agent: AGENT };
  let written = 1;
  for (let turn = 1; written < events; turn++) {
    for (const body of turnEvents(turn)) yield body;
    written += 5;
    if (!compactions || turn % TURNS_BETWEEN_COMPACTIONS !== 0) continue;
    yield compactedAt(written);
    written++;
  }
}

type Length = { readonly events: number; readonly compactions: boolean };

export async function writeSession(
  data: string,
  id: string,
  { events, compactions }: Length,
): Promise<number> {
  const store = openSqliteStore(data);
  const ref = { owner: PrincipalId.parse('local'), id: SessionId.parse(id) };
  const at = Date.now();
  const record: Omit<SessionRecord, 'head'> = {
    ref,
    dialect: 'native',
    domain: DOMAIN,
    agent: AGENT.id,
    title: 'A long session',
    renamed: false,
    firstInput: '',
    status: 'idle',
    pending: null,
    archived: false,
    ephemeral: false,
    parent: null,
    pinned: false,
    tags: [],
    labels: {},
    messageCount: Math.floor(events / 5) * 2,
    createdAt: at,
    updatedAt: at,
    checkpoint: null,
  };
  let head = 0;
  let batch: DurableEvent[] = [];
  const flush = async () => {
    await store.append(head, batch, { ...record, head: head + batch.length });
    head += batch.length;
    batch = [];
  };
  for (const body of bodies(events, compactions)) {
    batch.push({ ...body, session: ref.id, id: crypto.randomUUID(), at, seq: head + batch.length + 1 });
    if (batch.length === BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  await store.close();
  return head;
}
