/** Operations that change a session. */
import {
  type ApprovalId,
  Command,
  type CommandInput,
  type DurableEvent,
  Fault,
  type Part,
  type Principal,
  type QuestionId,
  type SessionId,
} from '@parlance/protocol';
import type { SessionRef } from '../ports/event-store.ts';
import { authorise } from '../session/approvals.ts';
import { AskedByChild, decide, mayEndTurn } from '../session/decide.ts';
import { interruption } from '../session/turn-events.ts';

import { compactNow } from './compaction.ts';
import {
  type Caller,
  checkConfiguration,
  decisionContext,
  inputSeq,
  isKnown,
  replacedInput,
} from './decision-context.ts';
import type { EngineInternals } from './engine-internals.ts';
import { checkLinks } from './links.ts';
import { readContext, withContextUse } from './model-step.ts';
import { streamedSoFar } from './open-output.ts';
import type { Queries } from './queries.ts';
import { explain } from './questions.ts';
import { mayHaveFiles, type PreviewedRewind, previewRewind, type RewindQuestion } from './rewind.ts';
import type { Session } from './session.ts';
import { spenderOf } from './spending.ts';
import type { TurnDeps } from './turn-deps.ts';

export type Receipt = {
  /**
   * number of the session's last event after the command: watching after it neither misses nor repeats an
   * event
   */
  readonly seq: number;
  readonly events: readonly DurableEvent[];
};

type AnswerCommand = Extract<Command, { type: 'approval.answer' | 'question.answer' }>;

const COMPACTION_MS = 120_000;
/** Sub-agents that are erased at once with their parent. */
const CHILDREN = 100;

