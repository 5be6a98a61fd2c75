/**
 * Out: the chunks that each event adds to the message of its turn, and the stream of one turn. A frame is a chunk
 * with its turn; the streams and the history are made from the same frames.
 */
import {
  type DurableEvent,
  type EphemeralEvent,
  isDurable,
  isTurnEvent,
  type Json,
  type Link,
  limitNotice,
  type PromptPart,
  type SessionEvent,
  type TurnId,
  textOf,
  withoutPages,
  writtenQuestion,
} from '@parlance/protocol';
import type { FileUIPart, TextUIPart } from 'ai';
import type { Engine, SessionRef, SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { instructionsText } from '../kit/texts.ts';
import { finalAnswer, resultData } from '../kit/tracking.ts';
import { type TurnProjection, TurnReader } from '../kit/turn-reader.ts';
import type { Chunk, FinishReason, ServerTool } from './contract.ts';
import { type AcceptedInput, messageId } from './log.ts';

type Call = {
  /** the page that declared the tool runs it */
  readonly isPages: boolean;
  /** the model has not finished its arguments */
  readonly isWriting: boolean;
  /** the approval that was requested for the call */
  readonly approval: string | null;
};

type State = {
  readonly turn: TurnId | null;
  /**
   * the position of the client in the message: before its first step, in a step that the model is writing, in
   * one whose calls are known, or after a step
   */
  readonly step: 'none' | 'writing' | 'calling' | 'ended';
  /** the block being streamed */
  readonly block: string | null;
  /** calls without an outcome */
  readonly calls: Readonly<Record<string, Call>>;
  readonly finish: FinishReason;
  /** names of the tools that the page of this turn runs */
  readonly pageTools: readonly string[];
  /** the same for queued inputs */
  readonly declared: Readonly<Record<string, readonly string[]>>;
  /** messages that may join the turn */
  readonly joining: Readonly<Record<string, Extract<Chunk, { type: 'steering-message' }>>>;
};

const IDLE: Omit<State, 'declared'> = {
  turn: null,
  step: 'none',
  block: null,
  calls: {},
  finish: 'stop',
  pageTools: [],
  joining: {},
};

export type Body = { readonly turn: TurnId; readonly chunk: Chunk };

export const START: State = { ...IDLE, declared: {} };

export const projection: Projection<State, Body> & TurnProjection<State, Body> = {
  start: () => START,
  step,
  join: joined,
  attach: (state, now) => joined({ ...state, block: null }, now)[1].map(({ body }) => body),
};

const FINISH = {
  done: 'stop',
  calls: 'stop',
  length: 'length',
  refused: 'content-filter',
} as const satisfies Record<string, FinishReason>;

export function step(state: State, event: SessionEvent): StepResult<State, Body> {
  if (!isTurnEvent(event)) return [state, NONE];
  switch (event.type) {
    case 'input.accepted': {
      // Callers in other protocols run their own tools: for the page these are like tools of the server.
      const names = event.dialect === 'aisdk' ? (event.tools ?? []).map(({ name }) => name) : [];
      if (event.joins) {
        const id = messageId(event) ?? event.input;
        const message = {
          type: 'steering-message',
          id,
          parts: withoutPages(event.parts).map(userPart),
        } as const;
        return [{ ...state, joining: { ...state.joining, [event.input]: message } }, NONE];
      }
      if (names.length === 0) return [state, NONE];
      return [{ ...state, declared: { ...state.declared, [event.input]: names } }, NONE];
    }
    case 'input.cancelled': {
      const { [event.input]: _cancelled, ...declared } = state.declared;
      return [{ ...state, declared }, framesOf(event.turn, { type: 'abort' })];
    }
    case 'input.joined': {
      const { [event.input]: message, ...joining } = state.joining;
      if (!message) return [state, NONE];
      const last: Chunk[] = state.step === 'none' ? [] : [{ type: 'finish-step' }];
      return [{ ...state, joining, step: 'none' }, framesOf(event.turn, ...last, message)];
    }
    case 'turn.started': {
      const { turn, input } = event;
      const { [input]: pageTools = [], ...declared } = state.declared;
      return [{ ...IDLE, turn, pageTools, declared }, framesOf(turn, { type: 'start', messageId: turn })];
    }
    case 'text.delta':
    case 'reasoning.delta':
      return streamed(state, event.type === 'text.delta' ? 'text' : 'reasoning', event);
    case 'text.ended':
    case 'reasoning.ended': {
      const kind = event.type === 'text.ended' ? 'text' : 'reasoning';
      if (event.text === '' && state.block !== event.block) return [state, NONE];
      const [after, frames] = state.block === event.block ? [state, NONE] : streamed(state, kind, event);
      const end = framesOf(event.turn, { type: `${kind}-end`, id: event.block });
      return [{ ...after, block: null }, [...frames, ...end]];
    }
    case 'call.arguments.delta':
      return inStep(state, event.turn, (before) => argumentsWritten(before, event));
    case 'call.requested':
      return inStep(state, event.turn, (before) => callRequested(before, event));
    case 'step.ended': {
      const after: State = { ...state, step: 'ended', finish: FINISH[event.stop] };
      if (state.step === 'writing' || state.step === 'calling') return [after, NONE];
      return inStep(state, event.turn, () => [after, emptyText(event.id)]);
    }
    case 'step.restarted': {
      const { turn, fallback } = event;
      const [next, frames] = restarted(state, turn);
      if (!fallback) return [next, frames];
      const messageMetadata = { model: fallback.model };
      return [next, [...frames, ...framesOf(turn, { type: 'message-metadata', messageMetadata })]];
    }
    case 'turn.resumed':
      return restarted(state, event.turn);
    case 'approval.requested': {
      const { turn, call: toolCallId, approval: approvalId, ask } = event;
      const request = { toolCallId, approvalId, reason: ask.description };
      return [
        withCall(state, toolCallId, { approval: approvalId }),
        framesOf(turn, { type: 'tool-approval-request', ...request }),
      ];
    }
    case 'approval.answered': {
      const { turn, call: toolCallId, approval: approvalId, answer, reason } = event;
      const response = { toolCallId, approvalId, approved: answer !== 'deny', ...(reason && { reason }) };
      return [state, framesOf(turn, { type: 'tool-approval-response', ...response })];
    }
    case 'tool.ended':
      return toolEnded(state, event);
    case 'turn.ended': {
      const last = state.step === 'none' ? [] : [{ type: 'finish-step' } as const];
      return ended(state, event.turn, [...last, { type: 'finish', finishReason: state.finish }]);
    }
    case 'turn.failed':
      return ended(state, event.turn, [{ type: 'error', errorText: event.fault.message }]);
    case 'turn.cancelled':
      return ended(state, event.turn, [{ type: 'abort' }]);
    case 'limit.approached': {
      const data = { ...event.limit, text: limitNotice(event.limit) };
      return [state, [{ body: { turn: event.turn, chunk: { type: 'data-limit', data, transient: true } } }]];
    }
    case 'instructions.changed': {
      const text = instructionsText(event);
      if (text === null || !event.turn) return [state, NONE];
      const data = { files: event.files, text };
      return [
        state,
        [{ body: { turn: event.turn, chunk: { type: 'data-instructions', data, transient: true } } }],
      ];
    }
    case 'question.asked':
    case 'question.repeated': {
      const { turn, id: block } = event;
      const [after, frames] = streamed(state, 'text', { turn, block, text: writtenQuestion(event) });
      return [{ ...after, block: null }, [...frames, ...framesOf(turn, { type: 'text-end', id: block })]];
    }
    case 'question.answered':
    case 'files.rewound':
    case 'agent.changed':
    case 'approval.explained':
    case 'tool.started':
    case 'call.deferred':
    case 'call.delegated':
      return [state, NONE];
    case 'call.progress': {
      const { call: toolCallId, message: text } = event;
      if (state.turn === null || text === undefined) return [state, NONE];
      const data = { toolCallId, text };
      return [
        state,
        [{ body: { turn: state.turn, chunk: { type: 'data-progress', data, transient: true } } }],
      ];
    }
  }
}

/** The output being streamed so far, for a reader of the stored events. */
export function joined(before: State, { open, openArguments }: SessionSnapshot): StepResult<State, Body> {
  const frames: Frame<Body>[] = [];
  let state = before;
  const add = ([next, more]: StepResult<State, Body>) => {
    state = next;
    frames.push(...more);
  };
  if (open && open.turn === state.turn && open.text !== '') add(streamed(state, open.kind, open));
  for (const written of openArguments)
    if (written.turn === state.turn)
      add(inStep(state, written.turn, (now) => argumentsWritten(now, { ...written, offset: 0 })));
  return [state, frames];
}

/** A part of a message that a user wrote. */
export const userPart = (part: PromptPart): TextUIPart | FileUIPart =>
  part.type === 'text'
    ? part.link
      ? linkedFile(part.link)
      : { type: 'text', text: part.text }
    : {
        type: 'file',
        mediaType: part.mime,
        ...(part.type === 'file' && { filename: part.name }),
        url: fileUrl(part),
      };

const linkedFile = ({ kind, url, mime, name }: Link) => ({
  type: 'file' as const,
  mediaType: mime ?? (kind === 'image' ? 'image/*' : 'application/octet-stream'),
  ...(name !== undefined && { filename: name }),
  url,
});

const framesOf = (turn: TurnId, ...chunks: Chunk[]): Frame<Body>[] =>
  chunks.map((chunk) => ({ body: { turn, chunk } }));

/**
 * The text of an empty answer. Without it, clients mistake the previous step for the last one and send its
 * results again.
 */
const emptyText = (id: string): readonly Chunk[] => [
  { type: 'text-start', id },
  { type: 'text-end', id },
];

type Text = { readonly turn: TurnId; readonly block: string; readonly text: string };

/** Called for each token: one chunk and the same state, unless a block starts. */
function streamed(state: State, kind: 'text' | 'reasoning', event: Text): StepResult<State, Body> {
  const { turn, block: id, text } = event;
  const delta = { type: `${kind}-delta`, id, delta: text } as const;
  if (state.block === id) return [state, framesOf(turn, delta)];
  return inStep(state, turn, (before) => [
    { ...before, step: 'writing', block: id },
    [{ type: `${kind}-start`, id }, delta],
  ]);
}

/** Starts a step first, unless the message is in one. */
function inStep(
  before: State,
  turn: TurnId,
  change: (state: State) => readonly [State, readonly Chunk[]],
): StepResult<State, Body> {
  const isOpen = before.step === 'writing' || before.step === 'calling';
  const begins: Chunk[] = isOpen
    ? []
    : [...(before.step === 'ended' ? [{ type: 'finish-step' } as const] : []), { type: 'start-step' }];
  const [state, chunks] = change(isOpen ? before : { ...before, step: 'writing' });
  return [state, framesOf(turn, ...begins, ...chunks)];
}

/** Discards the output of the step. A step whose calls are known is not repeated. */
function restarted(state: State, turn: TurnId): StepResult<State, Body> {
  if (state.step !== 'writing') return [{ ...state, block: null }, NONE];
  const kept = Object.entries(state.calls).filter(([, { isWriting }]) => !isWriting);
  const next = { ...state, block: null, calls: Object.fromEntries(kept) };
  return [next, framesOf(turn, { type: 'reset-step' })];
}

const ended = ({ declared }: State, turn: TurnId, chunks: readonly Chunk[]): StepResult<State, Body> => [
  { ...IDLE, declared },
  framesOf(turn, ...chunks),
];

// The chunks of tool calls.

const SERVER: ServerTool = { providerExecuted: true, dynamic: true };

const marks = (isPages: boolean): ServerTool => (isPages ? {} : SERVER);

/** The page runs its own tools, and its user answers questions. */
const isAnsweredByPage = ({ pageTools }: State, tool: string): boolean =>
  tool === 'ask_user' || pageTools.includes(tool);

const withCall = (state: State, id: string, change: Partial<Call>): State => {
  const call = state.calls[id];
  return call ? { ...state, calls: { ...state.calls, [id]: { ...call, ...change } } } : state;
};

/** A call is known from the first of its arguments, or whole. */
function callStarted(state: State, toolCallId: string, toolName: string): readonly [State, readonly Chunk[]] {
  if (state.calls[toolCallId]) return [state, []];
  const isPages = isAnsweredByPage(state, toolName);
  const call: Call = { isPages, isWriting: true, approval: null };
  return [
    { ...state, calls: { ...state.calls, [toolCallId]: call } },
    [{ type: 'tool-input-start', toolCallId, toolName, ...marks(isPages) }],
  ];
}

type Written = Pick<EphemeralEvent<'call.arguments.delta'>, 'call' | 'tool' | 'offset' | 'text'>;

function argumentsWritten(before: State, { call: toolCallId, tool, offset, text }: Written) {
  if (!before.calls[toolCallId] && offset > 0) return [before, []] as const;
  const [state, started] = callStarted(before, toolCallId, tool);
  const delta: Chunk[] = text === '' ? [] : [{ type: 'tool-input-delta', toolCallId, inputTextDelta: text }];
  return [state, [...started, ...delta]] as const;
}

function callRequested(before: State, event: DurableEvent<'call.requested'>) {
  const { call: toolCallId, tool: toolName, input } = event;
  const [state, started] = callStarted(before, toolCallId, toolName);
  const whole = { toolCallId, toolName, input, ...marks(isAnsweredByPage(state, toolName)) };
  return [
    { ...withCall(state, toolCallId, { isWriting: false }), step: 'calling' },
    [...started, { type: 'tool-input-available', ...whole }],
  ] as const;
}

/** The answer of a turn that ends with a call is a step of its own. */
function toolEnded(before: State, event: DurableEvent<'tool.ended'>): StepResult<State, Body> {
  const { turn, id } = event;
  const { [event.call]: call, ...calls } = before.calls;
  const state = { ...before, calls };
  const outcome = call ? framesOf(turn, outcomeOf(call, event)) : NONE;
  const text = finalAnswer(event);
  if (text === null) return [state, outcome];
  const [after, shown] = streamed(state, 'text', { turn, block: id, text });
  return [
    { ...after, block: null, step: 'ended' },
    [...outcome, ...shown, ...framesOf(turn, { type: 'text-end', id })],
  ];
}

function outcomeOf(call: Call, event: DurableEvent<'tool.ended'>): Chunk {
  const toolCallId = event.call;
  if (event.outcome === 'ok')
    return {
      type: 'tool-output-available',
      toolCallId,
      output: outputOf(call, event),
      ...marks(call.isPages),
    };
  // A denial without an approval comes from a rule of the server.
  if (event.outcome === 'denied' && call.approval !== null) return { type: 'tool-output-denied', toolCallId };
  const errorText = textOf(event.parts) || 'The call failed.';
  return { type: 'tool-output-error', toolCallId, errorText, ...marks(call.isPages) };
}

/** The page receives its own value again, not the text that the model received. */
function outputOf({ isPages }: Call, event: DurableEvent<'tool.ended'>): Json {
  const data = resultData(event);
  if (isPages && data && 'output' in data) return data.output ?? null;
  return data ?? partsValue(withoutPages(event.parts));
}

const partsValue = (parts: readonly PromptPart[]): Json =>
  parts.every(({ type }) => type === 'text')
    ? textOf(parts)
    : parts.map((part) =>
        part.type === 'text' ? part : { type: 'file', mediaType: part.mime, url: fileUrl(part) },
      );

/** Images and files are URLs in messages. */
export const fileUrl = ({ mime, data }: Exclude<PromptPart, { type: 'text' }>): string =>
  `data:${mime};base64,${data}`;

// The stream of one turn.

export const encode = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;

export const DONE = 'data: [DONE]\n\n';

/** Merges texts and arguments for a slow reader. */
export const pieces: Pieces<Chunk> = {
  key(chunk) {
    if ('delta' in chunk) return `${chunk.type} ${chunk.id}`;
    return chunk.type === 'tool-input-delta' ? `${chunk.type} ${chunk.toolCallId}` : null;
  },
  text(chunk) {
    if ('delta' in chunk) return chunk.delta;
    return chunk.type === 'tool-input-delta' ? chunk.inputTextDelta : '';
  },
  with(chunk, text) {
    if ('delta' in chunk) return { ...chunk, delta: text };
    return chunk.type === 'tool-input-delta' ? { ...chunk, inputTextDelta: text } : chunk;
  },
};

/** What the client has of the continued message. */
export type ClientPosition = {
  readonly turn: TurnId;
  /** the client has everything up to this event */
  readonly through: number;
  /** calls whose outcome the client has */
  readonly outcomes: ReadonlySet<string>;
  /** approvals that the client answered, with the answer */
  readonly approvals: ReadonlyMap<string, boolean>;
};

export type FollowTarget = {
  readonly ref: SessionRef;
  /** the input of the turn */
  readonly input: AcceptedInput;
  /** null: the message is sent from its start */
  readonly known: ClientPosition | null;
};

type Client = {
  chunk(chunk: Chunk): void;
  /** Resolves when the chunks so far have been sent, or the reader has disconnected. */
  ready(): Promise<void>;
  /** nothing follows */
  ended(): void;
};

/**
 * Follows a turn from its start, or from the position of the client. Stored events are read at the pace of the
 * client, which may be slow.
 */
export function followTurn(
  engine: Engine,
  { ref, input, known }: FollowTarget,
  client: Client,
): Promise<TurnReader<State, Body>> {
  /** the current step has ended for the client */
  let isStepFinished = known !== null;
  // A continued message starts again with its id.
  if (known) client.chunk({ type: 'start', messageId: known.turn });
  return TurnReader.follow(engine, ref, {
    projection,
    after: input.seq - 1,
    state: START,
    target: { input: input.input, turn: null },
    listener: (reader) => {
      const end = () => {
        reader.stop();
        client.ended();
      };
      return {
        update({ chunk }, event) {
          if (known && isKnown(known, chunk, event)) return;
          if (input.answers !== undefined && event?.type === 'input.joined' && event.input === input.input) {
            // The page has its own message: the rest of the turn is the answer to it.
            if (chunk.type === 'steering-message') client.chunk({ type: 'start', messageId: event.own });
            return;
          }
          if (chunk.type === 'finish-step' && isStepFinished) return;
          if (chunk.type === 'start-step') isStepFinished = false;
          client.chunk(chunk);
          if (LAST.has(chunk.type)) end();
        },
        /** Ends the stream if only an answer of the page or a user is missing. */
        status(status) {
          if (status.kind !== 'blocked' || !reader.follows(status.turn)) return;
          if (!isStepFinished) client.chunk({ type: 'finish-step' });
          client.chunk({ type: 'finish', finishReason: 'tool-calls' });
          end();
        },
        ended() {
          client.chunk({ type: 'error', errorText: 'The chat was deleted.' });
          end();
        },
        ready: () => client.ready(),
      };
    },
  });
}

/** The last chunks of a stream. */
const LAST: ReadonlySet<Chunk['type']> = new Set(['finish', 'error', 'abort']);

function isKnown(known: ClientPosition, chunk: Chunk, event: SessionEvent | null): boolean {
  if (event && isDurable(event) && event.seq <= known.through) return true;
  switch (chunk.type) {
    case 'start':
      return true;
    case 'tool-approval-response':
      return known.approvals.get(chunk.approvalId) === chunk.approved;
    case 'tool-output-available':
    case 'tool-output-error':
    case 'tool-output-denied':
      return known.outcomes.has(chunk.toolCallId);
    default:
      return false;
  }
}
