/**
 * Out: converts the output of a turn to protocol events. Message ids are derived from the log, so a message has
 * the same id in a stream, in a snapshot and after a restart: the text and the calls of one model answer are
 * the message `<turn>-<number of the answer>`, a reasoning block has its own id, and a result has that of its
 * event.
 */
import type { ContentPart, Interrupt } from '@ag-ui/core';
import {
  type DurableEvent,
  type FaultData,
  isTurnEvent,
  type JsonObject,
  type Link,
  limitNotice,
  type Part,
  pathText,
  type SessionEvent,
  type TurnId,
  textOf,
  textPart,
  type Usage,
  withoutPages,
  writtenQuestion,
} from '@parlance/protocol';
import type { OpenQuestion, PendingApproval, SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { formSchema } from '../kit/question-forms.ts';
import { instructionsText } from '../kit/texts.ts';
import { finalAnswer } from '../kit/tracking.ts';
import type { TurnProjection } from '../kit/turn-reader.ts';
import type { AguiEvent, ContentEvent, DeltaEvent } from './contract.ts';
import { changesOf, STATE_TOOL } from './shared-state.ts';

// Calls while the model writes their arguments.

type CallWriting = {
  readonly call: string;
  /** number of characters of the arguments that were shown */
  readonly length: number;
};

const NOTHING_WRITTEN: readonly CallWriting[] = [];

type Written = { readonly writing: readonly CallWriting[]; readonly events: readonly ContentEvent[] };

type ArgumentsPart = {
  readonly call: string;
  readonly tool: string;
  readonly offset: number;
  readonly text: string;
};

/** `message` is the message that the call belongs to. */
function writeCall(
  writing: readonly CallWriting[],
  { call, tool, offset, text }: ArgumentsPart,
  message: string,
): Written {
  const known = writing.find((one) => one.call === call);
  if (offset !== (known?.length ?? 0)) return { writing, events: [] };
  const next = { call, length: offset + text.length };
  const events = [...(known ? [] : [callStarted(call, tool, message)]), ...written(call, text)];
  return { writing: [...writing.filter((one) => one !== known), next], events };
}

/** The call is complete: shows the rest of its arguments. */
function endCall(
  writing: readonly CallWriting[],
  { call, tool, input }: DurableEvent<'call.requested'>,
  message: string,
): Written {
  const known = writing.find((one) => one.call === call);
  const events = [
    ...(known ? [] : [callStarted(call, tool, message)]),
    ...(known && known.length > 0 ? [] : written(call, JSON.stringify(input))),
    { type: 'TOOL_CALL_END', toolCallId: call } as const,
  ];
  return { writing: writing.filter((one) => one !== known), events };
}

/** Closes interrupted calls. */
const endWriting = (writing: readonly CallWriting[]): ContentEvent[] =>
  writing.map(({ call }) => ({ type: 'TOOL_CALL_END', toolCallId: call }));

const callStarted = (call: string, tool: string, message: string): ContentEvent => ({
  type: 'TOOL_CALL_START',
  toolCallId: call,
  toolCallName: tool,
  parentMessageId: message,
});

const written = (call: string, text: string): ContentEvent[] =>
  text === '' ? [] : [{ type: 'TOOL_CALL_ARGS', toolCallId: call, delta: text }];

export type Update = { readonly turn: TurnId } & (
  | { readonly kind: 'started'; readonly input: string }
  /** the queued input was withdrawn */
  | { readonly kind: 'dropped'; readonly input: string }
  | { readonly kind: 'event'; readonly event: ContentEvent }
  /** the call has changed the shared state */
  | { readonly kind: 'state'; readonly call: string; readonly changes: JsonObject }
  /** output since the last complete answer is discarded; it was shown */
  | { readonly kind: 'discarded' }
  | { readonly kind: 'answered'; readonly usage: Usage }
  | { readonly kind: 'ended' | 'cancelled' }
  | { readonly kind: 'failed'; readonly fault: FaultData }
);

/** The block being streamed. */
type OpenBlock = {
  readonly kind: 'text' | 'reasoning';
  readonly block: string;
  readonly message: string;
  /** its message was ended by a call, and is restarted if more text follows */
  readonly paused: boolean;
};

export type State = {
  readonly turn: TurnId | null;
  /** number of model answers in this turn so far, including interrupted ones */
  readonly answers: number;
  /** number of texts in the current answer so far */
  readonly texts: number;
  readonly open: OpenBlock | null;
  /** calls whose arguments are being streamed */
  readonly writing: readonly CallWriting[];
  /** part of the current answer was shown */
  readonly shown: boolean;
  /** parts of other agents, with the call of a sub-agent */
  readonly steps: readonly { readonly name: string; readonly call: string | null }[];
  /** what the open calls of tools that are shown otherwise were given */
  readonly inputs: Readonly<Record<string, Pick<DurableEvent<'call.requested'>, 'tool' | 'input'>>>;
  /** messages that may join the turn */
  readonly joining: Readonly<Record<string, { readonly id: string; readonly text: string }>>;
};

export const IDLE: State = {
  turn: null,
  answers: 0,
  texts: 0,
  open: null,
  writing: NOTHING_WRITTEN,
  shown: false,
  steps: [],
  inputs: {},
  joining: {},
};

export const projection: Projection<State, Update> & TurnProjection<State, Update> = {
  start: () => IDLE,
  step,
  join,
  attach: (state, now) => join(state, now)[1].map(({ body }) => body),
};

/** The output being streamed so far, for a reader of the log: its events, and the state after them. */
function join(state: State, { open, openArguments }: SessionSnapshot): StepResult<State, Update> {
  const [joined, updates] = open
    ? delta(state, { ...open, type: `${open.kind}.delta` })
    : [state, NONE as StepResult<State, Update>[1]];
  let next = joined;
  const all = [...updates];
  for (const call of openArguments) {
    const [after, more] = write(next, { ...call, offset: 0 });
    next = after;
    all.push(...more);
  }
  return [next, all];
}

function step(state: State, event: SessionEvent): StepResult<State, Update> {
  if (!isTurnEvent(event)) return [state, NONE];
  switch (event.type) {
    case 'turn.started':
      return [
        { ...IDLE, turn: event.turn },
        [{ body: { turn: event.turn, kind: 'started', input: event.input } }],
      ];
    case 'input.cancelled':
      return [state, [{ body: { turn: event.turn, kind: 'dropped', input: event.input } }]];
    case 'text.delta':
    case 'reasoning.delta':
      return delta(state, event);
    case 'text.ended':
    case 'reasoning.ended':
      return endBlock(state, event);
    case 'call.arguments.delta':
      return write(state, event);
    case 'call.requested': {
      const { writing, events } = endCall(state.writing, event, messageOf(event.turn, state.answers));
      const { call, tool, input } = event;
      const inputs = OTHERWISE.has(tool) ? { ...state.inputs, [call]: { tool, input } } : state.inputs;
      const next = { ...state, writing, inputs, shown: true };
      return [next, bodies(event.turn, events)];
    }
    case 'step.ended': {
      const { turn, usage } = event;
      const next = { ...state, answers: state.answers + 1, texts: 0, shown: false };
      return [next, [{ body: { turn, kind: 'answered', usage } }]];
    }
    case 'step.restarted': {
      const { turn, fallback, fault } = event;
      const [next, updates] = restart(state, turn);
      if (!fallback) return [next, updates];
      const { provider, model } = fallback;
      const value = { provider, model, reason: fault.message };
      return [next, [...updates, ...bodies(turn, [{ type: 'CUSTOM', name: 'model', value }])]];
    }
    case 'turn.resumed':
      return restart(state, event.turn);
    case 'tool.started': {
      const { turn, call, child } = event;
      if (!child) return [state, NONE];
      const path = pathText(child.path);
      // The names of steps that are open are different.
      const name = state.steps.some((open) => open.name === path) ? `${path} (${call})` : path;
      const steps = [...state.steps, { name, call }];
      return [{ ...state, steps }, bodies(turn, [{ type: 'STEP_STARTED', stepName: name }])];
    }
    case 'agent.changed': {
      const { turn, to } = event;
      const before = state.steps.filter(({ call }) => call === null);
      const steps = [...state.steps.filter(({ call }) => call !== null), { name: to.name, call: null }];
      const events: ContentEvent[] = [...stepsEnded(before), { type: 'STEP_STARTED', stepName: to.name }];
      return [{ ...state, steps }, bodies(turn, events)];
    }
    case 'tool.ended': {
      const [next, updates] = endTool(state, event);
      const { [event.call]: called, ...inputs } = state.inputs;
      const steps = state.steps.filter(({ call }) => call === event.call);
      const rest = state.steps.filter(({ call }) => call !== event.call);
      const effects = called && event.outcome === 'ok' ? effectsOf(event, called) : [];
      return [
        { ...next, inputs, steps: rest },
        [...updates, ...effects.map((body) => ({ body })), ...bodies(event.turn, stepsEnded(steps))],
      ];
    }
    case 'turn.ended':
      return end(state, { turn: event.turn, kind: 'ended' });
    case 'turn.failed':
      return end(state, { turn: event.turn, kind: 'failed', fault: event.fault });
    case 'turn.cancelled':
      return end(state, { turn: event.turn, kind: 'cancelled' });
    case 'input.accepted': {
      const { input, key: id = input, parts } = event;
      if (!event.joins) return [state, NONE];
      return [{ ...state, joining: { ...state.joining, [input]: { id, text: textOf(parts) } } }, NONE];
    }
    case 'input.joined': {
      const { [event.input]: message, ...joining } = state.joining;
      if (!message) return [state, NONE];
      const { id: messageId, text: delta } = message;
      const shown: ContentEvent[] = [
        { type: 'TEXT_MESSAGE_START', messageId, role: 'user' },
        ...(delta === '' ? [] : [{ type: 'TEXT_MESSAGE_CONTENT', messageId, delta } as const]),
        { type: 'TEXT_MESSAGE_END', messageId },
      ];
      return [{ ...state, joining }, bodies(event.turn, shown)];
    }
    case 'limit.approached': {
      const { turn, limit } = event;
      const value = { ...limit, text: limitNotice(limit) };
      return [state, bodies(turn, [{ type: 'CUSTOM', name: 'limit.approached', value }])];
    }
    case 'instructions.changed': {
      const { turn, files } = event;
      const text = instructionsText(event);
      if (text === null || !turn) return [state, NONE];
      const value = { files, text };
      return [state, bodies(turn, [{ type: 'CUSTOM', name: 'instructions.changed', value }])];
    }
    case 'question.asked':
    case 'question.repeated': {
      const { turn, id: block } = event;
      return endBlock(state, { type: 'text.ended', turn, block, text: writtenQuestion(event) });
    }
    case 'question.answered':
    case 'files.rewound':
    case 'approval.requested':
    case 'approval.answered':
    case 'approval.explained':
    case 'call.deferred':
    case 'call.delegated':
      return [state, NONE];
    case 'call.progress': {
      const { call: toolCallId, message: text } = event;
      if (state.turn === null || text === undefined) return [state, NONE];
      return [
        state,
        bodies(state.turn, [{ type: 'CUSTOM', name: 'call.progress', value: { toolCallId, text } }]),
      ];
    }
  }
}

function endTool(state: State, event: DurableEvent<'tool.ended'>): StepResult<State, Update> {
  const { call, id, parts } = event;
  const content = resultOf(parts);
  const result: ContentEvent = {
    type: 'TOOL_CALL_RESULT',
    messageId: id,
    toolCallId: call,
    content,
    role: 'tool',
  };
  const answer = finalAnswer(event);
  if (answer === null) return [state, bodies(event.turn, [result])];
  const next = opened(state, { kind: 'text', turn: event.turn, block: id });
  const { message } = next.open;
  const text = [...started('text', message), contentEvent('text', message, answer), ...ended(next.open)];
  return [{ ...next, open: null, shown: state.shown }, bodies(event.turn, [result, ...text])];
}

// What some tools do is shown besides their calls.

const PLAN_TOOL = 'update_plan';
const OTHERWISE: ReadonlySet<string> = new Set([PLAN_TOOL, STATE_TOOL.name]);

function effectsOf(
  { turn, call }: DurableEvent<'tool.ended'>,
  { tool, input }: State['inputs'][string],
): Update[] {
  if (tool === STATE_TOOL.name) {
    const changes = changesOf(input);
    return changes ? [{ turn, kind: 'state', call, changes }] : [];
  }
  const { steps } = input;
  if (!Array.isArray(steps)) return [];
  const about = { messageId: `${turn}-plan`, activityType: 'PLAN' };
  return [
    {
      turn,
      kind: 'event',
      event: { type: 'ACTIVITY_SNAPSHOT', ...about, content: { steps }, replace: true },
    },
  ];
}

const stepsEnded = (steps: State['steps']): ContentEvent[] =>
  steps.map(({ name }) => ({ type: 'STEP_FINISHED', stepName: name }));

const bodies = (turn: TurnId, events: readonly ContentEvent[]): { readonly body: Update }[] =>
  events.map((event) => ({ body: { turn, kind: 'event', event } }));

/** The message with the first text and the calls of an answer; a further text is a separate message. */
const messageOf = (turn: string, answer: number, text = 0): string =>
  text === 0 ? `${turn}-${answer}` : `${turn}-${answer}-${text}`;

type Delta = {
  readonly type: 'text.delta' | 'reasoning.delta';
  readonly turn: TurnId;
  readonly block: string;
  readonly text: string;
};

/** Called for each token: only the first piece of a block changes the state. */
function delta(state: State, { type, turn, block, text }: Delta): StepResult<State, Update> {
  if (text === '') return [state, NONE];
  const { open } = state;
  if (open?.block === block && !open.paused)
    return [state, [{ body: { turn, kind: 'event', event: contentEvent(open.kind, open.message, text) } }]];
  const kind = type === 'text.delta' ? 'text' : 'reasoning';
  const next =
    open?.block === block
      ? { ...state, open: { ...open, paused: false } }
      : opened(state, { kind, turn, block });
  const { message } = next.open;
  return [next, bodies(turn, [...started(kind, message), contentEvent(kind, message, text)])];
}

function opened(
  state: State,
  { kind, turn, block }: Pick<OpenBlock, 'kind' | 'block'> & { readonly turn: string },
): State & { readonly open: OpenBlock } {
  const isText = kind === 'text';
  const message = isText ? messageOf(turn, state.answers, state.texts) : block;
  const texts = isText ? state.texts + 1 : state.texts;
  return { ...state, texts, open: { kind, block, message, paused: false }, shown: true };
}

const contentEvent = (kind: OpenBlock['kind'], messageId: string, text: string): DeltaEvent => ({
  type: kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT',
  messageId,
  delta: text,
});

const started = (kind: OpenBlock['kind'], messageId: string): ContentEvent[] =>
  kind === 'text'
    ? [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }]
    : [
        { type: 'REASONING_START', messageId },
        { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
      ];

function ended(open: OpenBlock | null): ContentEvent[] {
  if (!open || open.paused) return [];
  const { kind, message: messageId } = open;
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}

/** A block that was not streamed is shown whole. */
function endBlock(
  state: State,
  event: Omit<Delta, 'type'> & { readonly type: 'text.ended' | 'reasoning.ended' },
): StepResult<State, Update> {
  const { turn, block, text } = event;
  const type = event.type === 'text.ended' ? 'text.delta' : 'reasoning.delta';
  const wasStreamed = state.open?.block === block;
  const [next, updates] = wasStreamed ? [state, NONE] : delta(state, { type, turn, block, text });
  return [{ ...next, open: null }, [...updates, ...bodies(turn, ended(next.open))]];
}

type Writing = Pick<
  Extract<SessionEvent, { type: 'call.arguments.delta' }>,
  'turn' | 'call' | 'tool' | 'text'
> & {
  readonly offset: number;
};

/** A message ends before a call starts. */
function write(state: State, part: Writing): StepResult<State, Update> {
  const { writing, events } = writeCall(state.writing, part, messageOf(part.turn, state.answers));
  if (events.length === 0) return [state, NONE];
  const open = state.open && { ...state.open, paused: true };
  return [{ ...state, open, writing, shown: true }, bodies(part.turn, [...ended(state.open), ...events])];
}

/** Closes everything that is open. The shown output is discarded, and the next answer has other ids. */
function restart(state: State, turn: TurnId): StepResult<State, Update> {
  const closed = bodies(turn, closing(state));
  const discarded: { readonly body: Update }[] = state.shown ? [{ body: { turn, kind: 'discarded' } }] : [];
  const { steps, inputs } = state;
  return [{ ...IDLE, steps, inputs, turn, answers: state.answers + 1 }, [...closed, ...discarded]];
}

/** Closes everything that is open. */
export const closing = ({ open, writing }: State): ContentEvent[] => [...ended(open), ...endWriting(writing)];

/** A call whose arguments were still being written when the turn ended was not made. */
function end(state: State, last: Update): StepResult<State, Update> {
  const { turn } = last;
  const discarded: { readonly body: Update }[] =
    state.writing.length > 0 ? [{ body: { turn, kind: 'discarded' } }] : [];
  const events = [...closing(state), ...stepsEnded(state.steps)];
  return [IDLE, [...bodies(turn, events), ...discarded, { body: last }]];
}

// Content of messages, and interrupts.

/** A string if there is only text. */
export function contentOf(given: readonly Part[]): string | ContentPart[] {
  const parts = withoutPages(given);
  if (parts.every((part) => part.type === 'text' && !part.link)) return textOf(parts);
  return parts.map((part) => {
    if (part.type === 'text') return part.link ? linkContent(part.link) : { type: 'text', text: part.text };
    const type = part.type === 'image' ? 'image' : 'document';
    return { type, source: { type: 'data', value: part.data, mimeType: part.mime } };
  });
}

const linkContent = ({ kind, url, mime }: Link): ContentPart => ({
  type: kind === 'image' ? 'image' : 'document',
  source: { type: 'url', value: url, ...(mime !== undefined && { mimeType: mime }) },
});

/** Clients show results as text: files are named. */
export function resultOf(parts: readonly Part[]): string {
  return textOf(
    withoutPages(parts).map((part) => (part.type === 'text' ? part : textPart(`[${part.mime}]`))),
  );
}

const RESPONSE_SCHEMA = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the call may run.' },
    always: { type: 'boolean', description: 'Allow calls like this one for the rest of the session.' },
    reason: { type: 'string', description: 'Shown to the model if the call is denied.' },
  },
  required: ['approved'],
} as const;