export function commands(internals: EngineInternals, queries: Pick<Queries, 'lookup' | 'checkCall'>) {
  const { parts, sessions, queue, admission } = internals;

  async function send(ref: SessionRef, input: CommandInput, caller: Caller): Promise<Receipt> {
    const parsed = parseCommand(input);
    authorise(ref, parsed, caller.principal);
    const command = await withRealFolder(parsed, parts);
    // Decisions are stored for the next start; new inputs must go to another server.
    if (queue.draining && command.type === 'input.submit')
      throw new Fault('shutting_down', 'The server is shutting down.');
    if (command.type === 'input.submit' && command.call)
      queries.checkCall(command.call.tool, command.call.input);
    if (command.type === 'session.configure') checkConfiguration(command, parts);
    return sessions.use(ref, async (session) => {
      const leave = await admission.admit(session, command);
      try {
        const events = await execute(internals, session, { command, caller }).catch((thrown) => {
          if (!(thrown instanceof AskedByChild)) throw thrown;
          if (command.type === 'approval.answer' || command.type === 'question.answer')
            return answerChild(session, thrown, { command, caller });
          return replyToChild(session, thrown, { command, caller });
        });
        if (events.length === 0 && command.type === 'input.submit' && caller.keyOnce)
          await checkRepeated(internals, session, { parts: command.parts, key: caller.key });
        if (!session.role.isRemote) queue.wake(session);
        // Links must not come back with the session, which any message restores.
        if (command.type === 'session.archive')
          for (const { id } of (await parts.shares?.list(ref)) ?? []) await parts.shares?.remove(ref, id);
        return { seq: session.state.seq, events };
      } catch (thrown) {
        admission.failed(thrown);
        throw thrown;
      } finally {
        leave();
      }
    });
  }

  /**
   * The session of a sub-agent decides on an answer, whoever gives it: so it is answered once. The sessions above it record the
   * answer before this resolves.
   */
  async function answerChild(
    session: Session,
    { child, pending }: AskedByChild,
    { command, caller }: { readonly command: AnswerCommand; readonly caller: Caller },
  ): Promise<DurableEvent[]> {
    const { owner } = session.ref;
    const { seq } = session.state;
    // Terms are those of a turn of this session.
    const { terms: _terms, attributes: _attributes, ...answer } = command;
    const exit = command.type === 'approval.answer' && command.exit;
    const forwarded = { ...answer, exit: undefined, ...pending } as CommandInput;
    const answered = send({ owner, id: child.session }, forwarded, caller);
    // If it was answered there meanwhile, this session learns it now.
    const refusal = await answered.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    for (let id: SessionId | undefined = child.session; id !== undefined && id !== session.ref.id; )
      id = await sessions.use({ owner, id }, async (below) => {
        await below.fresh();
        await internals.deps.subAgents.inform(below);
        return below.state.created?.parent?.session;
      });
    if (refusal) throw refusal;
    if (exit) await execute(internals, session, { command: { type: 'turn.cancel' }, caller });
    return session.eventsSinceIdle.filter((event) => event.seq > seq);
  }

  /** A message that answers the question of a sub-agent. If that was answered meanwhile, it is an ordinary message. */
  async function replyToChild(
    session: Session,
    asked: AskedByChild,
    { command, caller }: { readonly command: Command; readonly caller: Caller },
  ): Promise<DurableEvent[]> {
    const { reply } = asked;
    if (!reply) throw asked;
    const answer = { ...reply.answer, type: 'question.answer' } as const;
    const turn = session.state.turn?.id;
    try {
      await answerChild(session, asked, { command: answer, caller });
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== 'no_approval') throw thrown;
      return execute(internals, session, { command, caller });
    }
    return session.transact((state) => (state.turn?.id === turn ? reply.said : []), 'never');
  }

  return {
    send,

    async answer(
      approval: ApprovalId,
      answer: Omit<Extract<CommandInput, { type: 'approval.answer' }>, 'type' | 'approval'>,
      caller: Caller,
    ): Promise<Receipt> {
      const ref = await queries.lookup(caller.principal, { kind: 'approval', id: approval });
      if (!ref) throw new Fault('not_found', 'There is no such approval.');
      return send(ref, { ...answer, type: 'approval.answer', approval }, caller);
    },

    async answerQuestion(
      question: QuestionId,
      answer: Omit<Extract<CommandInput, { type: 'question.answer' }>, 'type' | 'question'>,
      caller: Caller,
    ): Promise<Receipt> {
      const ref = await queries.lookup(caller.principal, { kind: 'question', id: question });
      if (!ref) throw new Fault('not_found', 'There is no such question.');
      return send(ref, { ...answer, type: 'question.answer', question }, caller);
    },

    previewRewind(ref: SessionRef, question: RewindQuestion, principal: Principal): Promise<PreviewedRewind> {
      authorise(ref, { type: 'session.rewind', conversation: true, files: true, overwrite: [] }, principal);
      return sessions.use(ref, async (session) => {
        await session.fresh();
        return previewRewind(session, internals.deps, question);
      });
    },

    erase,
  };

  async function erase(ref: SessionRef, caller: Caller): Promise<void> {
    authorise(ref, { type: 'session.clear' }, caller.principal);
    for (let more = true; more; ) {
      const below = {
        owner: ref.owner,
        parent: ref.id,
        archived: 'included',
        ephemeral: 'included',
      } as const;
      const { sessions: children } = await parts.store.list({ ...below, limit: CHILDREN });
      for (const child of children) await erase(child.ref, caller);
      more = children.length === CHILDREN;
    }
    await sessions.use(ref, async (session) => {
      const { turn, created } = session.state;
      if (!created?.parent || !turn) return;
      // Its parent learns of the end before nothing is left to tell it.
      await execute(internals, session, { command: { type: 'turn.cancel' }, caller });
      await internals.deps.subAgents.inform(session);
    });
    const erased = await sessions.use(ref, async (session) => {
      await session.link?.stop();
      // Queued together, so that nothing happens between the published end of the turn and the deletion.
      const stopped = session.transact(
        ({ turn }) => (turn ? interruption(turn, 'cancelled', streamedSoFar(session.open, parts.now)) : []),
        'always',
      );
      const [, gone] = await Promise.all([stopped, session.erase(caller.principal.id)]);
      return gone;
    });
    if (!erased) throw new Fault('not_found', 'There is no such session.');
    await parts.checkpoints
      ?.forget(ref)
      .catch((err) => parts.log.warn({ err, session: ref.id }, 'failed to remove checkpoints'));
    await parts.worktrees
      ?.forget(ref)
      .catch((err) => parts.log.warn({ err, session: ref.id }, 'failed to remove worktree'));
  }
}

