/** A database with any number of sessions, folded and written like the server would. */
import {
  type ApprovalId,
  type BlockId,
  type CallId,
  type DurableEvent,
  type DurableEventBody,
  type InputId,
  type JsonObject,
  PrincipalId,
  SessionId,
  type TurnId,
  textPart,
} from '../../packages/protocol/src/index.ts';
import { defaultCatalog } from '../../packages/server/src/compose/domains.ts';
import { checkpointOf, recordOf } from '../../packages/server/src/core/session/checkpoint.ts';
import { evolve } from '../../packages/server/src/core/session/evolve.ts';
import {
  initialState,
  isIdle,
  type SessionState,
} from '../../packages/server/src/core/session/session-state.ts';
import { openSqliteStore } from '../../packages/server/src/stores/sqlite/open.ts';

/** A fixed number, independent of the number of sessions, to make costs comparable. */
export const APPROVALS = 50;
/** Title of the session that changed longest ago. */
export const NEEDLE = 'the needle in the haystack';

const catalog = defaultCatalog();
const DOMAIN = catalog.defaultDomain;
const AGENT = catalog.first(DOMAIN);
const OWNER = PrincipalId.parse('local');
const USAGE = { inputTokens: 100, outputTokens: 50 };
const CONTEXT = { tokens: 1_000, limit: 100_000, items: 2, strategy: 'threshold' as const };
/** Number of appends per commit. */
const AT_ONCE = 500;

const begun = (index: number, turn: TurnId): DurableEventBody[] => {
  const input = crypto.randomUUID() as string as InputId;
  const text = index === 0 ? NEEDLE : `Question ${index}: how does the parser go on when more has come?`;
  return [
    { type: 'session.created', dialect: 'native', named: false, domain: DOMAIN, agent: AGENT },
    { type: 'input.accepted', input, parts: [textPart(text)], dialect: 'native' },
    { type: 'turn.started', turn, input, agent: AGENT },
  ];
};

const answered = (turn: TurnId): DurableEventBody[] => [
  {
    type: 'text.ended',
    turn,
    block: crypto.randomUUID() as string as BlockId,
    text: 'It keeps what is left of a line, and goes on where it stopped. '.repeat(3),
  },
  { type: 'step.ended', turn, usage: USAGE, stop: 'done' },
  { type: 'turn.ended', turn, usage: USAGE, durationMs: 100, context: CONTEXT },
];

/** A shell call that waits for approval, or a call of another tool that waits for a client. */
const waiting = (turn: TurnId, call: CallId, deferred: boolean): DurableEventBody[] => {
  const command = ['touch', 'made.txt'];
  const tool = deferred ? 'browser_act' : 'shell';
  const input: JsonObject = deferred ? { action: 'click(1)' } : { command };
  const approval = crypto.randomUUID() as string as ApprovalId;
  const ask = {
    kind: 'command' as const,
    command,
    description: 'Runs touch made.txt.',
    grant: 'shell:touch',
  };
  const last: DurableEventBody = deferred
    ? { type: 'call.deferred', turn, call }
    : { type: 'approval.requested', turn, call, approval, ask, hash: 'bench' };
  return [
    { type: 'call.requested', turn, call, tool, input },
    { type: 'step.ended', turn, usage: USAGE, stop: 'calls' },
    last,
  ];
};

/** Idle sessions; the last `APPROVALS` wait for approval, and one in a hundred of the others for a client. */
function bodiesOf(index: number, sessions: number): DurableEventBody[] {
  const turn = crypto.randomUUID() as string as TurnId;
  const start = begun(index, turn);
  if (index >= sessions - APPROVALS) return [...start, ...waiting(turn, `call_${index}` as CallId, false)];
  if (index % 100 === 99) return [...start, ...waiting(turn, `call_${index}` as CallId, true)];
  return [...start, ...answered(turn)];
}

export async function writeSessions(data: string, sessions: number): Promise<void> {
  const store = openSqliteStore(data);
  const from = Date.now() - sessions * 1_000;

  async function writeSession(index: number): Promise<void> {
    const ref = { owner: OWNER, id: SessionId.parse(crypto.randomUUID()) };
    let state: SessionState = initialState(AGENT);
    let rested: SessionState | null = null;
    const events = bodiesOf(index, sessions).map((body, place): DurableEvent => {
      const envelope = { session: ref.id, id: crypto.randomUUID(), at: from + index * 1_000, seq: place + 1 };
      const event: DurableEvent = { ...body, ...envelope };
      state = evolve(state, event);
      if (isIdle(state)) rested = state;
      return event;
    });
    await store.append(0, events, recordOf(ref, state, rested && checkpointOf(rested)));
  }

  for (let index = 0; index < sessions; index += AT_ONCE) {
    const count = Math.min(AT_ONCE, sessions - index);
    await Promise.all(Array.from({ length: count }, (_, place) => writeSession(index + place)));
  }
  await store.close();
}