export const interruptOf = ({
  approval,
  ask,
  call,
}: Pick<PendingApproval, 'approval' | 'ask' | 'call'>): Interrupt => ({
  id: approval,
  reason: 'tool_call',
  message: ask.description,
  toolCallId: call,
  responseSchema: RESPONSE_SCHEMA,
});

/** The answers by id of the item; a client without a form sends the next message instead. */
export const questionInterrupt = (asked: OpenQuestion): Interrupt => ({
  id: asked.question,
  reason: 'input_required',
  message: writtenQuestion(asked),
  ...(asked.call !== undefined && { toolCallId: asked.call }),
  responseSchema: { ...formSchema(asked) },
});

export const encode = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

/** Merges pieces of text and arguments for a slow reader. */
export const pieces: Pieces<AguiEvent> = {
  key: (event) => (isPiece(event) ? `${event.type} ${idOf(event)}` : null),
  text: (event) => (isPiece(event) ? event.delta : ''),
  with: (event, delta) => ({ ...event, delta }) as AguiEvent,
};

type Piece = Extract<AguiEvent, { delta: string }>;

const isPiece = (event: AguiEvent): event is Piece => 'delta' in event && typeof event.delta === 'string';

const idOf = (event: Piece): string => ('toolCallId' in event ? event.toolCallId : event.messageId);