/** Throws `invalid` if the key belongs to an input with other contents. */
async function checkRepeated(
  { parts }: EngineInternals,
  { ref, state }: Session,
  input: { readonly parts: readonly Part[]; readonly key: string | undefined },
): Promise<void> {
  const known = state.keys.find(({ key }) => key === input.key);
  const [earlier] = known ? await parts.store.read(ref, known.seq - 1, 1) : [];
  if (earlier?.type === 'input.accepted' && !Bun.deepEquals(earlier.parts, input.parts))
    throw new Fault('invalid', 'The idempotency key was used before in this session, for another message.');
}

function parseCommand(input: CommandInput): Command {
  const parsed = Command.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'command'}: ${issue?.message}`);
}

/** Resolves the folder. Throws `invalid` if sessions may not work there. */
async function withRealFolder(command: Command, { folders }: EngineInternals['parts']): Promise<Command> {
  if (command.type !== 'session.create' || command.cwd === undefined) return command;
  if (!folders) throw new Fault('invalid', 'This server does not allow session folders.');
  return { ...command, cwd: await folders.admit(command.cwd) };
}

/** Whether the command needs more of the state than its decision reads. */
const needsRead = (command: Command): boolean =>
  command.type === 'approval.explain' ||
  command.type === 'context.compact' ||
  (command.type === 'turn.cancel' && command.turn !== undefined) ||
  command.type === 'session.rewind' ||
  (command.type === 'input.submit' && command.replaces !== undefined);

/** Throws `budget_exhausted` if no turn may start. A message that joins a running turn or calls no model needs no budget. */
async function checkSpending(
  session: Session,
  { spending }: TurnDeps,
  {
    command,
    caller: { principal, key },
  }: { readonly command: Extract<Command, { type: 'input.submit' }>; readonly caller: Caller },
): Promise<void> {
  const isRepeated = key !== undefined && session.state.keys.some((known) => known.key === key);
  if (command.call || command.mode === 'steer' || isRepeated) return;
  const { agent, ...spender } = spenderOf(session, principal.apiKey);
  const answering = command.answeredBy ?? (session.state.created ? agent : (command.agent ?? agent));
  await spending.check({ ...spender, agent: answering, turn: null }, session);
}

async function execute(
  internals: EngineInternals,
  session: Session,
  { command, caller }: { readonly command: Command; readonly caller: Caller },
): Promise<DurableEvent[]> {
  const { parts, deps, limits, resolver, queue } = internals;
  if (needsRead(command)) await session.fresh();
  if (command.type === 'input.submit')
    checkLinks({ ...command, agent: command.answeredBy ?? command.agent }, session, deps);
  const { apiKey } = caller.principal;
  if (command.type === 'approval.explain')
    return explain(session, deps, { approval: command.approval, apiKey });
  if (command.type === 'context.compact') {
    if (session.state.turn) throw new Fault('busy', 'A turn is running; compact after it has ended.');
    await deps.spending.check(spenderOf(session, apiKey), session);
    return compactNow(session, deps, { signal: deps.clock.timeout(COMPACTION_MS), authority: 'never' });
  }
  const rewindFrom =
    command.type === 'session.rewind' && command.to !== undefined
      ? await inputSeq(session, command.to)
      : undefined;
  if (
    command.type === 'session.rewind' &&
    command.files &&
    !(await mayHaveFiles(session, deps, rewindFrom))
  ) {
    if (!command.conversation) throw new Fault('invalid', 'There is no checkpoint of files of this session.');
    return execute(internals, session, { command: { ...command, files: false }, caller });
  }
  if (command.type === 'input.submit') await checkSpending(session, deps, { command, caller });
  const known = {
    caller,
    replaced: await replacedInput(session, command),
    isKnown: await isKnown(session, command, resolver),
    maxQueued: limits.inputsQueued,
    rewindFrom,
  };
  const endsTurn = mayEndTurn(command, session.state);
  if (endsTurn) {
    // Keep the output that another node has streamed so far.
    await session.link?.stop();
    await readContext(session, deps);
  }
  const ifFree = queue.hasRoom(session) ? 'if-free' : 'never';
  return session.transact(
    (state) => {
      const context = decisionContext({ ...known, session, command }, parts);
      return withContextUse(decide(state, command, context), session, deps);
    },
    endsTurn && !queue.draining ? 'always' : ifFree,
  );
}
