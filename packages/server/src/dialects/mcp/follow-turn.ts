/**
 * Answers a `tools/call` with the outcome of a turn that it started or continued: the result, a form for the user, or the state of
 * the turn when the time is up.
 */
import type { CallToolResult, ElicitRequestFormParams } from '@modelcontextprotocol/client';
import {
  type ApprovalId,
  type DurableEvent,
  Fault,
  type JsonObject,
  type Permission,
  type Principal,
  promptParts,
  type QuestionId,
  type ReadAnswer,
  TurnId,
  visibleJson,
} from '@parlance/protocol';
import { z } from 'zod';
import type { Engine, OpenQuestion, PendingApproval, SessionRef } from '../../core/index.ts';
import { notificationMessage, RequestId, type RpcId, requestMessage } from '../kit/json-rpc.ts';
import { formAnswers, formSchema } from '../kit/question-forms.ts';
import { Answer } from '../kit/request-turn.ts';
import { parseBody } from '../kit/serve-endpoints.ts';
import { wholeText } from '../kit/texts.ts';
import { readUpdates, type UpdateReader } from '../kit/turn-updates.ts';
import type { Context, FormNotice, Peer } from './clients.ts';
import { MODERN } from './contract.ts';
import { ownResult } from './outbound.ts';

/** Messages to the client before the result. */
export type CallStream = {
  send(message: object): void;
  /** The stream can be resumed from here, with this id. */
  prime(id: string): void;
  /** Resolves when everything has been written. */
  ready(): Promise<void>;
};

/** One `tools/call` request. */
export type ToolCall = {
  readonly id: RequestId;
  readonly principal: Principal;
  readonly peer: Peer;
  readonly progressToken: RequestId | undefined;
  /** null if the response is not a stream */
  readonly stream: CallStream | null;
  /** When this time is reached the call is answered, even if the turn is still running. */
  readonly until: number;
  /** aborted if the client disconnects, or cancels the call: the reason is then `CALL_CANCELLED` */
  readonly signal: AbortSignal;
};

export const CALL_CANCELLED = Symbol('call cancelled');

/** A turn, or the rest of one. Sufficient to find it again after a restart. */
export type FollowedTurn = {
  readonly ref: SessionRef;
  readonly turn: TurnId;
  /** follows the events after this number */
  readonly after: number;
};

type TurnEnd =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed'; readonly message: string };

/** `shows`: the text of the agent, or the result of a direct call. */
export async function followTurn(
  ctx: Context,
  call: ToolCall,
  followed: FollowedTurn,
  shows: 'turn' | 'call' = 'turn',
): Promise<object> {
  const { engine, now, settings } = ctx;
  const { signal, until, stream, peer } = call;
  const { ref, turn, after } = followed;
  const answer = new Answer(false, () => false);
  let end: TurnEnd | null = null;
  /** those of the session, including those of an earlier turn */
  let approvals: readonly PendingApproval[] = [];
  let asked: readonly OpenQuestion[] = [];
  let isLate = false;
  let reader: UpdateReader | null = null;

  let change = Promise.withResolvers<void>();
  const changed = () => change.resolve();
  const timer = setTimeout(
    () => {
      isLate = true;
      changed();
    },
    Math.max(0, until - now()),
  );
  signal.addEventListener('abort', changed);
  const forms = new Forms(ctx, call, changed);
  const progress = new Progress(call, {
    text: () => answer.text,
    elapsed: () => now() - until + settings.toolCallWithin,
  });
  const questions = new Questions(ctx, call);
  const stopAsked = ctx.clients.onAsked.add(changed);
  const result = async () =>
    (shows === 'call' && (await callResult(engine, followed))) ||
    turnResult(followed, answer.text, end, approvals, asked);
  try {
    if (peer.era === 'legacy' && peer.version >= '2025-11-25')
      stream?.prime(encodeState(followed, { request: call.id, progress: call.progressToken, until }));
    reader = await readUpdates(engine, ref, { after });
    const { now: live } = reader;
    reader.follow(
      { input: null, turn },
      {
        update(update) {
          if (end) return;
          answer.add(update);
          if (update.kind === 'text' || update.kind === 'restarted') progress.update();
        },
        status() {
          const snapshot = live?.snapshot();
          approvals = snapshot?.approvals ?? [];
          asked = snapshot?.questions ?? [];
          changed();
        },
        ended(fault) {
          end ??= endOf(fault);
          changed();
        },
      },
    );
    for (;;) {
      if (signal.aborted) {
        // Streams also close when the server shuts down; its turns continue after the next start.
        if (signal.reason !== CALL_CANCELLED || engine.draining) return result();
        await cancelTurn(ctx, call.principal, followed);
        return turnResult(followed, answer.text, { status: 'cancelled' }, []);
      }
      if (end || isLate) return result();
      const pending = [...approvals, ...asked].map(formFor);
      if (pending.some((form) => !mayAsk(call, form))) return result();
      if (pending.length > 0 && peer.era === 'modern') return inputRequired(followed, pending);
      forms.show(pending);
      if (forms.isRefused) return result();
      if (ctx.clients.asked(ref.id).length > 0) {
        // What is asked at the same time is one result.
        if (peer.era === 'modern') await new Promise((resume) => setTimeout(resume));
        const asked = ctx.clients.asked(ref.id);
        if (asked.length > 0 && peer.era === 'modern') return questionsResult(followed, asked);
        questions.show(asked);
      }
      await change.promise;
      change = Promise.withResolvers();
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', changed);
    forms.close();
    stopAsked();
    progress.stop();
    reader?.stop();
  }
}

/** Null if the call has not ended. */
async function callResult(engine: Engine, { ref, after }: FollowedTurn): Promise<CallToolResult | null> {
  const events = await engine.events(ref, after, MAX_CALL_EVENTS);
  const ended = events.find((event): event is DurableEvent<'tool.ended'> => event.type === 'tool.ended');
  return ended ? ownResult(promptParts(ended.parts), ended.data, ended.outcome !== 'ok') : null;
}

/** The session of a direct call has only the events of that call. */
const MAX_CALL_EVENTS = 100;

function endOf(fault: Fault | null): TurnEnd {
  if (!fault) return { status: 'done' };
  return fault.code === 'cancelled' ? { status: 'cancelled' } : { status: 'failed', message: fault.message };
}

async function cancelTurn({ engine }: Context, principal: Principal, followed: FollowedTurn): Promise<void> {
  try {
    const command = { type: 'turn.cancel', turn: followed.turn } as const;
    await engine.send(followed.ref, command, { principal, dialect: 'mcp' });
  } catch (thrown) {
    // The turn has already ended.
    if (!(thrown instanceof Fault && thrown.code === 'no_turn')) throw thrown;
  }
}

// The result of the tool

export const ApprovalView = z.object({
  id: z.string(),
  tool: z.string(),
  input: z.record(z.string(), z.unknown()),
  description: z.string(),
});

export const approvalView = ({
  approval,
  tool,
  input,
  ask,
}: PendingApproval): z.output<typeof ApprovalView> => ({
  id: approval,
  tool,
  input: visibleJson(input) as JsonObject,
  description: ask.description,
});

export const TurnView = z.object({
  session: z.string().describe('id of the session; pass it to continue the conversation'),
  turn: z.string(),
  status: z
    .enum(['done', 'running', 'waiting', 'cancelled', 'failed'])
    .describe(
      'running: the turn continues, read it later with read_session; waiting: for an approval, or for the answer to a question',
    ),
  text: z.string().describe('the text of the agent'),
  approval: ApprovalView.optional().describe('what waits for an answer with answer_approval'),
});

function turnResult(
  { ref, turn }: FollowedTurn,
  answer: string,
  end: TurnEnd | null,
  [pending]: readonly PendingApproval[],
  [asked]: readonly OpenQuestion[] = [],
): CallToolResult {
  const status = end?.status ?? (pending || asked ? 'waiting' : 'running');
  // A question is part of the text.
  const text = [answer, !end && !pending && asked ? ANSWER_QUESTION : note(end, pending)]
    .filter((part) => part !== '')
    .join('\n\n');
  const structuredContent: z.output<typeof TurnView> = {
    session: ref.id,
    turn,
    status,
    text,
    ...(status === 'waiting' && pending && { approval: approvalView(pending) }),
  };
  return {
    content: [{ type: 'text', text }],
    structuredContent,
    ...(status === 'failed' && { isError: true }),
  };
}

const ANSWER_QUESTION = 'Ask the user, and send the answer with send_message and this session.';

/** The line after the agent's text, unless the turn has succeeded. */
function note(end: TurnEnd | null, pending: PendingApproval | undefined): string {
  if (end?.status === 'failed') return end.message;
  if (end) return end.status === 'done' ? '' : 'The turn was cancelled.';
  if (!pending) return 'The agent is still working. Read the session later with read_session.';
  const { approval, tool, ask } = pending;
  return `Waiting for approval of ${tool}: ${wholeText(ask)} Answer with answer_approval (approval: ${approval}).`;
}

// Approvals and questions as forms that a client shows to its user.

/** Whether the user of the client can be asked, and has the permission to decide. */
const mayAsk = ({ peer, stream, principal }: ToolCall, { needs }: Form): boolean =>
  peer.hasForms && (peer.era === 'modern' || stream !== null) && principal.permissions.includes(needs);

const ANSWERS = ['once', 'always', 'deny'] as const;

const FORM_SCHEMA = {
  type: 'object' as const,
  properties: {
    answer: {
      type: 'string' as const,
      title: 'Answer',
      description:
        'once: allow this call; always: allow such calls in this session from now on; deny: do not run it',
      enum: [...ANSWERS],
    },
  },
  required: ['answer'],
} satisfies ElicitRequestFormParams['requestedSchema'];

/** What a client can show as a form. The id says what is answered, so that no answer counts for something else. */
type Form = {
  readonly id: string;
  readonly needs: Permission;
  readonly message: string;
  readonly schema: (version: string) => ElicitRequestFormParams['requestedSchema'];
};

const QUESTION_FORM = 'question:';

function formFor(pending: PendingApproval | OpenQuestion): Form {
  if ('approval' in pending) {
    const { approval: id, tool, ask } = pending;
    const message = `Approval for the tool ${tool}: ${wholeText(ask)}`.trimEnd();
    return { id, needs: 'tool:approve', message, schema: () => FORM_SCHEMA };
  }
  return {
    id: QUESTION_FORM + pending.question,
    needs: pending.requires === 'approve' ? 'tool:approve' : 'chat:send',
    message: [...(pending.title ? [pending.title] : []), ...pending.questions.map(({ text }) => text)].join(
      '\n',
    ),
    schema: (version) => formSchema(pending, { arrays: version >= '2025-11-25' }),
  };
}

/** The parameters of `elicitation/create`. The mode was added in 2025-11-25. */
const formOf = ({ message, schema }: Form, version: string): ElicitRequestFormParams => ({
  ...(version >= '2025-11-25' && { mode: 'form' as const }),
  message,
  requestedSchema: schema(version),
});

/** Since 2026-07-28 the client calls the tool again with the answers. */
const inputRequired = (followed: FollowedTurn, forms: readonly Form[]) => ({
  resultType: 'input_required',
  inputRequests: Object.fromEntries(
    forms.map((form) => [form.id, { method: 'elicitation/create', params: formOf(form, MODERN) }]),
  ),
  requestState: encodeState(followed),
});

/** A tool of the operator asks the client. */
const questionsResult = (followed: FollowedTurn, asked: readonly FormNotice[]) => ({
  resultType: 'input_required',
  inputRequests: Object.fromEntries(asked.map(({ name, method, params }) => [name, { method, params }])),
  requestState: encodeState(
    followed,
    undefined,
    asked.map(({ id }) => id),
  ),
});

/** Before 2026-07-28 a client receives the requests on the stream of the call. */
class Questions {
  readonly #shown = new Set<string>();

  constructor(
    private readonly ctx: Pick<Context, 'clients'>,
    private readonly call: ToolCall,
  ) {}

  show(asked: readonly FormNotice[]): void {
    for (const { id, method, params, principal } of asked) {
      if (this.#shown.has(id)) continue;
      this.#shown.add(id);
      if (this.call.stream) this.call.stream.send(requestMessage(QUESTION + id, method, params));
      else this.ctx.clients.tell({ type: 'replied', principal, id });
    }
  }
}

const QUESTION = 'question/';

/** The id of the tool's request that a client answers; null if the answer is about something else. */
export const questionIn = (id: RpcId): string | null =>
  typeof id === 'string' && id.startsWith(QUESTION) ? id.slice(QUESTION.length) : null;

type OpenForm = { readonly id: string; isAnswered: boolean; readonly remove: () => void };

/** Before 2026-07-28 a client receives the forms on the stream of the call. */
class Forms {
  readonly #forms = new Map<string, OpenForm>();
  /** the client cannot show forms */
  isRefused = false;

  constructor(
    private readonly ctx: Pick<Context, 'clients' | 'newId'>,
    private readonly call: ToolCall,
    private readonly changed: () => void,
  ) {}

  /** Requests the pending answers, and withdraws those that were given elsewhere. */
  show(pending: readonly Form[]): void {
    for (const form of pending) if (!this.#forms.has(form.id)) this.#request(form);
    for (const [form, { id, isAnswered, remove }] of this.#forms) {
      if (pending.some((one) => one.id === form)) continue;
      remove();
      this.#forms.delete(form);
      if (isAnswered) continue;
      const params = { requestId: id, reason: 'It was answered elsewhere.' };
      this.call.stream?.send(notificationMessage('notifications/cancelled', params));
    }
  }

  /** The client may still answer open forms. */
  close(): void {
    for (const { remove } of this.#forms.values()) remove();
  }

  #request(pending: Form): void {
    const { principal, peer, stream } = this.call;
    // Contains what is answered, so that an answer is understood after a restart and on another node.
    const id = `${pending.id}/${this.ctx.newId()}`;
    const form: OpenForm = {
      id,
      isAnswered: false,
      remove: this.ctx.clients.addForm(principal.id, id, (outcome) => {
        form.isAnswered = true;
        if (outcome === 'refused') this.isRefused = true;
        this.changed();
      }),
    };
    this.#forms.set(pending.id, form);
    stream?.send(requestMessage(id, 'elicitation/create', formOf(pending, peer.version)));
  }
}

/** What a form that was requested with this id is about. */
export const formIn = (id: RpcId): string => String(id).split('/', 1)[0] ?? '';

const Accepted = z.object({
  action: z.literal('accept'),
  content: z.object({ answer: z.enum(ANSWERS) }),
});

/** Passes the answer to the core. The first one wins; a late one is ignored. */
export async function answerForm(
  { engine }: Pick<Context, 'engine'>,
  principal: Principal,
  form: string,
  response: unknown,
): Promise<void> {
  if (form.startsWith(QUESTION_FORM))
    return answerQuestion(engine, principal, form.slice(QUESTION_FORM.length) as QuestionId, response);
  const accepted = Accepted.safeParse(response);
  // Anything but a clear permission is a denial.
  const answer = accepted.success ? accepted.data.content.answer : 'deny';
  try {
    await engine.answer(form as ApprovalId, { answer }, { principal, dialect: 'mcp' });
  } catch (thrown) {
    if (!(thrown instanceof Fault) || !LATE.has(thrown.code)) throw thrown;
  }
}

/** A form that was closed gives no answer. An invalid answer leaves the question as it is. */
async function answerQuestion(
  engine: Engine,
  principal: Principal,
  question: QuestionId,
  response: unknown,
): Promise<void> {
  const ref = await engine.lookup(principal, { kind: 'question', id: question });
  const asked = ref && (await engine.snapshot(ref)).questions.find((one) => one.question === question);
  if (!ref || !asked) return;
  const accepted = AcceptedForm.safeParse(response);
  const read: ReadAnswer = accepted.success
    ? formAnswers(asked, accepted.data.content)
    : { outcome: 'declined' };
  if ('problem' in read) throw new Fault('invalid', read.problem);
  const answer = read.outcome === 'declined' ? { declined: true } : { answers: read.answers };
  try {
    await engine.answerQuestion(question, answer, { principal, dialect: 'mcp' });
  } catch (thrown) {
    if (!(thrown instanceof Fault) || !LATE.has(thrown.code)) throw thrown;
  }
}

const AcceptedForm = z.object({ action: z.literal('accept'), content: z.record(z.string(), z.unknown()) });

const LATE: ReadonlySet<string> = new Set(['no_approval', 'not_found']);

// `notifications/progress` while an agent writes. Each has the whole text so far, so they are sent at
// intervals.

const INTERVAL_MS = 100;
/** Also sent without new text, for clients that extend their timeout on progress. */
const SILENCE_MS = 10_000;

class Progress {
  #last = 0;
  #isDue = false;
  #isRunning = false;
  #isOver = false;
  readonly #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly call: Pick<ToolCall, 'stream' | 'progressToken'>,
    private readonly source: { text(): string; elapsed(): number },
  ) {
    if (this.#isWanted) this.#heartbeat = setInterval(() => this.#send(), SILENCE_MS);
  }

  /** The text has changed. */
  update(): void {
    if (!this.#isWanted || this.#isOver) return;
    this.#isDue = true;
    if (!this.#isRunning) void this.#run();
  }

  /** Sends the pending notification, and stops. */
  stop(): void {
    clearInterval(this.#heartbeat);
    this.#isOver = true;
    if (this.#isDue) this.#send();
  }

  get #isWanted(): boolean {
    return this.call.progressToken !== undefined && this.call.stream !== null;
  }

  /** A slow reader gets the next notification after it has read the last one. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDue && !this.#isOver) {
      this.#send();
      await this.call.stream?.ready();
      await Bun.sleep(INTERVAL_MS);
    }
    this.#isRunning = false;
  }

  #send(): void {
    this.#isDue = false;
    // Milliseconds since the call started, so that they also increase if the stream is resumed after a restart.
    this.#last = Math.max(this.#last + 1, this.source.elapsed());
    const message = this.source.text();
    const params = {
      progressToken: this.call.progressToken,
      progress: this.#last,
      ...(message !== '' && { message }),
    };
    this.call.stream?.send(notificationMessage('notifications/progress', params));
  }
}

// The turn that a call follows, encoded for clients that send it back: the `requestState` of 2026-07-28, and the event id from
// which a stream is resumed. It is neither secret nor signed, because access to the session is checked.

const State = z.object({ session: z.string(), after: z.int().min(0), turn: TurnId });

/** For a stream: the request that it answers, and its deadline. */
const Resumable = z.object({ request: RequestId, progress: RequestId.optional(), until: z.number() });
type Resumable = z.output<typeof Resumable>;

/** `asked` makes the state of each round another. */
function encodeState(
  { ref, after, turn }: FollowedTurn,
  resumable?: Resumable,
  asked?: readonly string[],
): string {
  const state = { session: ref.id, turn, after, ...resumable, asked };
  return Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** Null if the text is not ours, or is about a session that the principal does not have. */
export async function decodeState(
  engine: Engine,
  principal: Principal,
  text: string,
): Promise<{ readonly followed: FollowedTurn; readonly resumable: Resumable | null } | null> {
  const parsed = parseBody(Buffer.from(text, 'base64url'));
  const value = 'value' in parsed ? parsed.value : null;
  const state = State.safeParse(value);
  const ref = state.success ? await engine.find(principal, state.data.session) : null;
  if (!state.success || !ref) return null;
  const { turn, after } = state.data;
  return { followed: { ref, turn, after }, resumable: Resumable.safeParse(value).data ?? null };
}
